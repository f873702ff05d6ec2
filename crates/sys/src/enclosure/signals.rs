//! Signals that are waited for, not interrupted by.

use std::io;
use std::mem::MaybeUninit;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use crate::check_return;

/// What a person or a supervisor sends, and the end of a child.
const WANTED: [libc::c_int; 5] =
    [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT, libc::SIGCHLD];

/// Signals held back until they are waited for.
pub(super) struct Held {
    wanted: libc::sigset_t,
    before: libc::sigset_t,
}

/// A signal that came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Came {
    /// A child may have ended.
    Child,
    /// From a process, by its number.
    Sent(libc::c_int),
    /// From the terminal, which sends it to all processes in its foreground.
    FromTerminal(libc::c_int),
}

/// Holds them back from now on.
pub(super) fn hold() -> io::Result<Held> {
    let mut wanted = empty();
    for signal in WANTED {
        // SAFETY: `wanted` is a valid set, the number that of a signal.
        check_return(unsafe { libc::sigaddset(&mut wanted, signal) })?;
    }
    // Whoever started this may have chosen not to hear of children; then the kernel tells of none.
    // SAFETY: the default action is no handler of ours.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
    let mut before = empty();
    // SAFETY: both sets are valid; the old mask is written to the second.
    check_return(unsafe { libc::sigprocmask(libc::SIG_BLOCK, &wanted, &mut before) })?;
    Ok(Held { wanted, before })
}

impl Held {
    /// The next one.
    pub(super) fn next(&self) -> io::Result<Came> {
        // SAFETY: siginfo_t is a struct of integers and pointers, for which all zeros is valid.
        let mut about: libc::siginfo_t = unsafe { MaybeUninit::zeroed().assume_init() };
        loop {
            // SAFETY: the set is valid, and `about` may be written.
            match check_return(unsafe { libc::sigwaitinfo(&self.wanted, &mut about) }) {
                Ok(libc::SIGCHLD) => return Ok(Came::Child),
                Ok(signal) if about.si_code == libc::SI_KERNEL => {
                    return Ok(Came::FromTerminal(signal));
                }
                Ok(signal) => return Ok(Came::Sent(signal)),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Lets them through to a program as they were before: std hands on the mask that it finds.
    pub(super) fn release_in(&self, command: &mut Command) {
        let before = self.before;
        let release = move || {
            // SAFETY: the old mask is a valid set; nothing is written.
            check_return(unsafe {
                libc::sigprocmask(libc::SIG_SETMASK, &before, std::ptr::null_mut())
            })
            .map(drop)
        };
        // SAFETY: between fork and exec it makes one system call and allocates nothing.
        unsafe { command.pre_exec(release) };
    }

    /// Lets them through again, as they were before.
    pub(super) fn release(self) {
        // SAFETY: the old mask is a valid set; nothing is written.
        unsafe { libc::sigprocmask(libc::SIG_SETMASK, &self.before, std::ptr::null_mut()) };
    }
}

fn empty() -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: sigemptyset writes the whole set and can't fail.
    unsafe { libc::sigemptyset(set.as_mut_ptr()) };
    // SAFETY: just written.
    unsafe { set.assume_init() }
}
