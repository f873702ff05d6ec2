//! What stops a command: one line, and the exit status it leads to.

use std::fmt;

/// The exit status of a command that a signal ended before its end: what shells say of one that Ctrl-C
/// killed, whichever signal it was.
pub const INTERRUPTED: u8 = 130;

/// A reason to stop, in one line that says what was wrong, where, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandError {
    /// The command was used wrongly: exit status 2.
    Usage(String),
    /// It was used rightly but could not measure: exit status 3.
    Measure(String),
    /// A signal came before its end: exit status 130.
    Interrupted(String),
}

impl CommandError {
    /// The exit status.
    pub fn status(&self) -> u8 {
        match self {
            CommandError::Usage(_) => 2,
            CommandError::Measure(_) => 3,
            CommandError::Interrupted(_) => INTERRUPTED,
        }
    }

    /// The same with another line, made of this one's.
    pub fn map(self, change: impl FnOnce(String) -> String) -> CommandError {
        match self {
            CommandError::Usage(line) => CommandError::Usage(change(line)),
            CommandError::Measure(line) => CommandError::Measure(change(line)),
            CommandError::Interrupted(line) => CommandError::Interrupted(change(line)),
        }
    }
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CommandError::Usage(line)
            | CommandError::Measure(line)
            | CommandError::Interrupted(line) => f.write_str(line),
        }
    }
}

impl std::error::Error for CommandError {}
