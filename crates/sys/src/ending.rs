//! Signals that ask a command to end early and to report the results so far.

use std::io;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use crate::clock;

/// Signals within this time after the first one count as the same request. A person who presses
/// Ctrl-C twice, or a supervisor that signals the process and then its group, wants the command to
/// end without losing what it is writing.
const MOMENT_NS: u64 = 1_000_000_000;

/// The flag that the handler sets.
static ASKED: OnceLock<Arc<AtomicBool>> = OnceLock::new();
/// How many [`LastWords`] are held.
static HELD: AtomicUsize = AtomicUsize::new(0);
/// The time of the second signal, which waits for them, as that of the first, or 0.
static SECOND_NS: AtomicU64 = AtomicU64::new(0);
/// The second signal, or 0.
static DUE: AtomicI32 = AtomicI32::new(0);
/// The time of the first signal, nanoseconds of CLOCK_MONOTONIC, or 0 before it.
static FIRST_NS: AtomicU64 = AtomicU64::new(0);

/// Returns the flag of this process that SIGINT, SIGTERM and SIGHUP set, unless the process was
/// started with SIGINT or SIGHUP ignored. A SIGINT or SIGTERM more than a second after the first
/// signal ends the process at once, or once its [`LastWords`] are said.
///
/// # Errors
/// Returns an error if a handler cannot be installed.
pub fn flag() -> io::Result<Arc<AtomicBool>> {
    let flag = Arc::clone(ASKED.get_or_init(Arc::default));
    handle(libc::SIGTERM)?;
    // nohup(1) and programs that start daemons set SIGHUP to be ignored, shells without job control
    // SIGINT for what they start in the background (POSIX, 2.11). What was ignored stays so.
    for signal in [libc::SIGINT, libc::SIGHUP] {
        if !is_ignored(signal) {
            handle(signal)?;
        }
    }
    Ok(flag)
}

/// Restores the default action of SIGHUP and SIGINT in this process and in those that it starts
/// later, as if it had been started neither by nohup(1) nor in the background. Tests that send these
/// signals then do not depend on how they are run.
///
/// # Errors
/// Returns an error if the kernel refuses.
pub fn undo_nohup() -> io::Result<()> {
    [libc::SIGHUP, libc::SIGINT].into_iter().try_for_each(|signal| {
        // SAFETY: the default action is not a handler of this program.
        let before = unsafe { libc::signal(signal, libc::SIG_DFL) };
        if before == libc::SIG_ERR { Err(io::Error::last_os_error()) } else { Ok(()) }
    })
}

/// Installs the handler. Interrupted system calls are restarted (glibc's signal(3)).
fn handle(signal: libc::c_int) -> io::Result<()> {
    let handler = on_signal as extern "C" fn(libc::c_int);
    // SAFETY: the handler performs only operations that signal-safety(7) permits.
    let before = unsafe { libc::signal(signal, handler as libc::sighandler_t) };
    if before == libc::SIG_ERR { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Handles a signal. It reads a clock, accesses atomics and makes system calls, all of which are
/// async-signal-safe.
extern "C" fn on_signal(signal: libc::c_int) {
    let Some(asked) = ASKED.get() else { return };
    let now = clock::now();
    match FIRST_NS.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => asked.store(true, Ordering::Relaxed),
        Err(first) if now.saturating_sub(first) < MOMENT_NS => {}
        // The loss of a terminal may be reported twice, by the kernel and by a shell.
        Err(_) if signal == libc::SIGHUP => {}
        Err(_) if waits_for_last_words(signal, now) => {}
        Err(_) => die_by(signal),
    }
}

/// Notes at the time `now` that a signal is to end the process. Returns false if nobody holds last
/// words, or if one was noted more than a moment before.
fn waits_for_last_words(signal: libc::c_int, now: u64) -> bool {
    if HELD.load(Ordering::Relaxed) == 0 {
        return false;
    }
    match SECOND_NS.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => {
            DUE.store(signal, Ordering::Relaxed);
            true
        }
        Err(second) => now.saturating_sub(second) < MOMENT_NS,
    }
}

/// Something that must be done before a second signal ends the process, and takes a moment. While it
/// is held, the second signal waits for it; a third one, a second later, ends the process at once.
#[derive(Debug)]
pub struct LastWords(());

impl LastWords {
    /// Makes the second signal wait until this value is dropped.
    pub fn hold() -> LastWords {
        HELD.fetch_add(1, Ordering::Relaxed);
        LastWords(())
    }

    /// Returns true if the second signal has come: this value should be dropped soon.
    pub fn are_due(&self) -> bool {
        DUE.load(Ordering::Relaxed) != 0
    }
}

impl Drop for LastWords {
    fn drop(&mut self) {
        let due = DUE.load(Ordering::Relaxed);
        if HELD.fetch_sub(1, Ordering::Relaxed) == 1 && due != 0 {
            die_by(due);
        }
    }
}

/// Ends the process by this signal, as if there were no handler.
fn die_by(signal: libc::c_int) {
    crate::terminal::restore_terminal();
    let mut this = MaybeUninit::uninit();
    // SAFETY: sigemptyset writes the whole set and cannot fail.
    unsafe { libc::sigemptyset(this.as_mut_ptr()) };
    // SAFETY: the set has just been written; the number is that of a signal.
    unsafe { libc::sigaddset(this.as_mut_ptr(), signal) };
    // SAFETY: the default action is not a handler of this program.
    unsafe { libc::signal(signal, libc::SIG_DFL) };
    // SAFETY: the set is valid; nothing is written.
    unsafe { libc::pthread_sigmask(libc::SIG_UNBLOCK, this.as_ptr(), std::ptr::null_mut()) };
    // SAFETY: raise takes a number.
    unsafe { libc::raise(signal) };
    // The first process of a PID namespace cannot kill itself by a signal (pid_namespaces(7)).
    // SAFETY: _exit takes a number and does not return.
    unsafe { libc::_exit(128 + signal) };
}

/// Returns true if the process was started with this signal ignored (proc_pid_status(5)).
pub(crate) fn is_ignored(signal: libc::c_int) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().find_map(|line| line.strip_prefix("SigIgn:")).is_some_and(|mask| {
        u64::from_str_radix(mask.trim(), 16).is_ok_and(|mask| mask >> (signal - 1) & 1 == 1)
    })
}
