//! Signals that ask a command to end with what it has so far.

use std::io;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use crate::clock;

/// A signal that comes so soon after the first one is taken for the same: who presses Ctrl-C twice, and a
/// supervisor that signals the group after the process, want an end, and not the loss of what is being
/// written.
const MOMENT_NS: u64 = 1_000_000_000;

/// What the handler sets.
static ASKED: OnceLock<Arc<AtomicBool>> = OnceLock::new();
/// When the first signal came, nanoseconds of the monotonic clock; 0: none did.
static FIRST_NS: AtomicU64 = AtomicU64::new(0);

/// The flag that SIGINT, SIGTERM and SIGHUP set, one for the process. A SIGINT or SIGTERM more than a
/// second after the first signal ends the process at once.
///
/// # Errors
/// The kernel takes no handler.
pub fn flag() -> io::Result<Arc<AtomicBool>> {
    let flag = Arc::clone(ASKED.get_or_init(Arc::default));
    handle(libc::SIGINT)?;
    handle(libc::SIGTERM)?;
    // nohup(1) and those who start a daemon have it ignored.
    if !is_ignored(libc::SIGHUP) {
        handle(libc::SIGHUP)?;
    }
    Ok(flag)
}

/// Gives SIGHUP its default action in this process and in those that it starts from now on, as if it had
/// not been started by nohup(1): tests that send it do not depend on who runs them.
///
/// # Errors
/// The kernel refuses.
pub fn undo_nohup() -> io::Result<()> {
    // SAFETY: the default action is no handler of ours.
    let before = unsafe { libc::signal(libc::SIGHUP, libc::SIG_DFL) };
    if before == libc::SIG_ERR { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Has the kernel call the handler; system calls that it interrupts go on (glibc's signal(3)).
fn handle(signal: libc::c_int) -> io::Result<()> {
    let handler = on_signal as extern "C" fn(libc::c_int);
    // SAFETY: the handler does nothing but what signal-safety(7) allows.
    let before = unsafe { libc::signal(signal, handler as libc::sighandler_t) };
    if before == libc::SIG_ERR { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// It reads a clock, loads and stores atomics, and makes system calls: all of that is safe here.
extern "C" fn on_signal(signal: libc::c_int) {
    let Some(asked) = ASKED.get() else { return };
    let now = clock::now();
    match FIRST_NS.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => asked.store(true, Ordering::Relaxed),
        Err(first) if now.saturating_sub(first) < MOMENT_NS => {}
        // A terminal that is gone may be told of again, by a shell after the kernel.
        Err(_) if signal == libc::SIGHUP => {}
        Err(_) => die_by(signal),
    }
}

/// As if there were no handler.
fn die_by(signal: libc::c_int) {
    let mut this = MaybeUninit::uninit();
    // SAFETY: sigemptyset writes the whole set and can't fail.
    unsafe { libc::sigemptyset(this.as_mut_ptr()) };
    // SAFETY: the set has just been written; the number is that of a signal.
    unsafe { libc::sigaddset(this.as_mut_ptr(), signal) };
    // SAFETY: the default action is no handler of ours.
    unsafe { libc::signal(signal, libc::SIG_DFL) };
    // SAFETY: the set is valid; nothing is written.
    unsafe { libc::pthread_sigmask(libc::SIG_UNBLOCK, this.as_ptr(), std::ptr::null_mut()) };
    // SAFETY: raise takes a number.
    unsafe { libc::raise(signal) };
    // Nothing that it sends itself kills the first process of a PID namespace (pid_namespaces(7)).
    // SAFETY: _exit takes a number and does not return.
    unsafe { libc::_exit(128 + signal) };
}

/// True where the process was started with a signal ignored (proc_pid_status(5)).
fn is_ignored(signal: libc::c_int) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().find_map(|line| line.strip_prefix("SigIgn:")).is_some_and(|mask| {
        u64::from_str_radix(mask.trim(), 16).is_ok_and(|mask| mask >> (signal - 1) & 1 == 1)
    })
}
