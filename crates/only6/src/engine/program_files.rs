//! What identifies the programs that were run.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use sha2::{Digest as _, Sha256};

use crate::only6_result::ProgramFile;

use super::AppCommand;

/// The largest file that is hashed, in bytes.
const LARGEST: u64 = 1 << 30;

/// Returns the files of a command: the program, and each argument that is the path of a file, as of a script.
pub fn describe_files(command: &AppCommand) -> Vec<ProgramFile> {
    let arguments = command.words().iter().skip(1).map(Path::new);
    let files = arguments.filter(|of| of.is_absolute() || of.components().count() > 0);
    let files = files.filter(|of| of.is_file());
    std::iter::once(command.program()).chain(files).map(describe_file).collect()
}

fn describe_file(path: &Path) -> ProgramFile {
    let file = path.display().to_string();
    ProgramFile { file, sha256: hash_file(path).ok() }
}

fn hash_file(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?.take(LARGEST + 1);
    let mut hash = Sha256::new();
    if io::copy(&mut file, &mut hash)? > LARGEST {
        return Err(io::Error::other("is too large"));
    }
    Ok(crate::filed_folder::hexadecimal(&hash.finalize()))
}
