//! Signals that are blocked and received by waiting for them.

use std::io;
use std::mem::MaybeUninit;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use crate::check_return;
use crate::ending::is_ignored;

/// The signals that a person or a supervisor sends to end a process, and SIGCHLD.
const WANTED: [libc::c_int; 5] =
    [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT, libc::SIGCHLD];

/// The blocked signals and the signal mask from before.
pub(super) struct Held {
    wanted: libc::sigset_t,
    before: libc::sigset_t,
}

/// A received signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReceivedSignal {
    /// A child may have ended.
    Child,
    /// A signal from a process, with its number.
    Sent(libc::c_int),
    /// A signal from the terminal, with its number. The terminal sends it to its whole foreground
    /// process group.
    FromTerminal(libc::c_int),
}

/// Blocks the signals.
pub(super) fn hold() -> io::Result<Held> {
    let mut wanted = empty();
    for signal in WANTED {
        // Of a blocked signal the kernel forgets that it is ignored, and would deliver it here.
        if signal != libc::SIGCHLD && is_ignored(signal) {
            continue;
        }
        // SAFETY: `wanted` is a valid set, the number that of a signal.
        check_return(unsafe { libc::sigaddset(&mut wanted, signal) })?;
    }
    // The starting process may have set SIGCHLD to be ignored, in which case the kernel would not
    // send it.
    // SAFETY: the default action is not a handler of this program.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
    let mut before = empty();
    // SAFETY: both sets are valid; the old mask is written to the second.
    check_return(unsafe { libc::sigprocmask(libc::SIG_BLOCK, &wanted, &mut before) })?;
    Ok(Held { wanted, before })
}

impl Held {
    /// Waits for the next signal.
    pub(super) fn next(&self) -> io::Result<ReceivedSignal> {
        // SAFETY: siginfo_t is a struct of integers and pointers, for which all zeros is valid.
        let mut about: libc::siginfo_t = unsafe { MaybeUninit::zeroed().assume_init() };
        loop {
            // SAFETY: the set is valid, and `about` may be written.
            match check_return(unsafe { libc::sigwaitinfo(&self.wanted, &mut about) }) {
                Ok(libc::SIGCHLD) => return Ok(ReceivedSignal::Child),
                Ok(signal) if about.si_code == libc::SI_KERNEL => {
                    return Ok(ReceivedSignal::FromTerminal(signal));
                }
                Ok(signal) => return Ok(ReceivedSignal::Sent(signal)),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Makes a program start with the signal mask from before. std passes on the current mask.
    pub(super) fn release_in(&self, command: &mut Command) {
        let before = self.before;
        let release = move || {
            // SAFETY: the old mask is a valid set; nothing is written.
            check_return(unsafe {
                libc::sigprocmask(libc::SIG_SETMASK, &before, std::ptr::null_mut())
            })
            .map(drop)
        };
        // SAFETY: between fork and exec the closure makes one system call and allocates nothing.
        unsafe { command.pre_exec(release) };
    }

    /// Restores the signal mask from before.
    pub(super) fn release(self) {
        // SAFETY: the old mask is a valid set; nothing is written.
        unsafe { libc::sigprocmask(libc::SIG_SETMASK, &self.before, std::ptr::null_mut()) };
    }
}

fn empty() -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: sigemptyset writes the whole set and cannot fail.
    unsafe { libc::sigemptyset(set.as_mut_ptr()) };
    // SAFETY: just written.
    unsafe { set.assume_init() }
}
