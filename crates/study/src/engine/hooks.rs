//! Programs that run before and after a study and its cells.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sixmark_design::spec::PlannedCell;
use sixmark_document::braces::fill;
use sixmark_sys::process::Running;

use sixmark_sys::command_error::CommandError;
use sixmark_sys::program::{command_of, find_program};

/// The interval at which `stop` is checked.
const LOOK: Duration = Duration::from_millis(100);

/// The context of a hook.
#[derive(Clone, Copy)]
pub(super) struct Hook<'a> {
    /// The study's name.
    pub(super) study: &'a str,
    /// The cell to which it belongs, with the cell's id.
    pub(super) cell: Option<(&'a PlannedCell<'a>, &'a str)>,
    /// The folder of generated files.
    pub(super) www: &'a Path,
    /// A flag that ends it early; `None` if it undoes something and must complete.
    pub(super) stop: Option<&'a AtomicBool>,
}

impl Hook<'_> {
    /// Runs the commands one after the other.
    ///
    /// # Errors
    /// Returns an error if a program is missing, or if its exit status is not 0.
    pub(super) fn run(&self, name: &str, commands: &[Vec<String>]) -> Result<(), CommandError> {
        for words in commands {
            let words: Vec<String> =
                words.iter().map(|word| fill(word, |n| self.value(n))).collect();
            self.one(&words).map_err(|why| {
                CommandError::Measure(format!("hook {name} '{}' {why}", words.join(" ")))
            })?;
        }
        Ok(())
    }

    fn one(&self, words: &[String]) -> Result<(), String> {
        let [program, arguments @ ..] = words else { return Ok(()) };
        let program = find_program(program).ok_or("is not installed")?;
        let mut command = command_of(&program);
        command.args(arguments).env("SIXMARK_STUDY", self.study);
        // Standard output is for the study's own messages.
        command.stdout(std::process::Stdio::null());
        if let Some((_, id)) = self.cell {
            command.env("SIXMARK_CELL", id);
        }
        let cannot = |error: std::io::Error| format!("can't be run: {error}");
        let mut running = Running::start(&mut command).map_err(cannot)?;
        loop {
            if let Some(exit) = running.wait(LOOK).map_err(cannot)? {
                return if exit.status.success() {
                    Ok(())
                } else {
                    Err(format!("failed: {}", exit.status))
                };
            }
            if self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
                return Ok(());
            }
        }
    }

    fn value(&self, name: &str) -> Option<String> {
        match name {
            "www" => Some(self.www.display().to_string()),
            "sixmark" => std::env::current_exe().ok().map(|path| path.display().to_string()),
            name => self.cell.and_then(|(cell, _)| cell.value(name)),
        }
    }
}
