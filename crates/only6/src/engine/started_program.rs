//! A program that runs in its host, until it is ended with all that it started.

use std::collections::BTreeSet;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};
use std::sync::mpsc::Receiver;
use std::time::Duration;

use sixmark_lab::Host;
use sixmark_sys::command_error::CommandError;
use sixmark_sys::last_line::keep_last_line;
use sixmark_sys::process::{Running, kill_processes_in, processes_in};

use crate::app_start::ProgramEnd;

use super::cannot;

/// How long a program has to end after SIGTERM.
const END: Duration = Duration::from_secs(2);
/// How long its last line may take after its last process has ended.
const LAST_LINE: Duration = Duration::from_millis(500);

/// A program that runs in its host.
pub(super) struct StartedProgram {
    running: Running,
    last_line: Receiver<Option<String>>,
    /// The processes that were in the host before: those of a CLAT.
    before: BTreeSet<u32>,
}

impl StartedProgram {
    /// Starts a program in its host. It ends with the calling thread.
    ///
    /// # Errors
    /// Returns an error if it can't be started.
    pub(super) fn start(
        host: &Host,
        command: &mut Command,
    ) -> Result<StartedProgram, CommandError> {
        let program = command.get_program().to_string_lossy().into_owned();
        let mut start = || -> io::Result<StartedProgram> {
            let before = processes_in(host.net())?.into_iter().collect();
            let (errors, writer) = io::pipe()?;
            let last_line = keep_last_line(errors)?;
            command.stderr(writer);
            let running = host.start(command, None);
            // The command holds an end of the pipe, which must be the program's alone.
            command.stderr(Stdio::null());
            Ok(StartedProgram { running: running?, last_line, before })
        };
        start().map_err(|error| cannot(&format!("'{program}' can't be started"), error))
    }

    /// Waits until the program itself has ended, for at most `most`.
    pub(super) fn has_ended(&self, most: Duration) -> io::Result<bool> {
        self.running.has_ended(most)
    }

    /// Returns true if the program has ended with all that it started in the host.
    pub(super) fn is_gone(&self, host: &Host) -> io::Result<bool> {
        Ok(self.has_ended(Duration::ZERO)?
            && processes_in(host.net())?.iter().all(|of| self.before.contains(of)))
    }

    /// Ends the program and all processes in its host. Returns how it ended.
    ///
    /// # Errors
    /// Returns an error if they can't be ended.
    pub(super) fn end(mut self, host: &Host) -> Result<ProgramEnd, CommandError> {
        let mut end = || -> io::Result<ProgramEnd> {
            let has_ended = self.running.has_ended(Duration::ZERO)?;
            let exit = self.running.stop(END)?;
            kill_processes_in(host.net())?;
            let by_itself = has_ended.then_some(exit.status);
            Ok(ProgramEnd {
                status: by_itself.and_then(|of| of.code()),
                signal: by_itself.and_then(|of| of.signal()),
                last_line: None,
            })
        };
        let end = end().map_err(|error| cannot("a program can't be ended", error))?;
        let last_line = self.last_line.recv_timeout(LAST_LINE).ok().flatten();
        Ok(ProgramEnd { last_line, ..end })
    }
}
