//! Standard output, standard error, and the files to which results are written.

use std::borrow::Cow;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use serde::Serialize;
use sixmark_document::provenance::Warning;
use sixmark_document::warning_codes::word_of;
use sixmark_sheet::terminal::{self, hanging};
use sixmark_sheet::warnings::condensed;
use sixmark_units::visible::{visible, visible_json};

use super::colour::coloured;
use sixmark_document::provenance::FILE_INCOMPLETE;
use sixmark_sys::command_error::CommandError;
use sixmark_sys::output::{self, Readers};

/// The exit status if the result is complete but an additional file is not.
pub(super) const INCOMPLETE: u8 = 3;

/// Lines that are printed once no view is on the terminal any more; `None` if there is none.
static HELD: Mutex<Option<Vec<String>>> = Mutex::new(None);

/// Holds the lines of [`complain`] back until [`release_lines`].
pub(super) fn hold_lines() {
    HELD.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default();
}

/// Prints the lines that were held back.
pub(super) fn release_lines() {
    let held = HELD.lock().unwrap_or_else(PoisonError::into_inner).take();
    held.into_iter().flatten().for_each(|line| complain(&line));
}

/// Prints a line for people to standard error.
pub(super) fn complain(line: &str) {
    if let Some(held) = HELD.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
        held.push(line.to_owned());
        return;
    }
    // If standard error is closed, there is no one to tell.
    let line = format!("sixmark: {}", visible(line));
    let _ = match screen_width() {
        Some(width) => writeln!(io::stderr().lock(), "{}", hanging(&line, width)),
        None => writeln!(io::stderr().lock(), "{line}"),
    };
}

/// Returns the width of the terminal on standard error, in columns. `None` if it is not a terminal:
/// lines in a log are not wrapped.
fn screen_width() -> Option<usize> {
    let width = terminal_size::terminal_size_of(io::stderr())?.0;
    Some(usize::from(width.0).max(20))
}

/// Whether warnings are printed with their codes.
static WITH_CODES: AtomicBool = AtomicBool::new(false);

/// Prints warnings with their codes from now on (`--full`). Documents and pages have them always.
pub(super) fn show_codes() {
    WITH_CODES.store(true, Ordering::Relaxed);
}

/// Prints the warnings, the most serious first.
pub(super) fn warn<'a>(warnings: impl IntoIterator<Item = &'a Warning>) {
    for Warning { code, message } in condensed(warnings) {
        let shown =
            if WITH_CODES.load(Ordering::Relaxed) { format!(" [{code}]") } else { String::new() };
        complain(&format!("{}: {message}{shown}", word_of(&code)));
    }
}

/// Returns true if a warning says that an additional file is incomplete.
pub(super) fn is_incomplete(warnings: &[Warning]) -> bool {
    warnings.iter().any(|warning| warning.code == FILE_INCOMPLETE)
}

/// Encodes a document as JSON text.
pub(super) fn encoded(document: &impl Serialize) -> Result<String, CommandError> {
    let text = serde_json::to_string_pretty(document);
    text.map(|text| visible_json(&text).into_owned() + "\n")
        .map_err(|error| CommandError::Measure(format!("can't encode the document: {error}")))
}

/// Makes the lines that are printed fit the terminal on standard output, if it is narrower than usual.
pub(super) fn fit_terminal() {
    if let Some((columns, _)) = terminal_size::terminal_size_of(io::stdout()) {
        terminal::fit_width(usize::from(columns.0));
    }
}

/// Wraps the lines of a text that are wider than the terminal, where they can be broken.
fn fitted(text: &str) -> Cow<'_, str> {
    let width = terminal::width();
    if width >= terminal::WIDTH {
        return Cow::Borrowed(text);
    }
    let line = |line: &str| {
        // A command to paste stays on one line.
        let stays = line.starts_with("$ ") || line.chars().count() <= width;
        let indent = line.len() - line.trim_start().len();
        if stays {
            line.to_owned()
        } else {
            format!("{}{}", &line[..indent], hanging(line.trim_start(), width - indent))
        }
    };
    Cow::Owned(text.split('\n').map(line).collect::<Vec<_>>().join("\n"))
}

/// Prints text for people to standard output. It is no error if the reader has gone (`| head`).
pub(super) fn print(text: &str) -> Result<(), CommandError> {
    match put_out(&coloured(visible(&fitted(text)))) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(cannot_print(&error)),
        _ => Ok(()),
    }
}

/// Prints a document to standard output unchanged. It is an error if the reader has gone, since the
/// document is lost then.
pub(super) fn print_document(text: &str) -> Result<(), CommandError> {
    check_output()?;
    put_out(text).map_err(|error| cannot_print(&error))
}

/// Returns an error if standard output was closed, since anything written to it would be lost
/// silently.
fn check_output() -> Result<(), CommandError> {
    let line = "standard output is closed, so it can't take a document; give a file";
    if sixmark_sys::standard::output_was_closed() {
        Err(CommandError::Usage(line.into()))
    } else {
        Ok(())
    }
}

fn put_out(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush())
}

fn cannot_print(error: &io::Error) -> CommandError {
    CommandError::Measure(format!("can't write to standard output: {error}"))
}

/// Returns the last of the errors, after printing the others.
pub(super) fn do_all<const N: usize>(
    done: [Result<(), CommandError>; N],
) -> Result<(), CommandError> {
    let mut failed: Vec<CommandError> = done.into_iter().filter_map(Result::err).collect();
    let last = failed.pop();
    failed.iter().for_each(|error| complain(&error.to_string()));
    last.map_or(Ok(()), Err)
}

/// The place to which a document is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum OutputPlace {
    /// Standard output (`-`).
    Standard,
    /// A file. It is replaced completely or not at all.
    File(PathBuf),
}

impl std::str::FromStr for OutputPlace {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<OutputPlace, Self::Err> {
        Ok(if text == "-" { OutputPlace::Standard } else { OutputPlace::File(text.into()) })
    }
}

impl OutputPlace {
    /// Checks that the file can be written, so that the command fails before the run rather than
    /// after it.
    pub(super) fn check(&self) -> Result<(), CommandError> {
        self.check_name()?;
        let OutputPlace::File(path) = self else { return Ok(()) };
        if path.is_dir() {
            return Err(CommandError::Usage(format!(
                "'{}' is a folder; name a file",
                path.display()
            )));
        }
        let cannot =
            |error| CommandError::Usage(format!("can't write '{}': {error}", path.display()));
        output::check_writable(path).map_err(cannot)
    }

    /// Checks that the file has a name, or that standard output is open.
    pub(super) fn check_name(&self) -> Result<(), CommandError> {
        match self {
            OutputPlace::Standard => check_output(),
            OutputPlace::File(path) if path.as_os_str().is_empty() => {
                Err(CommandError::Usage("the name of an output file is empty; give a name".into()))
            }
            _ => Ok(()),
        }
    }

    /// Returns the path; `/dev/stdout` for standard output.
    pub(super) fn path(&self) -> &Path {
        match self {
            OutputPlace::Standard => Path::new("/dev/stdout"),
            OutputPlace::File(path) => path,
        }
    }

    /// Returns the name for messages, as typed.
    pub(super) fn name(&self) -> std::path::Display<'_> {
        match self {
            OutputPlace::Standard => Path::new("-").display(),
            OutputPlace::File(path) => path.display(),
        }
    }

    /// Writes `text`, which holds no secret. If that fails, saves it elsewhere, and the error says
    /// where.
    pub(super) fn write(&self, text: &str) -> Result<(), CommandError> {
        self.write_for(Readers::Umask, text)
    }

    /// Writes `text` as [`OutputPlace::write`] does, for these readers.
    pub(super) fn write_for(&self, readers: Readers, text: &str) -> Result<(), CommandError> {
        let rescued = |what: String, path: &Path| {
            CommandError::Measure(format!("{what}; {}", output::keep_aside(path, text)))
        };
        match self {
            OutputPlace::Standard => print_document(text)
                .map_err(|error| rescued(error.to_string(), Path::new("standard-output"))),
            OutputPlace::File(path) => output::replace(path, text, readers).map_err(|error| {
                rescued(format!("can't write '{}': {error}", path.display()), path)
            }),
        }
    }

    /// Returns true if both are the same place, so that one document would overwrite the other. A
    /// device or a pipe takes several.
    pub(super) fn is_same(&self, other: &OutputPlace) -> bool {
        let standard = [self, other].iter().all(|place| **place == OutputPlace::Standard);
        standard || output::is_same_file(self.path(), other.path())
    }
}
