//! A process that waits for another, hands signals on to it, and reaps whatever comes.

use std::io;

use super::signals::{Came, Held};
use crate::check;

/// Waits for one child.
pub(super) struct Keeper {
    child: libc::pid_t,
}

impl Keeper {
    pub(super) fn of(child: libc::pid_t) -> Keeper {
        Keeper { child }
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
                // The terminal has sent it to the child as well.
                Came::FromTerminal => {}
            }
        }
    }

    /// Reaps all that have ended; the status of the child if it is among them.
    fn reap(&self) -> io::Result<Option<u8>> {
        let mut found = None;
        loop {
            let mut status = 0;
            // SAFETY: `status` may be written.
            match check(unsafe { libc::waitpid(-1, &mut status, libc::WNOHANG) }) {
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
