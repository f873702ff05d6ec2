//! Writing and checking the folder that is filed.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use sixmark_sys::command_error::CommandError;

use crate::filed_folder::{DOCUMENT, SUMS, compute_again, hash_bytes, parse_sums, write_sums};
use crate::only6_result::Only6Result;

/// The largest file that is read, in bytes: of a folder that somebody else made nothing is known.
const LARGEST: u64 = 64 << 20;
/// The most bytes that are read of all files, each of them twice, so that a check ends.
const MOST_BYTES: u64 = 16 << 30;
/// The most faults that are listed.
const MOST_FAULTS: usize = 100;
/// The most files that are listed.
const MOST_FILES: usize = 100_000;

/// What a check of a folder found.
#[derive(Clone, Debug)]
pub struct CheckedFolder {
    /// The paths of the files that were checked.
    pub files: Vec<String>,
    /// The SHA-256 of the file of hashes: it stands for all of them.
    pub hash: String,
    /// What is wrong, a line each: the first 100.
    pub faults: Vec<String>,
    /// How much is wrong.
    pub count: usize,
}

impl CheckedFolder {
    /// Adds what is wrong, unless as much is listed already as anyone reads.
    pub fn add_faults(&mut self, more: impl IntoIterator<Item = String>) {
        for fault in more {
            self.count += 1;
            if self.faults.len() < MOST_FAULTS {
                self.faults.push(fault);
            }
        }
    }
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

/// Writes the folder that is filed: a file at a time, and the hashes of all of them last.
#[derive(Debug)]
pub struct FolderWriter {
    folder: PathBuf,
    hashes: Vec<(String, String)>,
    has_failed: bool,
}

impl FolderWriter {
    /// Creates a writer. The folder is made with its first file.
    pub fn new(folder: PathBuf) -> FolderWriter {
        FolderWriter { folder, hashes: Vec::new(), has_failed: false }
    }

    /// Returns the folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Writes a file at a path within the folder.
    ///
    /// # Errors
    /// Returns an error if it can't be written: with the file and with what becomes of the others.
    pub fn write(&mut self, path: &str, bytes: &[u8]) -> Result<(), CommandError> {
        let place = self.folder.join(path);
        let made = place.parent().map_or(Ok(()), fs::create_dir_all);
        made.and_then(|()| fs::write(&place, bytes)).map_err(|error| {
            self.has_failed = true;
            CommandError::Measure(format!(
                "{} can't be written: {error}; what was written until then stays there, without {SUMS}",
                place.display()
            ))
        })?;
        self.hashes.push((path.to_owned(), hash_bytes(bytes)));
        Ok(())
    }

    /// Writes the hashes. Returns how many files have one, and the hash of the hashes; `None` if a file could not be
    /// written: a folder that is not whole has no hashes.
    ///
    /// # Errors
    /// Returns an error if they can't be written.
    pub fn finish(mut self) -> Result<Option<(usize, String)>, CommandError> {
        if self.has_failed {
            return Ok(None);
        }
        let mut hashes = std::mem::take(&mut self.hashes);
        hashes.sort();
        let sums = write_sums(&hashes);
        self.write(SUMS, sums.as_bytes())?;
        Ok(Some((hashes.len(), hash_bytes(sums.as_bytes()))))
    }
}

/// Checks each file of a folder against its hash, and computes the document again from its captures.
///
/// # Errors
/// Returns an error if the folder has no hashes, or no document that can be read.
pub fn check_folder(folder: &Path) -> Result<CheckedFolder, CommandError> {
    let wrong = |line: String| CommandError::Usage(format!("{}: {line}", folder.display()));
    let sums = read_file(folder, SUMS)
        .map_err(|why| wrong(format!("{why}; is it a folder of sixmark only6 --output?")))?;
    let there = list_files(folder).map_err(|error| wrong(error.to_string()))?;
    let there: BTreeSet<String> = there.into_iter().collect();
    let read_bytes = Cell::new(0);
    let read = |path: &str| {
        // A link among the folders of a path leads elsewhere, and is not followed by the list.
        if !there.contains(path) {
            return Err(format!("{path}: is missing"));
        }
        let bytes = read_file(folder, path)?;
        read_bytes.set(read_bytes.get() + bytes.len() as u64);
        let is_within = read_bytes.get() <= MOST_BYTES;
        if is_within { Ok(bytes) } else { Err(format!("{path}: the folder is too large to check")) }
    };
    let text =
        String::from_utf8(sums.clone()).map_err(|_| wrong(format!("{SUMS}: is not text")))?;
    let listed = parse_sums(&text).map_err(wrong)?;
    let files = listed.iter().map(|of| of.0.clone()).collect();
    let (faults, hash) = (Vec::new(), hash_bytes(&sums));
    let mut checked = CheckedFolder { files, hash, faults, count: 0 };
    checked.add_faults(check_document(&read));
    for (path, hash) in &listed {
        match read(path) {
            Ok(bytes) if hash_bytes(&bytes) == *hash => {}
            Ok(_) => {
                checked
                    .add_faults([format!("{path}: its content was changed: the SHA-256 differs")]);
            }
            Err(why) => checked.add_faults([why]),
        }
        if read_bytes.get() > MOST_BYTES {
            return Ok(checked);
        }
    }
    let known: BTreeSet<&str> = listed.iter().map(|of| of.0.as_str()).chain([SUMS]).collect();
    let added = there.iter().filter(|of| !known.contains(of.as_str()));
    checked
        .add_faults(added.map(|path| format!("{path}: has no hash in {SUMS}: it was added later")));
    Ok(checked)
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

/// Reads a file of a folder, which must be a file itself: links lead elsewhere.
///
/// # Errors
/// Returns an error, with the path, if there is none, or if it is larger than 64 MiB.
pub fn read_file(folder: &Path, path: &str) -> Result<Vec<u8>, String> {
    let read = || {
        let place = folder.join(path);
        let metadata = fs::symlink_metadata(&place)?;
        if !metadata.is_file() {
            return Err(io::Error::other("is not a file"));
        }
        if metadata.len() > LARGEST {
            return Err(io::Error::other("is larger than 64 MiB"));
        }
        let mut bytes = Vec::new();
        fs::File::open(place)?.take(LARGEST + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > LARGEST {
            return Err(io::Error::other("is larger than 64 MiB"));
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
