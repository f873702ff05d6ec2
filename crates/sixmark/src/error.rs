//! What stops a command: one line, and the exit status it leads to.

use std::fmt;

/// A reason to stop, in one line that says what was wrong, where, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The command was used wrongly: exit status 2.
    Usage(String),
    /// It was used rightly but could not measure: exit status 3.
    Measure(String),
}

impl Error {
    /// The exit status.
    pub fn status(&self) -> u8 {
        match self {
            Error::Usage(_) => 2,
            Error::Measure(_) => 3,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Usage(line) | Error::Measure(line) => f.write_str(line),
        }
    }
}

impl std::error::Error for Error {}
