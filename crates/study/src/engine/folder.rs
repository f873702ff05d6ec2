//! The folder that a study is kept in.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sixmark_design::study_result::{CellResult, StudyResult};
use sixmark_result::result::RunResult;

use sixmark_sys::command_error::CommandError;
use sixmark_sys::output;
use sixmark_sys::text_file;

const DOCUMENT: &str = "study.json";
const CELLS: &str = "cells";
const LOGS: &str = "logs";
/// The folder for copies of imported files.
const IMPORTS: &str = "imports";
/// The folder for the documents of the instruments beside cells.
pub(super) const INSTRUMENTS: &str = "instruments";
const LOCK: &str = "lock";
/// The files that a study writes into its folder before its document, besides the folders of cells
/// and logs.
const FIRST_FILES: [&str; 4] = [LOCK, "study.toml", "published.toml", "lab.toml"];

/// A study's folder, locked against other processes.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    _lock: File,
}

/// A cell with everything that is known about it: `cells/ID.json`.
#[derive(Debug, Serialize)]
pub(super) struct KeptCell {
    /// The cell as in the study's document.
    pub(super) cell: CellResult,
    /// The document of its run, if sixmark generated the load.
    pub(super) result: Option<RunResult>,
    /// The output of another client; of one that loads from several hosts, that in the first.
    pub(super) output: Option<FolderOutput>,
    /// The output of the client in the other hosts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) other_outputs: Vec<FolderOutput>,
}

/// The output of a program, and how it ended.
#[derive(Debug, Serialize)]
pub(super) struct FolderOutput {
    pub(super) stdout: String,
    pub(super) stderr: String,
    pub(super) status: String,
}

/// The part of a kept cell that is read again.
#[derive(Deserialize)]
struct Again {
    cell: CellResult,
}

impl Folder {
    /// Creates a new folder.
    pub(super) fn create(path: &Path) -> Result<Folder, CommandError> {
        let cannot = |error| folder_error("make the folder", path, &error);
        output::make_folder(&path.join(CELLS)).map_err(cannot)?;
        output::make_folder(&path.join(LOGS)).map_err(cannot)?;
        Folder::locked(path)
    }

    /// Reports whether the folder contains something with which a new study would be mixed up. A
    /// study that ended before its first cell does not count.
    pub(super) fn is_taken(path: &Path) -> bool {
        let has_none = |name: &str| is_empty(&path.join(name)) || !path.join(name).exists();
        let is_unused = is_empty(&path.join(CELLS)) && has_none(IMPORTS);
        if path.join(DOCUMENT).is_file() && is_unused || is_hardly_begun(path) {
            return false;
        }
        match fs::read_dir(path) {
            Ok(mut entries) => entries.next().is_some(),
            Err(_) => path.exists(),
        }
    }

    /// Opens an existing folder.
    pub(super) fn open(path: &Path) -> Result<Folder, CommandError> {
        check_begun(path)?;
        Folder::create(path)
    }

    fn locked(path: &Path) -> Result<Folder, CommandError> {
        let cannot = |error| folder_error("lock", path, &error);
        let lock = File::create(path.join(LOCK)).map_err(cannot)?;
        match lock.try_lock() {
            Ok(()) => Ok(Folder { path: path.to_owned(), _lock: lock }),
            Err(TryLockError::WouldBlock) => Err(CommandError::Usage(format!(
                "another sixmark is using '{}'; wait until it ends, or choose another --out",
                path.display()
            ))),
            Err(TryLockError::Error(error)) => Err(cannot(error)),
        }
    }

    /// Returns its path.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the folder for the output of services.
    pub(super) fn logs(&self) -> PathBuf {
        self.path.join(LOGS)
    }

    /// Makes the folder for the documents of instruments.
    pub(super) fn make_instruments(&self) -> Result<(), CommandError> {
        let folder = self.path.join(INSTRUMENTS);
        output::make_folder(&folder)
            .map_err(|error| folder_error("make the folder", &folder, &error))
    }

    /// Reads the document.
    pub(super) fn document(&self) -> Result<StudyResult, CommandError> {
        read_json(&self.path.join(DOCUMENT))
    }

    /// Writes the document, completely or not at all.
    pub(super) fn write_document(&self, document: &StudyResult) -> Result<(), CommandError> {
        self.write(DOCUMENT, &encode_json(document)?)
    }

    /// Writes a cell's file, completely or not at all.
    pub(super) fn keep(&self, kept: &KeptCell) -> Result<(), CommandError> {
        self.write(&format!("{CELLS}/{}.json", kept.cell.id), &encode_json(kept)?)
    }

    /// Returns the kept cells, in the order in which they were measured.
    pub(super) fn cells(&self) -> Result<Vec<CellResult>, CommandError> {
        let folder = self.path.join(CELLS);
        let entries =
            fs::read_dir(&folder).map_err(|error| folder_error("read", &folder, &error))?;
        let files = entries.filter_map(|entry| Some(entry.ok()?.path()));
        // A draft is an incomplete file that a killed process left.
        let whole = files.filter(|file| file.extension().is_some_and(|ending| ending == "json"));
        let cells = whole.map(|file| read_json(&file).map(|Again { cell }| cell));
        let mut cells = cells.collect::<Result<Vec<_>, _>>()?;
        cells.sort_by(|a, b| (&a.started, &a.id).cmp(&(&b.started, &b.id)));
        Ok(cells)
    }

    /// Copies an imported file into the folder. Returns the name of the copy there.
    pub(super) fn keep_import(&self, name: &str, bytes: &[u8]) -> Result<String, CommandError> {
        let folder = self.path.join(IMPORTS);
        output::make_folder(&folder)
            .map_err(|error| folder_error("make the folder", &folder, &error))?;
        let copy = format!("{IMPORTS}/{name}");
        self.write_bytes(&copy, bytes)?;
        Ok(copy)
    }

    /// Writes a file of the folder through a draft, and waits until it is on the disk.
    pub(super) fn write(&self, name: &str, text: &str) -> Result<(), CommandError> {
        self.write_bytes(name, text.as_bytes())
    }

    fn write_bytes(&self, name: &str, bytes: &[u8]) -> Result<(), CommandError> {
        let file = self.path.join(name);
        let draft = file.with_extension("draft");
        let written = write_whole(&draft, bytes)
            .and_then(|()| fs::rename(&draft, &file))
            .and_then(|()| file.parent().map_or(Ok(()), |parent| File::open(parent)?.sync_all()));
        written.map_err(|error| folder_error("write", &file, &error))
    }
}

/// Checks that a folder contains a study that can be resumed.
///
/// # Errors
/// Returns a one-line error if it does not. For a study that was killed before it had written its
/// document, the error says how to begin it again.
pub fn check_begun(path: &Path) -> Result<(), CommandError> {
    if path.join(DOCUMENT).is_file() {
        return Ok(());
    }
    let shown = path.display();
    let how = if is_hardly_begun(path) {
        format!("; it was killed before its first cell: start it again with --out {shown}")
    } else {
        String::new()
    };
    Err(CommandError::Usage(format!("'{shown}' has no {DOCUMENT}: no study to resume{how}")))
}

/// Returns the files from which a folder's study is resumed: its own, its cells, and what was
/// imported.
pub fn files_of_folder(path: &Path) -> Vec<PathBuf> {
    let own = FIRST_FILES.into_iter().chain([DOCUMENT]).map(|name| path.join(name));
    let files = |name: &str| fs::read_dir(path.join(name)).into_iter().flatten();
    let kept = files(CELLS).chain(files(IMPORTS));
    own.chain(kept.filter_map(|file| Some(file.ok()?.path()))).collect()
}

fn is_empty(path: &Path) -> bool {
    fs::read_dir(path).is_ok_and(|mut all| all.next().is_none())
}

/// Reports whether the folder is that of a study that was killed before it had written its
/// document. It then contains only what is written before that.
fn is_hardly_begun(path: &Path) -> bool {
    let is_first = |name: &str| {
        let of_draft = |file: &&str| file.strip_suffix(".toml") == name.strip_suffix(".draft");
        FIRST_FILES.contains(&name)
            || name == "study.draft"
            || (name.ends_with(".draft") && FIRST_FILES.iter().any(of_draft))
            || ([CELLS, LOGS].contains(&name) && is_empty(&path.join(name)))
    };
    let Ok(entries) = fs::read_dir(path) else { return false };
    let mut names = entries.map(|entry| entry.map(|entry| entry.file_name()));
    // The folder of cells is the first that is created. Without it, these are the user's own files.
    path.join(CELLS).is_dir()
        && names.all(|name| name.is_ok_and(|name| name.to_str().is_some_and(is_first)))
}

fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = output::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

fn encode_json<T: Serialize>(value: &T) -> Result<String, CommandError> {
    let text = serde_json::to_string_pretty(value);
    text.map(|text| text + "\n")
        .map_err(|e| CommandError::Measure(format!("can't encode the study: {e}")))
}

fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, CommandError> {
    let text = text_file::read_file(path).map_err(|error| folder_error("read", path, &error))?;
    serde_json::from_str(&text).map_err(|error| {
        CommandError::Usage(format!("'{}' can't be read: {error}; was it changed?", path.display()))
    })
}

fn folder_error(what: &str, path: &Path, error: &io::Error) -> CommandError {
    CommandError::Measure(format!("can't {what} '{}': {error}", path.display()))
}
