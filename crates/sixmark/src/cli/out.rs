//! The two streams and the files that results go to.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::Serialize;
use sixmark_core::result::Warning;

use crate::Error;

/// A line to people, on standard error.
pub(super) fn complain(line: &str) {
    // If standard error is gone there is no one to tell.
    let _ = writeln!(io::stderr().lock(), "sixmark: {line}");
}

/// Doubts to people.
pub(super) fn warn<'a>(warnings: impl IntoIterator<Item = &'a Warning>) {
    for Warning { code, message } in warnings {
        complain(&format!("warning: {message} [{code}]"));
    }
}

/// A document as it is written.
pub(super) fn encoded(document: &impl Serialize) -> Result<String, Error> {
    let text = serde_json::to_string_pretty(document);
    text.map(|text| text + "\n")
        .map_err(|error| Error::Measure(format!("can't encode the document: {error}")))
}

/// Text to standard output. A reader that went away (`| head`) is no error.
pub(super) fn print(text: &str) -> Result<(), Error> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Error::Measure(format!("can't write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// The last of what went wrong; the others are told.
pub(super) fn all<const N: usize>(done: [Result<(), Error>; N]) -> Result<(), Error> {
    let mut failed: Vec<Error> = done.into_iter().filter_map(Result::err).collect();
    let last = failed.pop();
    failed.iter().for_each(|error| complain(&error.to_string()));
    last.map_or(Ok(()), Err)
}

/// Where a document goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// `-`.
    Standard,
    /// A file, which is replaced whole or not at all.
    File(PathBuf),
}

impl std::str::FromStr for Place {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Place, Self::Err> {
        Ok(if text == "-" { Place::Standard } else { Place::File(text.into()) })
    }
}

/// Checks the places of several documents: standard output can take one of them.
pub(super) fn check<const N: usize>(places: [&Option<Place>; N]) -> Result<(), Error> {
    let given = || places.into_iter().flatten();
    if given().filter(|place| **place == Place::Standard).count() > 1 {
        let line = "two documents can't both have standard output (-); give one of them a file";
        return Err(Error::Usage(line.into()));
    }
    given().try_for_each(Place::check)
}

impl Place {
    /// Fails now rather than after the run where the file can't be written.
    pub(super) fn check(&self) -> Result<(), Error> {
        let Place::File(path) = self else { return Ok(()) };
        if path.is_dir() {
            return Err(Error::Usage(format!("'{}' is a folder; name a file", path.display())));
        }
        if is_stream(path) {
            // Opening it twice would show its reader an end before the document.
            return Ok(());
        }
        let draft = draft_of(path);
        let cannot = |error| Error::Usage(format!("can't write '{}': {error}", path.display()));
        File::create(&draft).map_err(cannot)?;
        // A draft left behind is replaced by the next one.
        let _ = std::fs::remove_file(&draft);
        Ok(())
    }

    /// Writes `text`; where that fails, keeps it elsewhere and says where.
    pub(super) fn write(&self, text: &str) -> Result<(), Error> {
        match self {
            Place::Standard => print(text),
            Place::File(path) => replace(path, text).map_err(|error| rescue(path, text, &error)),
        }
    }
}

/// True for a device or a pipe, which is written to, not replaced.
fn is_stream(path: &Path) -> bool {
    path.exists() && !path.is_file()
}

fn draft_of(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.draft", std::process::id()));
    path.with_file_name(name)
}

/// Writes a draft beside the file and renames it, so that no reader sees half a document.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    if is_stream(path) {
        return std::fs::write(path, text);
    }
    let draft = draft_of(path);
    let written = write_whole(&draft, text).and_then(|()| std::fs::rename(&draft, path));
    if written.is_err() {
        let _ = std::fs::remove_file(&draft);
    }
    written
}

fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// Keeps what was measured in the folder for temporary files.
fn rescue(path: &Path, text: &str, error: &io::Error) -> Error {
    let kept = keep_aside(path, text);
    Error::Measure(format!("can't write '{}': {error}; {kept}", path.display()))
}

/// Writes a document that found no room under its name to the folder for temporary files, and says
/// what became of it.
pub(super) fn keep_aside(path: &Path, text: &str) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let kept = std::env::temp_dir().join(format!("sixmark-{}-{name}", std::process::id()));
    match write_whole(&kept, text) {
        Ok(()) => format!("it was kept as '{}'", kept.display()),
        Err(_) => "only what is on the screen was kept".to_owned(),
    }
}
