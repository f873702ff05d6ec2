//! Text files that a user gives: with or without a byte order mark, in UTF-8 or in UTF-16, and of a
//! bounded size.
//!
//! Every text file that is not sixmark's own and not the kernel's is read here. Files whose bytes are
//! sent unchanged, such as bodies of requests, are not text.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::path::Path;

use crate::unpacked::{PACKING_BYTES, Packing};
use sixmark_units::plain_text::{is_utf16, to_text, to_utf8, without_mark};

/// The largest text, in bytes: more than the document of a day with a thousand blocks, or the HAR file
/// of a long session with the content of all responses.
pub const LARGEST_TEXT: u64 = 1 << 30;

/// Reads the text of a file; `-` is standard input.
///
/// # Errors
/// The file can't be read, is larger than [`LARGEST_TEXT`] or is not text.
pub fn read(path: &Path) -> io::Result<String> {
    if path == Path::new("-") { read_from(io::stdin().lock()) } else { read_file(path) }
}

/// Reads the text of a file, whatever its name.
///
/// # Errors
/// As those of [`read`].
pub fn read_file(path: &Path) -> io::Result<String> {
    read_from(File::open(path)?)
}

/// Reads a text to its end.
///
/// # Errors
/// As those of [`read`].
pub fn read_from(from: impl Read) -> io::Result<String> {
    to_text(bounded(from, LARGEST_TEXT)?).map_err(io::Error::other)
}

/// Reads a file of lines in ASCII with text in any encoding between them, such as PEM: in UTF-8 if it
/// is text at all, and without a byte order mark.
///
/// # Errors
/// The file can't be read or is larger than [`LARGEST_TEXT`].
pub fn read_bytes(path: &Path) -> io::Result<Vec<u8>> {
    bounded(File::open(path)?, LARGEST_TEXT).map(|bytes| to_utf8(&bytes).into_owned())
}

/// Reads at most `most` bytes to the end.
///
/// # Errors
/// Returns the error of read(2), or that there are more bytes.
pub fn bounded(from: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        Err(io::Error::other(format!("it is larger than {} MiB", most >> 20)))
    } else {
        Ok(bytes)
    }
}

/// Returns a reader of a text that may be larger than memory. Its buffer holds the first `ahead`
/// bytes, or all if there are fewer, so that the beginning can be looked at before it is read.
/// UTF-16 is converted at once, and bounded by [`LARGEST_TEXT`].
///
/// # Errors
/// The beginning can't be read.
pub fn reader<'a>(
    mut from: impl Read + 'a,
    ahead: usize,
) -> io::Result<BufReader<Box<dyn Read + 'a>>> {
    let mut begin = Vec::new();
    from.by_ref().take(ahead as u64).read_to_end(&mut begin)?;
    let text = if is_utf16(&begin) {
        let whole = bounded(Cursor::new(begin).chain(from.by_ref()), LARGEST_TEXT)?;
        to_utf8(&whole).into_owned()
    } else {
        without_mark(&begin).to_owned()
    };
    Ok(BufReader::with_capacity(ahead.max(1), Box::new(Cursor::new(text).chain(from))))
}

/// Returns the same as [`reader`] for a text that gzip or Zstandard may have compressed.
///
/// # Errors
/// The beginning can't be read or decompressed.
pub fn unpacking_reader<'a>(
    mut from: impl Read + Send + 'a,
    ahead: usize,
) -> io::Result<BufReader<Box<dyn Read + 'a>>> {
    let mut begin = Vec::new();
    from.by_ref().take(PACKING_BYTES as u64).read_to_end(&mut begin)?;
    let packing = Packing::of(&begin);
    let whole = Cursor::new(begin).chain(from);
    match packing {
        Some(packing) => reader(packing.unpack(BufReader::new(whole)), ahead),
        None => reader(whole, ahead),
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufRead as _;

    use super::*;

    #[test]
    fn reads_a_file_without_its_byte_order_mark() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("-");
        std::fs::write(&path, "\u{feff}a\r\n").unwrap();
        assert_eq!(read(&path).unwrap(), "a\r\n");
        assert_eq!(read_bytes(&path).unwrap(), b"a\r\n");
        std::fs::write(&path, b"a\xe4\n").unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("not UTF-8 text (line 1)"));
        assert_eq!(read_bytes(&path).unwrap(), b"a\xe4\n");
    }

    #[test]
    fn rejects_a_text_above_the_size_limit() {
        let error = bounded(io::repeat(b'a'), 1 << 20).unwrap_err();
        assert_eq!(error.to_string(), "it is larger than 1 MiB");
        assert_eq!(bounded(&b"abc"[..], 3).unwrap(), b"abc");
    }

    #[test]
    fn a_reader_that_looks_ahead_loses_no_text() {
        let text = "first\nsecond\nthird\n";
        let wide: Vec<u8> = "\u{feff}"
            .encode_utf16()
            .chain(text.encode_utf16())
            .flat_map(u16::to_le_bytes)
            .collect();
        for bytes in [text.as_bytes().to_vec(), format!("\u{feff}{text}").into_bytes(), wide] {
            for ahead in [3, 8, 100] {
                let mut from = reader(&bytes[..], ahead).unwrap();
                let seen = from.fill_buf().unwrap();
                assert!(text.as_bytes().starts_with(seen), "{ahead}: {seen:?}");
                let mut all = String::new();
                from.read_to_string(&mut all).unwrap();
                assert_eq!(all, text, "{ahead}");
            }
        }
    }
}
