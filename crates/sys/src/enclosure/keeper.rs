//! A process that waits for a child, forwards signals to it, and reaps all ended children.

use std::io;
use std::process::Command;

use super::signals::{self, Held, ReceivedSignal};
use crate::check_return;

/// Runs a program to its end and forwards to it the signals that this process receives. Returns its
/// exit status, or 128 plus the number of the signal that ended it. This process must have one
/// thread. The two share a terminal.
///
/// # Errors
/// Returns an error if the program cannot be started.
pub fn attend(command: &mut Command) -> io::Result<u8> {
    let held = signals::hold()?;
    // The signals that are blocked here are not blocked in the program.
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
    /// The child also receives the signals of the terminal, which are then not forwarded.
    shares_terminal: bool,
}

impl Keeper {
    /// Creates a keeper of a child in another process group.
    pub(super) fn of(child: libc::pid_t) -> Keeper {
        Keeper { child, shares_terminal: false }
    }

    /// Waits until the child has ended. Returns its exit status, or 128 plus the number of the
    /// signal that ended it.
    pub(super) fn wait(&self, signals: &Held) -> io::Result<u8> {
        loop {
            match signals.next()? {
                ReceivedSignal::Child => {
                    if let Some(status) = self.reap()? {
                        return Ok(status);
                    }
                }
                ReceivedSignal::Sent(signal) => self.send(signal),
                ReceivedSignal::FromTerminal(_) if self.shares_terminal => {}
                ReceivedSignal::FromTerminal(signal) => self.send(signal),
            }
        }
    }

    /// Reaps all children that have ended. Returns the status of the awaited child if it is one of
    /// them.
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
        // SAFETY: kill takes two numbers. The child has not been reaped, so that its id is still
        // valid.
        unsafe { libc::kill(self.child, signal) };
    }
}

/// Returns the exit status in the form that shells use.
fn exit(status: libc::c_int) -> u8 {
    if libc::WIFEXITED(status) {
        libc::WEXITSTATUS(status) as u8
    } else {
        128 + libc::WTERMSIG(status) as u8
    }
}
