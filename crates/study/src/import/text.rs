//! The text of files from other systems.

/// The most characters of a line that is quoted.
const LONGEST_LINE: usize = 300;

/// Returns the text of a file. PowerShell writes UTF-16 with a byte order mark; what is not UTF-8
/// otherwise, such as quotes in a code page, is replaced.
pub(super) fn decode(bytes: &[u8]) -> String {
    let wide = |read: fn([u8; 2]) -> u16| {
        let units: Vec<u16> =
            bytes[2..].chunks_exact(2).map(|pair| read([pair[0], pair[1]])).collect();
        String::from_utf16_lossy(&units)
    };
    match bytes {
        [0xff, 0xfe, ..] => wide(u16::from_le_bytes),
        [0xfe, 0xff, ..] => wide(u16::from_be_bytes),
        _ => {
            let text = String::from_utf8_lossy(bytes);
            text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned()
        }
    }
}

/// Returns a text as one short line without control characters.
pub(super) fn one_line(text: &str) -> String {
    let shown = text.trim().chars().map(|c| if c.is_control() { '\u{fffd}' } else { c });
    let mut line: String = shown.clone().take(LONGEST_LINE).collect();
    if shown.count() > LONGEST_LINE {
        line.push('…');
    }
    line
}
