//! Error numbers of system calls.

use std::io;

/// Returns the error number of an error that a system call returned.
pub(super) fn errno_of(error: &io::Error) -> i32 {
    error.raw_os_error().unwrap_or(libc::EIO)
}
