//! The standard streams as the process was started with them.

use std::sync::atomic::{AtomicBool, Ordering};

/// Whether standard output was closed.
static OUTPUT_WAS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Rust's runtime opens /dev/null in place of a standard stream that is closed, so that everything
/// written there is lost without an error. The C runtime calls this before that.
#[used]
// SAFETY: the section holds pointers to functions of this type, which the C runtime calls once.
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look_at_output;

extern "C" fn look_at_output() {
    // SAFETY: F_GETFD takes no pointer and changes nothing.
    let flags = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) };
    OUTPUT_WAS_CLOSED.store(flags < 0, Ordering::Relaxed);
}

/// Reports whether standard output was closed when the process began, as by `>&-` in a shell.
pub fn output_was_closed() -> bool {
    OUTPUT_WAS_CLOSED.load(Ordering::Relaxed)
}
