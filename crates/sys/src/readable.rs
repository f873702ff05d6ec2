//! Waiting until one of a few files is readable, without a driver.

use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd};
use std::time::Duration;

use crate::check_return;

/// Waits until one of the files is readable, at its end or broken, or until `most` has passed;
/// without a limit if `most` is `None`. Returns for each file whether it is ready.
///
/// # Errors
/// Returns the errors of poll(2), except that a signal ends the wait without an error.
pub fn wait_until_readable<const N: usize>(
    files: [BorrowedFd<'_>; N],
    most: Option<Duration>,
) -> io::Result<[bool; N]> {
    let asked = |file: &BorrowedFd<'_>| libc::pollfd {
        fd: file.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    let mut polled = files.each_ref().map(asked);
    let time = most.map(timespec);
    let until = time.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    let start = polled.as_mut_ptr();
    // SAFETY: `start` points to N entries that the call may write. `until` is null or points to a
    // valid timespec. The signal mask is null.
    match check_return(unsafe { libc::ppoll(start, N as libc::nfds_t, until, std::ptr::null()) }) {
        Err(error) if error.kind() != io::ErrorKind::Interrupted => Err(error),
        _ => Ok(polled.map(|one| one.revents != 0)),
    }
}

fn timespec(time: Duration) -> libc::timespec {
    let tv_sec = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
    libc::timespec { tv_sec, tv_nsec: libc::c_long::from(time.subsec_nanos()) }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::fd::AsFd as _;

    use super::*;

    #[test]
    fn reports_which_files_are_readable() {
        let (quiet, _held) = io::pipe().unwrap();
        let (full, mut writer) = io::pipe().unwrap();
        let none =
            wait_until_readable([quiet.as_fd(), full.as_fd()], Some(Duration::ZERO)).unwrap();
        assert_eq!(none, [false, false]);
        writer.write_all(b"x").unwrap();
        assert_eq!(
            wait_until_readable([quiet.as_fd(), full.as_fd()], None).unwrap(),
            [false, true]
        );
    }

    #[test]
    fn treats_end_of_file_as_readable() {
        let (reader, writer) = io::pipe().unwrap();
        drop(writer);
        assert_eq!(wait_until_readable([reader.as_fd()], None).unwrap(), [true]);
    }
}
