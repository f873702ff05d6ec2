//! Writing and checking the folder that is filed.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use sixmark_sys::command_error::CommandError;

use crate::filed_folder::{
    CAPTURES, DOCUMENT, SUMS, compute_again, hash_bytes, parse_sums, write_sums,
};
use crate::only6_result::Only6Result;

/// The largest file that is read, in bytes: of a folder that somebody else made nothing is known.
const LARGEST: u64 = 256 << 20;
/// The most files that are listed.
const MOST_FILES: usize = 100_000;

/// A file of the folder.
#[derive(Clone, Debug)]
pub struct FolderFile {
    /// Its path within the folder.
    pub path: String,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// What a check of a folder found.
#[derive(Clone, Debug)]
pub struct CheckedFolder {
    /// The files that were checked.
    pub files: usize,
    /// The SHA-256 of the file of hashes: it stands for all of them.
    pub hash: String,
    /// What is wrong, a line each.
    pub faults: Vec<String>,
}

/// Checks that a folder can be written: it must be absent or empty.
///
/// # Errors
/// Returns an error if it is neither.
pub fn check_new_folder(folder: &Path) -> Result<(), CommandError> {
    let refuse = |why: &str| CommandError::Usage(format!("--output {}: {why}", folder.display()));
    match fs::read_dir(folder) {
        Ok(mut entries) => match entries.next() {
            None => Ok(()),
            Some(_) => Err(refuse("is not empty: name a new folder")),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(refuse(&error.to_string())),
    }
}

/// Writes files into a new folder, and their hashes last. Returns the hash of these.
///
/// # Errors
/// Returns an error if a file can't be written: with what was written, and the file.
pub fn write_folder(folder: &Path, files: &[FolderFile]) -> Result<String, CommandError> {
    let cannot = |path: &Path, error: io::Error| {
        let place = folder.display();
        CommandError::Measure(format!(
            "{} can't be written: {error}; what was written until then is in {place}, without {SUMS}",
            path.display()
        ))
    };
    let captures = folder.join(CAPTURES);
    fs::create_dir_all(&captures).map_err(|error| cannot(&captures, error))?;
    let write = |path: &str, bytes: &[u8]| {
        let path: PathBuf = folder.join(path);
        fs::write(&path, bytes).map_err(|error| cannot(&path, error))
    };
    let mut hashes = Vec::new();
    for file in files {
        write(&file.path, &file.bytes)?;
        hashes.push((file.path.clone(), hash_bytes(&file.bytes)));
    }
    hashes.sort();
    let sums = write_sums(&hashes);
    write(SUMS, sums.as_bytes())?;
    Ok(hash_bytes(sums.as_bytes()))
}

/// Checks each file of a folder against its hash, and computes the document again from its captures.
///
/// # Errors
/// Returns an error if the folder has no hashes, or no document that can be read.
pub fn check_folder(folder: &Path) -> Result<CheckedFolder, CommandError> {
    let wrong = |line: String| CommandError::Usage(format!("{}: {line}", folder.display()));
    let read = |path: &str| read_file(folder, path);
    let sums = read(SUMS)
        .map_err(|why| wrong(format!("{why}; is it a folder of sixmark only6 --output?")))?;
    let text =
        String::from_utf8(sums.clone()).map_err(|_| wrong(format!("{SUMS}: is not text")))?;
    let listed = parse_sums(&text).map_err(wrong)?;
    let mut faults = Vec::new();
    for (path, hash) in &listed {
        match read(path) {
            Ok(bytes) if hash_bytes(&bytes) == *hash => {}
            Ok(_) => faults.push(format!("{path}: its content was changed: the SHA-256 differs")),
            Err(why) => faults.push(why),
        }
    }
    let known: BTreeSet<&str> = listed.iter().map(|of| of.0.as_str()).chain([SUMS]).collect();
    let there = list_files(folder).map_err(|error| wrong(error.to_string()))?;
    let added = there.iter().filter(|of| !known.contains(of.as_str()));
    faults.extend(added.map(|path| format!("{path}: has no hash in {SUMS}: it was added later")));
    faults.extend(check_document(&read));
    Ok(CheckedFolder { files: listed.len(), hash: hash_bytes(&sums), faults })
}

/// Computes the document again. Returns what is wrong with it.
fn check_document(read: &dyn Fn(&str) -> Result<Vec<u8>, String>) -> Vec<String> {
    let again = || {
        let bytes = read(DOCUMENT)?;
        let result: Only6Result = serde_json::from_slice(&bytes)
            .map_err(|error| format!("{DOCUMENT}: can't be read: {error}"))?;
        compute_again(&result, read)
    };
    match again() {
        Ok(places) => places.into_iter().map(|place| format!("{DOCUMENT}: {place}")).collect(),
        Err(why) => vec![why],
    }
}

/// Reads a file of the folder, which must be a file itself: links lead elsewhere.
fn read_file(folder: &Path, path: &str) -> Result<Vec<u8>, String> {
    let read = || {
        let place = folder.join(path);
        if !fs::symlink_metadata(&place)?.is_file() {
            return Err(io::Error::other("is not a file"));
        }
        let mut bytes = Vec::new();
        fs::File::open(place)?.take(LARGEST + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > LARGEST {
            return Err(io::Error::other("is larger than 256 MiB"));
        }
        Ok(bytes)
    };
    read().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => format!("{path}: is missing"),
        _ => format!("{path}: {error}"),
    })
}

/// Returns the paths of all files in the folder and in its folders.
fn list_files(folder: &Path) -> io::Result<Vec<String>> {
    let mut found = Vec::new();
    let mut folders = vec![String::new()];
    while let Some(at) = folders.pop() {
        for entry in fs::read_dir(folder.join(&at))? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = if at.is_empty() { name } else { format!("{at}/{name}") };
            match entry.file_type()?.is_dir() {
                true => folders.push(path),
                false => found.push(path),
            }
            if found.len() + folders.len() > MOST_FILES {
                return Err(io::Error::other("has too many files"));
            }
        }
    }
    found.sort();
    Ok(found)
}
