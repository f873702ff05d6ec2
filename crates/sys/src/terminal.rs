//! The terminal of this process while a full-screen view is on it.
//!
//! Keys are read as they are pressed and are not echoed. Ctrl-C, Ctrl-Z and Ctrl-\ still send their
//! signals. The terminal's settings are restored when the view ends, when the process is suspended
//! (SIGTSTP), and before it is ended by a signal.
//!
//! A process in an [enclosure](crate::enclosure) has a process group of its own, and is therefore in the
//! background. If its caller was in the foreground, it takes the foreground for the view; the caller
//! takes it back once the enclosure has ended. The processes outside, which a shell knows, can't be
//! suspended from inside: the key that suspends has no effect then.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, RawFd};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::check_return;
use crate::readable::wait_until_readable;

/// Switches to the alternate screen and hides the cursor (ECMA-48, and xterm's private modes).
const ENTER: &[u8] = b"\x1b[?1049h\x1b[?25l";
/// Undoes this.
const LEAVE: &[u8] = b"\x1b[0m\x1b[?25h\x1b[?1049l";

/// The value of a control character that has no effect (_POSIX_VDISABLE).
const DISABLED: libc::cc_t = 0;

/// The terminal and its settings before the first view.
static BEFORE: OnceLock<(RawFd, libc::termios)> = OnceLock::new();
/// Whether a view is on the terminal.
static ENTERED: AtomicBool = AtomicBool::new(false);
/// Whether this process is in an enclosure whose caller was in the foreground.
static PASSED_ON: AtomicBool = AtomicBool::new(false);
/// Whether SIGTSTP has arrived and was not acted on.
static SUSPEND: AtomicBool = AtomicBool::new(false);

/// The controlling terminal, with a full-screen view on it between [`enter`](ViewTerminal::enter)
/// and [`leave`](ViewTerminal::leave). There is at most one in a process.
#[derive(Debug)]
pub struct ViewTerminal {
    tty: File,
}

impl ViewTerminal {
    /// Opens the controlling terminal of the process, and handles SIGTSTP from then on: see
    /// [`take_suspension`].
    ///
    /// # Errors
    /// There is no controlling terminal, this is the second call, or a system call failed.
    pub fn open() -> io::Result<ViewTerminal> {
        let tty = controlling_terminal()?;
        if PASSED_ON.load(Ordering::Relaxed) {
            take_foreground(&tty)?;
        }
        let mut before = MaybeUninit::uninit();
        // SAFETY: the descriptor is open, and the pointer is valid for a write of the structure.
        check_return(unsafe { libc::tcgetattr(tty.as_raw_fd(), before.as_mut_ptr()) })?;
        // SAFETY: tcgetattr has written the structure.
        let before = (tty.as_raw_fd(), unsafe { before.assume_init() });
        BEFORE.set(before).map_err(|_| io::Error::other("a view is already open"))?;
        handle_suspension()?;
        Ok(ViewTerminal { tty })
    }

    /// Returns a second handle of the terminal, for writing to it.
    ///
    /// # Errors
    /// There are too many open files.
    pub fn writer(&self) -> io::Result<File> {
        self.tty.try_clone()
    }

    /// Returns the descriptor, which is readable when a key was pressed.
    pub fn as_fd(&self) -> BorrowedFd<'_> {
        self.tty.as_fd()
    }

    /// Reports whether this process may change the terminal: it is in the foreground. A process in
    /// the background would be stopped by the kernel.
    pub fn is_foreground(&self) -> bool {
        is_foreground_of(&self.tty)
    }

    /// Switches to the view's screen. Must be called in the foreground only.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn enter(&self) -> io::Result<()> {
        let Some((fd, before)) = BEFORE.get() else { return Ok(()) };
        let mut settings = *before;
        settings.c_lflag &= !(libc::ICANON | libc::ECHO);
        settings.c_cc[libc::VMIN] = 1;
        settings.c_cc[libc::VTIME] = 0;
        if PASSED_ON.load(Ordering::Relaxed) {
            settings.c_cc[libc::VSUSP] = DISABLED;
        }
        ENTERED.store(true, Ordering::Relaxed);
        // SAFETY: the descriptor is open, since `BEFORE` was set by `open` and `self` lives; the
        // settings are those of tcgetattr with bits cleared.
        check_return(unsafe { libc::tcsetattr(*fd, libc::TCSADRAIN, &raw const settings) })?;
        io::Write::write_all(&mut &self.tty, ENTER)
    }

    /// Switches back to the normal screen, and restores the settings.
    pub fn leave(&self) {
        restore_terminal();
    }

    /// Returns the keys that were pressed, as bytes. Must be called only if the descriptor is
    /// readable.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn read_keys(&self) -> io::Result<Vec<u8>> {
        let mut keys = [0; 64];
        match (&self.tty).read(&mut keys)? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            count => Ok(keys[..count].to_vec()),
        }
    }

    /// Waits until a key was pressed or `other` is readable, at most for `most`. Returns which.
    ///
    /// # Errors
    /// Returns the errors of poll(2), except that a signal ends the wait without an error.
    pub fn wait(&self, other: BorrowedFd<'_>, most: Duration) -> io::Result<[bool; 2]> {
        wait_until_readable([self.tty.as_fd(), other], Some(most))
    }
}

impl Drop for ViewTerminal {
    fn drop(&mut self) {
        restore_terminal();
    }
}

fn controlling_terminal() -> io::Result<File> {
    OpenOptions::new().read(true).write(true).open("/dev/tty")
}

fn is_foreground_of(tty: &File) -> bool {
    // SAFETY: tcgetpgrp takes a number and returns one.
    let of_terminal = unsafe { libc::tcgetpgrp(tty.as_raw_fd()) };
    // SAFETY: getpgrp returns a number.
    of_terminal == unsafe { libc::getpgrp() }
}

/// Reports whether this process is in the foreground of a terminal.
pub(crate) fn is_foreground() -> bool {
    controlling_terminal().is_ok_and(|tty| is_foreground_of(&tty))
}

/// Notes that this process is in an enclosure, and that its caller was in the foreground.
pub(crate) fn lend_foreground() {
    PASSED_ON.store(true, Ordering::Relaxed);
}

/// Takes the foreground back after an enclosure that was lent it has ended: if the process group in
/// the foreground has no process any more.
pub(crate) fn reclaim_foreground() {
    let Ok(tty) = controlling_terminal() else { return };
    // SAFETY: tcgetpgrp takes a number and returns one.
    let of_terminal = unsafe { libc::tcgetpgrp(tty.as_raw_fd()) };
    // SAFETY: kill takes numbers; signal 0 is sent to nobody.
    let is_gone = of_terminal > 0 && unsafe { libc::kill(-of_terminal, 0) } < 0;
    if is_gone && io::Error::last_os_error().raw_os_error() == Some(libc::ESRCH) {
        // A terminal that can't be had is no reason to fail: the shell takes it.
        let _ = take_foreground(&tty);
    }
}

/// Makes the process group of this process that of the terminal's foreground.
fn take_foreground(tty: &File) -> io::Result<()> {
    let mut blocked = MaybeUninit::uninit();
    // SAFETY: sigemptyset writes the whole set.
    unsafe { libc::sigemptyset(blocked.as_mut_ptr()) };
    // SAFETY: the set was written, and the number is that of a signal.
    unsafe { libc::sigaddset(blocked.as_mut_ptr(), libc::SIGTTOU) };
    let mut before = MaybeUninit::uninit();
    // The kernel stops a process in the background that changes the terminal, unless this signal is
    // blocked.
    // SAFETY: the first set was written; the second is written by the call.
    let result =
        unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, blocked.as_ptr(), before.as_mut_ptr()) };
    if result != 0 {
        return Err(io::Error::from_raw_os_error(result));
    }
    // SAFETY: getpgrp returns a number.
    let own = unsafe { libc::getpgrp() };
    // SAFETY: tcsetpgrp takes two numbers.
    let taken = check_return(unsafe { libc::tcsetpgrp(tty.as_raw_fd(), own) });
    // SAFETY: pthread_sigmask has written the set.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), std::ptr::null_mut()) };
    taken.map(drop)
}

/// Switches back to the normal screen and restores the terminal's settings, if a view is on it. Has
/// no effect otherwise. It makes system calls and accesses atomics only, so that a signal handler
/// and a panic hook may call it.
pub fn restore_terminal() {
    let Some((fd, before)) = BEFORE.get() else { return };
    if !ENTERED.swap(false, Ordering::Relaxed) {
        return;
    }
    // SAFETY: the pointer and the length are those of a constant; if the descriptor is closed, the
    // call fails.
    unsafe { libc::write(*fd, LEAVE.as_ptr().cast(), LEAVE.len()) };
    // SAFETY: the settings are those of tcgetattr; if the descriptor is closed, the call fails.
    unsafe { libc::tcsetattr(*fd, libc::TCSANOW, before) };
}

/// Returns true once for each SIGTSTP that has arrived: the caller leaves the view and calls
/// [`suspend`].
pub fn take_suspension() -> bool {
    SUSPEND.swap(false, Ordering::Relaxed)
}

/// Suspends the process as if SIGTSTP were not handled. Returns when it is continued.
///
/// # Errors
/// The signal's action can't be changed.
pub fn suspend() -> io::Result<()> {
    set_action(libc::SIGTSTP, libc::SIG_DFL)?;
    let this = std::process::id().cast_signed();
    // SAFETY: kill takes numbers. The default action stops the process, unless its group is
    // orphaned.
    unsafe { libc::kill(this, libc::SIGTSTP) };
    handle_suspension()
}

fn handle_suspension() -> io::Result<()> {
    let handler = on_suspend as extern "C" fn(libc::c_int);
    set_action(libc::SIGTSTP, handler as libc::sighandler_t)
}

fn set_action(signal: libc::c_int, action: libc::sighandler_t) -> io::Result<()> {
    // SAFETY: the action is the default one, or a handler that performs only operations that
    // signal-safety(7) permits.
    let before = unsafe { libc::signal(signal, action) };
    if before == libc::SIG_ERR { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Handles SIGTSTP: sets a flag.
extern "C" fn on_suspend(_signal: libc::c_int) {
    SUSPEND.store(true, Ordering::Relaxed);
}
