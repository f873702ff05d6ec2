//! The two streams and the files that results go to.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::Serialize;
use sixmark_document::provenance::Warning;
use sixmark_sheet::terminal::hanging;
use sixmark_sheet::warnings::condensed;
use sixmark_units::visible::{visible, visible_json};

use sixmark_document::provenance::FILE_INCOMPLETE;
use sixmark_sys::command_error::CommandError;
use sixmark_sys::output;

/// The exit status where the result is whole and a file beside it is not.
pub(super) const INCOMPLETE: u8 = 3;

/// A line to people, on standard error.
pub(super) fn complain(line: &str) {
    // If standard error is gone there is no one to tell.
    let line = format!("sixmark: {}", visible(line));
    let _ = match screen_width() {
        Some(width) => writeln!(io::stderr().lock(), "{}", hanging(&line, width)),
        None => writeln!(io::stderr().lock(), "{line}"),
    };
}

/// Columns of the terminal that standard error is; none where it is none: a line of a log stays whole.
fn screen_width() -> Option<usize> {
    let width = terminal_size::terminal_size_of(io::stderr())?.0;
    Some(usize::from(width.0).max(20))
}

/// Doubts to people, the worst first.
pub(super) fn warn<'a>(warnings: impl IntoIterator<Item = &'a Warning>) {
    for Warning { code, message } in condensed(warnings) {
        complain(&format!("warning: {message} [{code}]"));
    }
}

/// True where one of them is of a file beside the result that could not be written to its end.
pub(super) fn is_incomplete(warnings: &[Warning]) -> bool {
    warnings.iter().any(|warning| warning.code == FILE_INCOMPLETE)
}

/// A document as it is written.
pub(super) fn encoded(document: &impl Serialize) -> Result<String, CommandError> {
    let text = serde_json::to_string_pretty(document);
    text.map(|text| visible_json(&text).into_owned() + "\n")
        .map_err(|error| CommandError::Measure(format!("can't encode the document: {error}")))
}

/// Text for people to standard output. A reader that went away (`| head`) is no error.
pub(super) fn print(text: &str) -> Result<(), CommandError> {
    match put_out(&visible(text)) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(cannot_print(&error)),
        _ => Ok(()),
    }
}

/// A document to standard output, as it is. Whoever asked for it and went away has lost it.
pub(super) fn print_document(text: &str) -> Result<(), CommandError> {
    check_output()?;
    put_out(text).map_err(|error| cannot_print(&error))
}

/// What is written to a closed standard output is lost, and nothing says so.
fn check_output() -> Result<(), CommandError> {
    let line = "standard output is closed, so it can't take a document; give a file";
    match sixmark_sys::standard::output_was_closed() {
        true => Err(CommandError::Usage(line.into())),
        false => Ok(()),
    }
}

fn put_out(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush())
}

fn cannot_print(error: &io::Error) -> CommandError {
    CommandError::Measure(format!("can't write to standard output: {error}"))
}

/// The last of what went wrong; the others are told.
pub(super) fn do_all<const N: usize>(
    done: [Result<(), CommandError>; N],
) -> Result<(), CommandError> {
    let mut failed: Vec<CommandError> = done.into_iter().filter_map(Result::err).collect();
    let last = failed.pop();
    failed.iter().for_each(|error| complain(&error.to_string()));
    last.map_or(Ok(()), Err)
}

/// Where a document goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum OutputPlace {
    /// `-`.
    Standard,
    /// A file, which is replaced whole or not at all.
    File(PathBuf),
}

impl std::str::FromStr for OutputPlace {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<OutputPlace, Self::Err> {
        Ok(if text == "-" { OutputPlace::Standard } else { OutputPlace::File(text.into()) })
    }
}

impl OutputPlace {
    /// Fails now rather than after the run where the file can't be written.
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

    /// Fails where it has no name or is closed.
    pub(super) fn check_name(&self) -> Result<(), CommandError> {
        match self {
            OutputPlace::Standard => check_output(),
            OutputPlace::File(path) if path.as_os_str().is_empty() => {
                Err(CommandError::Usage("the name of an output file is empty; give a name".into()))
            }
            _ => Ok(()),
        }
    }

    /// The file.
    pub(super) fn path(&self) -> &Path {
        match self {
            OutputPlace::Standard => Path::new("/dev/stdout"),
            OutputPlace::File(path) => path,
        }
    }

    /// Its name for people, as typed.
    pub(super) fn name(&self) -> std::path::Display<'_> {
        match self {
            OutputPlace::Standard => Path::new("-").display(),
            OutputPlace::File(path) => path.display(),
        }
    }

    /// Writes `text`; where that fails, keeps it elsewhere and says where.
    pub(super) fn write(&self, text: &str) -> Result<(), CommandError> {
        let rescued = |what: String, path: &Path| {
            CommandError::Measure(format!("{what}; {}", output::keep_aside(path, text)))
        };
        match self {
            OutputPlace::Standard => print_document(text)
                .map_err(|error| rescued(error.to_string(), Path::new("standard-output"))),
            OutputPlace::File(path) => output::replace(path, text).map_err(|error| {
                rescued(format!("can't write '{}': {error}", path.display()), path)
            }),
        }
    }

    /// True where one would take the other's document. A device or a pipe takes several.
    pub(super) fn is_same(&self, other: &OutputPlace) -> bool {
        let standard = [self, other].iter().all(|place| **place == OutputPlace::Standard);
        standard || output::is_same_file(self.path(), other.path())
    }
}
