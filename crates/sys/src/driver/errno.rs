//! Error numbers of the kernel.

use std::io;

/// The number of an error that the kernel gave.
pub(super) fn errno_of(error: &io::Error) -> i32 {
    error.raw_os_error().unwrap_or(libc::EIO)
}
