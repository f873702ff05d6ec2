//! The command of a program, with places for what a scenario decides.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sixmark_sys::command_error::CommandError;
use sixmark_sys::program::{command_of, find_program};

/// A command: its program and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppCommand {
    words: Vec<String>,
    program: PathBuf,
}

/// The places in a command, each with what stands for it.
pub(super) type Places<'a> = [(&'a str, &'a str)];

impl AppCommand {
    /// Finds the program of a command.
    ///
    /// # Errors
    /// Returns an error if it is not there, or can't be executed.
    pub fn find(words: Vec<String>) -> Result<AppCommand, CommandError> {
        let name = words.first().map(String::as_str).unwrap_or_default();
        match find_program(name) {
            Some(program) => Ok(AppCommand { words, program }),
            None if name.contains('/') && Path::new(name).exists() => {
                Err(CommandError::Usage(format!("'{name}' is no program that can be executed")))
            }
            None => Err(CommandError::Usage(format!("no program '{name}' is there"))),
        }
    }

    /// Returns its words.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// Returns the program's file.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Returns true if a place is in one of its arguments.
    pub fn has_place(&self, place: &str) -> bool {
        self.words.iter().any(|of| of.contains(place))
    }

    /// Returns the command with what stands for its places. `last` is its last argument if it has none of them.
    pub(super) fn fill(&self, places: &Places<'_>, last: Option<&str>) -> Command {
        let fill = |word: &String| {
            places.iter().fold(word.clone(), |word, (place, value)| word.replace(place, value))
        };
        // A proxy would connect in its stead.
        let mut command = command_of(&self.program);
        command.args(self.words.iter().skip(1).map(fill));
        if !places.iter().any(|(place, _)| self.has_place(place)) {
            command.args(last);
        }
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command
    }
}
