//! The error that ends a command: a message of one line, and the exit status that follows from it.

use std::fmt;

/// The exit status of a command that a signal ended early. Shells report this status for a command
/// that Ctrl-C killed; sixmark uses it whichever signal it was.
pub const INTERRUPTED: u8 = 130;

/// The reason why a command failed: one line that says what was wrong, where, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandError {
    /// The command was used incorrectly: exit status 2.
    Usage(String),
    /// The command was used correctly but could not measure: exit status 3.
    Measure(String),
    /// A signal ended the command early: exit status 130.
    Interrupted(String),
}

impl CommandError {
    /// Returns the exit status.
    pub fn status(&self) -> u8 {
        match self {
            CommandError::Usage(_) => 2,
            CommandError::Measure(_) => 3,
            CommandError::Interrupted(_) => INTERRUPTED,
        }
    }

    /// Returns the same error with its message replaced by `change(message)`.
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
