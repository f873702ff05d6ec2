//! Waiting for several files at once (ppoll(2)).

use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd};
use std::time::Duration;

use crate::check_return;

/// Waits until at least one of `files` is readable or has an error, for at most `most` or, if that
/// is `None`, without limit. Returns a flag for each file that is true if the file is ready. No
/// flag is set if the time has expired or a signal arrived.
///
/// # Errors
/// Returns an error if the kernel has no memory.
pub fn readable<const N: usize>(
    files: [BorrowedFd<'_>; N],
    most: Option<Duration>,
) -> io::Result<[bool; N]> {
    let mut polls =
        files.map(|file| libc::pollfd { fd: file.as_raw_fd(), events: libc::POLLIN, revents: 0 });
    let time = most.map(|most| libc::timespec {
        tv_sec: most.as_secs().min(i32::MAX as u64) as _,
        tv_nsec: most.subsec_nanos().into(),
    });
    let time = time.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    let start = polls.as_mut_ptr();
    // SAFETY: `start` points to N valid pollfds with open descriptors, which the call may write.
    // `time` is null or points to a valid timespec. The signal mask is null and is not read.
    let done = unsafe { libc::ppoll(start, N as libc::nfds_t, time, std::ptr::null()) };
    match check_return(done) {
        Err(error) if error.kind() != io::ErrorKind::Interrupted => Err(error),
        _ => Ok(polls.map(|poll| poll.revents != 0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;
    use std::os::fd::AsFd as _;
    use std::os::unix::net::UnixStream;

    #[test]
    fn reports_readable_files_and_honours_the_timeout() {
        let [one, other] = [UnixStream::pair().unwrap(), UnixStream::pair().unwrap()];
        let files = || [one.0.as_fd(), other.0.as_fd()];
        assert_eq!(readable(files(), Some(Duration::ZERO)).unwrap(), [false, false]);
        (&other.1).write_all(b"x").unwrap();
        assert_eq!(readable(files(), None).unwrap(), [false, true]);
    }
}
