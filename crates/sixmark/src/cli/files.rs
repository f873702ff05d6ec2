//! The files of a command: those that it writes, those that it reads, and its store.
//!
//! No file to be written may be the same as another of these files, since writing it would destroy
//! the other. This is checked before any file is opened for writing.

use std::path::{Path, PathBuf};

use super::keep::StoreArgs;
use super::out::OutputPlace;
use sixmark_sys::command_error::CommandError;
use sixmark_sys::output;

/// What SQLite appends to the name of a database for its auxiliary files.
const BESIDE_STORE: [&str; 3] = ["-wal", "-shm", "-journal"];

/// The files that a command names.
#[derive(Debug, Default)]
pub(super) struct CommandFiles {
    written: Vec<WrittenFile>,
    needed: Vec<NeededFile>,
}

/// A file to be written.
#[derive(Debug)]
struct WrittenFile {
    option: &'static str,
    place: OutputPlace,
    /// True if the file is replaced at the end; false if it is written from the start on.
    is_document: bool,
}

/// A file that must not be overwritten, and why.
#[derive(Debug)]
struct NeededFile {
    path: PathBuf,
    why: String,
}

impl CommandFiles {
    /// Adds a document, which replaces its file at the end.
    pub(super) fn document(self, option: &'static str, place: Option<&OutputPlace>) -> Self {
        self.written(option, place.cloned(), true)
    }

    /// Adds a file that is opened at the start and written from then on.
    pub(super) fn lines(self, option: &'static str, place: Option<OutputPlace>) -> Self {
        self.written(option, place, false)
    }

    /// Adds a file that is read; `-` is standard input.
    pub(super) fn input(self, option: &str, path: Option<&Path>) -> Self {
        self.needed(path, &format!("{option} reads it"))
    }

    /// Adds files that are read, each with its option.
    pub(super) fn inputs(self, files: Vec<(&str, PathBuf)>) -> Self {
        files.into_iter().fold(self, |all, (option, path)| all.input(option, Some(&path)))
    }

    /// Adds the store and the auxiliary files of SQLite.
    pub(super) fn store(self, args: &StoreArgs) -> Self {
        let Some(path) = args.file() else { return self };
        // SQLite derives their names from the file that a symbolic link leads to.
        let real = path.canonicalize().unwrap_or_else(|_| path.clone());
        let beside = BESIDE_STORE.map(|end| {
            let mut name = real.clone().into_os_string();
            name.push(end);
            PathBuf::from(name)
        });
        let all = self.needed(Some(&path), "it is the store");
        beside.iter().fold(all, |all, path| all.needed(Some(path), "it is a part of the store"))
    }

    /// Adds a file that must not be written, and why.
    pub(super) fn needed(mut self, path: Option<&Path>, why: &str) -> Self {
        let at =
            |path: &Path| if path == Path::new("-") { "/dev/stdin".into() } else { path.into() };
        let why = why.to_owned();
        self.needed.extend(path.map(|path| NeededFile { path: at(path), why }));
        self
    }

    fn written(
        mut self,
        option: &'static str,
        place: Option<OutputPlace>,
        is_document: bool,
    ) -> Self {
        self.written.extend(place.map(|place| WrittenFile { option, place, is_document }));
        self
    }

    /// Checks that no file to be written is the same as another file, and that documents can be
    /// written.
    ///
    /// # Errors
    /// The first file that is the same as another one or can't be written. The message is one line.
    pub(super) fn check(&self) -> Result<(), CommandError> {
        for (at, file) in self.written.iter().enumerate() {
            if self.written[..at].iter().any(|other| other.place.is_same(&file.place)) {
                return Err(two_in_one(&file.place));
            }
            if let Some(needed) = self.needed.iter().find(|needed| file.would_destroy(needed)) {
                return Err(CommandError::Usage(format!(
                    "{} can't be written to '{}': {}; name another file",
                    file.option,
                    file.place.name(),
                    needed.why
                )));
            }
        }
        self.written.iter().try_for_each(|file| {
            if file.is_document { file.place.check() } else { file.place.check_name() }
        })
    }
}

impl WrittenFile {
    fn would_destroy(&self, needed: &NeededFile) -> bool {
        output::is_same_file(self.place.path(), &needed.path)
    }
}

fn two_in_one(place: &OutputPlace) -> CommandError {
    CommandError::Usage(match place {
        OutputPlace::Standard => {
            "two documents can't both go to standard output (-); give one of them a file".into()
        }
        OutputPlace::File(path) => {
            let path = path.display();
            format!("two documents can't both be written to '{path}'; name another file")
        }
    })
}
