//! Waiting for epoll events, with a timeout in nanoseconds if the kernel supports it (Linux 5.11).

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use super::BATCH;

/// The kernel's struct __kernel_timespec: two fields of 64 bits on every architecture.
#[repr(C)]
struct KernelTimespec {
    seconds: i64,
    nanoseconds: i64,
}

/// Waits for up to `patience` nanoseconds and stores the events in `told`. Clears `precise` if the
/// kernel does not have epoll_pwait2 or a sandbox forbids it. Timeouts are then rounded up to
/// milliseconds.
pub(super) fn wait_for_events(
    epoll: &OwnedFd,
    told: &mut Vec<libc::epoll_event>,
    patience: u64,
    precise: &mut bool,
) {
    told.clear();
    told.reserve(BATCH);
    let mut count = -1;
    if *precise {
        count = wait_precisely(epoll, told, patience);
        if count < 0 {
            let errno = io::Error::last_os_error().raw_os_error();
            *precise = !matches!(errno, Some(libc::ENOSYS | libc::EPERM));
        }
    }
    if !*precise {
        count = wait_roughly(epoll, told, patience);
    }
    // SAFETY: the kernel has written `count` events, none if it was interrupted, and no more than
    // BATCH, for which space is reserved.
    unsafe { told.set_len(count.max(0) as usize) };
}

fn wait_precisely(
    epoll: &OwnedFd,
    told: &mut Vec<libc::epoll_event>,
    patience: u64,
) -> libc::c_long {
    let (fd, start, room) = (epoll.as_raw_fd(), told.as_mut_ptr(), BATCH as libc::c_int);
    let patience = KernelTimespec {
        seconds: (patience / 1_000_000_000) as i64,
        nanoseconds: (patience % 1_000_000_000) as i64,
    };
    let (timeout, no_mask) = (&raw const patience, std::ptr::null::<libc::sigset_t>());
    let (call, mask_size) = (libc::SYS_epoll_pwait2, 8usize);
    // SAFETY: `start` points to room for BATCH events and `timeout` to a time that the call reads.
    // The mask is null.
    unsafe { libc::syscall(call, fd, start, room, timeout, no_mask, mask_size) }
}

fn wait_roughly(epoll: &OwnedFd, told: &mut Vec<libc::epoll_event>, patience: u64) -> libc::c_long {
    let milliseconds = patience.div_ceil(1_000_000).min(i32::MAX as u64) as i32;
    let (start, room) = (told.as_mut_ptr(), BATCH as libc::c_int);
    // SAFETY: `start` points to room for BATCH events.
    unsafe { libc::epoll_wait(epoll.as_raw_fd(), start, room, milliseconds) }.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{check_return, clock};
    use std::os::fd::FromRawFd;

    #[test]
    fn a_wait_lasts_at_least_its_timeout_with_either_system_call() {
        // SAFETY: epoll_create1 takes no pointers.
        let fd = check_return(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) }).unwrap();
        // SAFETY: the kernel has just returned this descriptor and nothing else owns it.
        let epoll = unsafe { OwnedFd::from_raw_fd(fd) };
        for mut precise in [true, false] {
            for patience in [0, 1, 300_000, 2_000_001] {
                let (before, mut told) = (clock::now(), Vec::new());
                wait_for_events(&epoll, &mut told, patience, &mut precise);
                assert!(told.is_empty());
                assert!(clock::now() - before >= patience, "{precise} {patience}");
            }
        }
    }
}
