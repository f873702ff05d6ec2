//! Generated files for services to serve.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::Path;

use crate::plan::generated::{Generated, bytes};
use sixmark_units::random::Random;

use sixmark_sys::command_error::CommandError;

/// Creates the files of a lab. An existing file is kept: it belongs to the study or to the user.
pub(crate) fn of_lab(files: &[Generated], www: &Path) -> Result<(), CommandError> {
    for file in files.iter().filter(|file| !www.join(&file.path).exists()) {
        let size = bytes(&file.size)
            .map_err(|why| CommandError::Usage(format!("files: '{}': size {why}", file.path)))?;
        make(www, &file.path, size, file.random)?;
    }
    Ok(())
}

/// Creates a file of this size in a folder, together with its parent folders.
pub fn make(www: &Path, name: &str, size: u64, random: bool) -> Result<(), CommandError> {
    let path = www.join(name);
    let folder = path.parent().unwrap_or(&path).to_owned();
    let made = fs::create_dir_all(folder).and_then(|()| fill_file(&path, size, random));
    made.map_err(|error| {
        CommandError::Measure(format!("can't create '{name}' with {size} B: {error}"))
    })
}

/// Without random content, the file is sparse and takes no disk space, whatever its size.
fn fill_file(path: &Path, size: u64, random: bool) -> io::Result<()> {
    let file = File::create(path)?;
    if !random {
        return file.set_len(size);
    }
    let (mut out, mut left, mut bits) = (BufWriter::new(file), size, Random::new(size, 0));
    while left > 0 {
        let word = bits.bits().to_le_bytes();
        let take = left.min(8) as usize;
        out.write_all(&word[..take])?;
        left -= take as u64;
    }
    out.flush()
}
