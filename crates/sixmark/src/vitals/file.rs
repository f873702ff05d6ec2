//! A file of the kernel's that is read again and again.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

/// Kept open: the kernel makes its text anew at each reading from its beginning.
#[derive(Debug)]
pub(super) struct KeptFile {
    file: File,
    text: Vec<u8>,
}

/// The text begins with room for so many bytes.
const ROOM: usize = 16 << 10;

impl KeptFile {
    pub(super) fn open(path: impl AsRef<Path>) -> io::Result<KeptFile> {
        Ok(KeptFile { file: File::open(path)?, text: vec![0; ROOM] })
    }

    /// One that may be missing.
    pub(super) fn maybe(path: impl AsRef<Path>) -> Option<KeptFile> {
        KeptFile::open(path).ok()
    }

    /// What it says now.
    pub(super) fn read(&mut self) -> io::Result<&str> {
        let mut length = 0;
        loop {
            match self.file.read_at(&mut self.text[length..], length as u64)? {
                0 => break,
                read => length += read,
            }
            if length == self.text.len() {
                self.text.resize(2 * length, 0);
            }
        }
        std::str::from_utf8(&self.text[..length]).map_err(io::Error::other)
    }
}

/// What a file that may be missing says now, nothing where it can't be read.
pub(super) fn text_of_file(file: &mut Option<KeptFile>) -> &str {
    file.as_mut().and_then(|file| file.read().ok()).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    #[test]
    fn what_a_file_says_now_is_read_whole() {
        let mut written = tempfile::NamedTempFile::new().unwrap();
        let mut kept = KeptFile::open(written.path()).unwrap();
        assert_eq!(kept.read().unwrap(), "");
        let long = "x".repeat(3 * ROOM + 1);
        written.write_all(long.as_bytes()).unwrap();
        assert_eq!(kept.read().unwrap(), long);
        assert_eq!(text_of_file(&mut KeptFile::maybe("/nowhere")), "");
    }
}
