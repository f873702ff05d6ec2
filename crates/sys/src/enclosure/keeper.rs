//! A process that waits for another, hands signals on to it, and reaps whatever comes.

use std::io;
use std::process::Command;

use super::signals::{self, Came, Held};
use crate::check_return;

/// Runs a program to its end, hands it the signals that come for this process, which has one thread,
/// and tells its exit status, 128 and its number after a signal. The two share a terminal.
///
/// # Errors
/// It can't be started.
pub fn attend(command: &mut Command) -> io::Result<u8> {
    let held = signals::hold()?;
    // What is held back here is not there.
    held.release_in(command);
    let ended = command.spawn().and_then(|child| {
        let keeper = Keeper { child: child.id() as libc::pid_t, shares_terminal: true };
        keeper.wait(&held)
    });
    held.release();
    ended
}

/// Waits for one child.
pub(super) struct Keeper {
    child: libc::pid_t,
    /// What the terminal sends comes to the child as well.
    shares_terminal: bool,
}

impl Keeper {
    /// Of a child in another process group.
    pub(super) fn of(child: libc::pid_t) -> Keeper {
        Keeper { child, shares_terminal: false }
    }

    /// Until the child has ended; its exit status, 128 and its number after a signal.
    pub(super) fn wait(&self, signals: &Held) -> io::Result<u8> {
        loop {
            match signals.next()? {
                Came::Child => {
                    if let Some(status) = self.reap()? {
                        return Ok(status);
                    }
                }
                Came::Sent(signal) => self.send(signal),
                Came::FromTerminal(_) if self.shares_terminal => {}
                Came::FromTerminal(signal) => self.send(signal),
            }
        }
    }

    /// Reaps all that have ended; the status of the child if it is among them.
    fn reap(&self) -> io::Result<Option<u8>> {
        let mut found = None;
        loop {
            let mut status = 0;
            // SAFETY: `status` may be written.
            match check_return(unsafe { libc::waitpid(-1, &mut status, libc::WNOHANG) }) {
                Ok(0) => return Ok(found),
                Ok(pid) if pid == self.child => found = Some(exit(status)),
                Ok(_) => {}
                Err(error) if error.raw_os_error() == Some(libc::ECHILD) => return Ok(found),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn send(&self, signal: libc::c_int) {
        // SAFETY: kill takes two numbers; the child has not been reaped, its id is its own.
        unsafe { libc::kill(self.child, signal) };
    }
}

/// As shells say it.
fn exit(status: libc::c_int) -> u8 {
    match libc::WIFEXITED(status) {
        true => libc::WEXITSTATUS(status) as u8,
        false => 128 + libc::WTERMSIG(status) as u8,
    }
}
