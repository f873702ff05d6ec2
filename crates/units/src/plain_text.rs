//! The bytes of a text file that any system may have written, in UTF-8 and without a byte order
//! mark.
//!
//! Editors and spreadsheets put a mark before UTF-8, and PowerShell writes UTF-16 with one. The mark
//! is not part of the text (RFC 3629, 6). Line breaks are left as they are: every parser accepts
//! CRLF.

use std::borrow::Cow;

/// The byte order mark in UTF-8.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// Returns the bytes without the UTF-8 byte order mark that they may begin with.
pub fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(MARK).unwrap_or(bytes)
}

/// Returns true if the bytes begin with a byte order mark of UTF-16.
pub fn is_utf16(bytes: &[u8]) -> bool {
    matches!(bytes, [0xff, 0xfe, ..] | [0xfe, 0xff, ..])
}

/// Returns the bytes of a text in UTF-8 and without a byte order mark. UTF-16 is recognised by its
/// mark; invalid units of it are replaced (U+FFFD). Bytes that are in neither encoding are returned
/// unchanged.
pub fn to_utf8(bytes: &[u8]) -> Cow<'_, [u8]> {
    let wide = |unit: fn([u8; 2]) -> u16| {
        let pairs = bytes.get(2..).unwrap_or_default().chunks_exact(2);
        let units: Vec<u16> = pairs.map(|pair| unit([pair[0], pair[1]])).collect();
        Cow::Owned(String::from_utf16_lossy(&units).into_bytes())
    };
    match bytes {
        [0xff, 0xfe, ..] => wide(u16::from_le_bytes),
        [0xfe, 0xff, ..] => wide(u16::from_be_bytes),
        _ => without_mark(bytes).into(),
    }
}

/// Returns the text of a file.
///
/// # Errors
/// The bytes are not UTF-8, nor UTF-16 with a byte order mark; the message names the line.
pub fn to_text(bytes: Vec<u8>) -> Result<String, String> {
    let bytes = match to_utf8(&bytes) {
        Cow::Owned(text) => text,
        Cow::Borrowed(text) if text.len() == bytes.len() => bytes,
        Cow::Borrowed(text) => text.to_owned(),
    };
    String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
        format!("it is not UTF-8 text (line {line})")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A text in UTF-16 with its mark.
    fn wide(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        ['\u{feff}'.encode_utf16(&mut [0; 2])[0]]
            .into_iter()
            .chain(text.encode_utf16())
            .flat_map(bytes)
            .collect()
    }

    #[test]
    fn decodes_utf_8_and_utf_16_to_the_same_text() {
        let text = "a\r\n\u{e4}\u{1f600}";
        for bytes in [
            text.as_bytes().to_vec(),
            [MARK, text.as_bytes()].concat(),
            wide(text, u16::to_le_bytes),
            wide(text, u16::to_be_bytes),
        ] {
            assert_eq!(to_utf8(&bytes), text.as_bytes(), "{bytes:?}");
            assert_eq!(to_text(bytes), Ok(text.to_owned()));
        }
        // Only the first mark is one.
        assert_eq!(to_utf8(b"\xef\xbb\xbf\xef\xbb\xbf"), MARK);
        assert!(is_utf16(b"\xff\xfe") && is_utf16(b"\xfe\xffx") && !is_utf16(MARK));
    }

    #[test]
    fn keeps_other_bytes_unchanged_and_rejects_them_as_text() {
        for bytes in [&b"\xff"[..], b"", b"\xef\xbb", b"a\nb\xe4\n"] {
            assert_eq!(to_utf8(bytes), bytes);
        }
        let wrong = to_text(b"\xef\xbb\xbfa\nb\xe4\n".to_vec()).unwrap_err();
        assert_eq!(wrong, "it is not UTF-8 text (line 2)");
        assert_eq!(to_text(b"\xff\xfe\x00\xd8a".to_vec()), Ok("\u{fffd}".to_owned()));
    }
}
