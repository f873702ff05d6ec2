//! A file of procfs or sysfs that is read repeatedly.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

/// A file that stays open. The kernel generates its text anew whenever it is read from the
/// beginning.
#[derive(Debug)]
pub(super) struct KeptFile {
    file: File,
    text: Vec<u8>,
}

/// The initial size of the buffer, bytes.
const ROOM: usize = 16 << 10;

impl KeptFile {
    pub(super) fn open(path: impl AsRef<Path>) -> io::Result<KeptFile> {
        Ok(KeptFile { file: File::open(path)?, text: vec![0; ROOM] })
    }

    /// Opens a file that may be missing.
    pub(super) fn maybe(path: impl AsRef<Path>) -> Option<KeptFile> {
        KeptFile::open(path).ok()
    }

    /// Reads its current text.
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

/// Returns the current text of a file that may be missing, or an empty text if it can't be read.
pub(super) fn text_of_file(file: &mut Option<KeptFile>) -> &str {
    file.as_mut().and_then(|file| file.read().ok()).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    #[test]
    fn reads_the_whole_current_content_of_a_file() {
        let mut written = tempfile::NamedTempFile::new().unwrap();
        let mut kept = KeptFile::open(written.path()).unwrap();
        assert_eq!(kept.read().unwrap(), "");
        let long = "x".repeat(3 * ROOM + 1);
        written.write_all(long.as_bytes()).unwrap();
        assert_eq!(kept.read().unwrap(), long);
        assert_eq!(text_of_file(&mut KeptFile::maybe("/nowhere")), "");
    }
}
