//! A command of sixmark itself that measures in the background and then writes a document.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;

use sixmark_lab::Host;
use sixmark_sys::command_error::CommandError;
use sixmark_sys::process::Running;
use sixmark_sys::program::plain_command;

/// The interval between two checks whether it measures.
const LOOK: Duration = Duration::from_millis(5);
/// How long it may take to begin, and to end.
const PATIENCE: Duration = Duration::from_secs(20);

/// A running command of sixmark.
pub(super) struct OwnProgram {
    running: Running,
    began: Instant,
    /// The file of its document, relative to the study's folder and as a path.
    document: (String, PathBuf),
    /// What it says on its standard error.
    log: PathBuf,
}

/// What a command has measured.
pub(super) struct Finished<T> {
    pub(super) document: T,
    /// The file of the document, relative to the study's folder.
    pub(super) file: String,
    /// The processor time of the command divided by the time that it ran.
    pub(super) cpu_share: f64,
}

impl OwnProgram {
    /// Starts a command with these arguments, in a host of a lab if one is given.
    pub(super) fn start(
        command: &'static str,
        words: &[String],
        document: (String, PathBuf),
        log: PathBuf,
        host: Option<&Host>,
    ) -> Result<OwnProgram, CommandError> {
        let cannot = |error: std::io::Error| {
            CommandError::Measure(format!("can't start sixmark {command}: {error}"))
        };
        let program = std::env::current_exe().map_err(cannot)?;
        let said = File::create(&log).map_err(cannot)?;
        let mut started = plain_command(&program);
        started.arg(command).args(words).stdout(Stdio::null()).stderr(said);
        let began = Instant::now();
        let running = match host {
            Some(host) => host.start(&mut started, None),
            None => Running::start(&mut started),
        };
        Ok(OwnProgram { running: running.map_err(cannot)?, began, document, log })
    }

    /// Waits until it has said a line with this word, or until `stop` is set. The inner error is
    /// what it said if it ended instead.
    pub(super) fn until_it_says(
        mut self,
        word: &str,
        stop: &AtomicBool,
    ) -> Result<Result<OwnProgram, String>, CommandError> {
        let end = Instant::now() + PATIENCE;
        loop {
            // Read first: a program that has ended says nothing more.
            let exit = self.running.wait(LOOK).map_err(lost)?;
            let said = read_log(&self.log);
            if exit.is_some() {
                return Ok(Err(last_line(&said)));
            }
            if said.contains(word) || stop.load(Ordering::Relaxed) {
                return Ok(Ok(self));
            }
            if Instant::now() >= end {
                let seconds = PATIENCE.as_secs();
                return Ok(Err(format!("it did not begin within {seconds} s")));
            }
        }
    }

    /// Ends it and reads its document. The inner error is what it said if it wrote none.
    pub(super) fn finish<T: DeserializeOwned>(
        mut self,
    ) -> Result<Result<Finished<T>, String>, CommandError> {
        let exit = self.running.stop(PATIENCE).map_err(lost)?;
        let seconds = self.began.elapsed().as_secs_f64().max(1e-6);
        let (file, path) = self.document;
        let Ok(text) = fs::read_to_string(&path) else {
            return Ok(Err(last_line(&read_log(&self.log))));
        };
        Ok(match serde_json::from_str(&text) {
            Ok(document) => {
                let cpu_share = (exit.user_s + exit.system_s) / seconds;
                Ok(Finished { document, file, cpu_share })
            }
            Err(error) => Err(format!("its document can't be read: {error}")),
        })
    }
}

fn lost(error: std::io::Error) -> CommandError {
    CommandError::Measure(format!("can't wait for an instrument: {error}"))
}

fn read_log(path: &Path) -> String {
    String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned()
}

/// Returns the last line that it said, without its name.
fn last_line(said: &str) -> String {
    let last = said.lines().map(str::trim).rfind(|line| !line.is_empty());
    let line = last.unwrap_or("it ended without an error message");
    line.strip_prefix("sixmark: ").unwrap_or(line).to_owned()
}
