//! The kernel's timestamps of a socket (Documentation/networking/timestamping.rst).
//!
//! Received bytes carry the time at which the driver of the interface delivered their segment. A
//! receive returns the timestamp of the last segment from which it took bytes. When the last byte
//! of a send enters the packet scheduler, the kernel puts a timestamp into the socket's error
//! queue. Every interface supports this timestamp, unlike later ones, and a queue of this host
//! counts as part of the path.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use crate::control::Controls;
use crate::socket;

/// The requested timestamps. With OPT_ID_TCP (Linux 6.2) bytes are numbered from the moment the
/// option is set, regardless of bytes that are in flight at that time.
const FLAGS: u32 = libc::SOF_TIMESTAMPING_RX_SOFTWARE
    | libc::SOF_TIMESTAMPING_TX_SCHED
    | libc::SOF_TIMESTAMPING_SOFTWARE
    | libc::SOF_TIMESTAMPING_OPT_ID
    | libc::SOF_TIMESTAMPING_OPT_ID_TCP
    | libc::SOF_TIMESTAMPING_OPT_TSONLY;
/// The values of struct sock_extended_err: the origin for timestamps, and the type of scheduler
/// timestamps.
const ORIGIN: u8 = 4;
const SCHEDULED: u32 = 1;
/// Bytes for the control messages of a receive: a timestamp, an error and the address of its
/// origin.
const CONTROL: usize = 256;

/// The timestamp of sent bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Left {
    /// The number of the last byte of the send, counted from 0, modulo 2^32.
    pub(crate) byte: u32,
    /// The time at which it was sent, nanoseconds of CLOCK_REALTIME.
    pub(crate) at: u64,
}

/// Bytes for the timestamp of a receive alone.
const STAMP_CONTROL: usize = 64;

/// A buffer for control messages, aligned like a C long.
#[repr(C, align(8))]
struct Control<const N: usize>([u8; N]);

/// Enables timestamps. On a stream socket this must follow the call of connect.
pub(crate) fn enable(fd: &OwnedFd) -> io::Result<()> {
    socket::set_option(fd, libc::SOL_SOCKET, libc::SO_TIMESTAMPING, FLAGS as libc::c_int)
}

/// Enables timestamps of received bytes only.
pub(crate) fn enable_received(fd: &OwnedFd) -> io::Result<()> {
    let flags = libc::SOF_TIMESTAMPING_RX_SOFTWARE | libc::SOF_TIMESTAMPING_SOFTWARE;
    socket::set_option(fd, libc::SOL_SOCKET, libc::SO_TIMESTAMPING, flags as libc::c_int)
}

/// Receives into `buffer`. Returns the number of bytes and, if the kernel gave one, the timestamp
/// of the last byte in nanoseconds of CLOCK_REALTIME.
pub(crate) fn receive_stamped(fd: &OwnedFd, buffer: &mut [u8]) -> io::Result<(usize, Option<u64>)> {
    let mut control = Control([0; STAMP_CONTROL]);
    let (count, controls) = message(fd, Room::Buffer(buffer), &mut control, 0)?;
    Ok((count, stamp(controls)))
}

/// Returns the timestamp of the next byte to be received, which stays where it is. `None` if there is
/// no such timestamp, or at the end of the stream.
pub(crate) fn peek_stamp(fd: &OwnedFd) -> io::Result<Option<u64>> {
    let mut control = Control([0; STAMP_CONTROL]);
    let room = Room::Buffer(&mut [0]);
    let (_, controls) = message(fd, room, &mut control, libc::MSG_PEEK)?;
    Ok(stamp(controls))
}

/// Discards up to `most` received bytes without copying them. Returns the same as
/// [`receive_stamped`].
pub(crate) fn discard(fd: &OwnedFd, most: usize) -> io::Result<(usize, Option<u64>)> {
    let mut control = Control([0; CONTROL]);
    let (count, controls) = message(fd, Room::None(most), &mut control, libc::MSG_TRUNC)?;
    Ok((count, stamp(controls)))
}

/// Returns the next timestamp in the error queue, or `None` if the queue is empty.
pub(crate) fn left(fd: &OwnedFd) -> Option<Left> {
    loop {
        let mut control = Control([0; CONTROL]);
        match message(fd, Room::None(0), &mut control, libc::MSG_ERRQUEUE) {
            Ok((_, controls)) => {
                if let Some(left) = sent(controls) {
                    return Some(left);
                }
            }
            Err(error) if error.raw_os_error() == Some(libc::EINTR) => {}
            Err(_) => return None,
        }
    }
}

/// The destination of received bytes.
enum Room<'a> {
    Buffer(&'a mut [u8]),
    /// No buffer. The flags of the call must keep the kernel from writing the given number of
    /// bytes.
    None(usize),
}

/// Receives a message. Returns its length and its control messages.
fn message<'c, const N: usize>(
    fd: &OwnedFd,
    room: Room<'_>,
    control: &'c mut Control<N>,
    flags: libc::c_int,
) -> io::Result<(usize, &'c [u8])> {
    let mut part = match room {
        Room::Buffer(buffer) => {
            libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() }
        }
        Room::None(most) => libc::iovec { iov_base: std::ptr::null_mut(), iov_len: most },
    };
    // SAFETY: msghdr is a struct of integers and pointers, for which all zeros is a valid value.
    let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
    header.msg_iov = &raw mut part;
    header.msg_iovlen = 1;
    header.msg_control = control.0.as_mut_ptr().cast();
    header.msg_controllen = N as _;
    // SAFETY: `header` points to N bytes for control messages and to one part. The part is a
    // buffer of its length, or null. If it is null, its length is 0 or the flags keep TCP from
    // writing (MSG_TRUNC, tcp(7)). Everything lives until the call returns.
    let count = unsafe { libc::recvmsg(fd.as_raw_fd(), &mut header, flags) };
    let count = usize::try_from(count).map_err(|_| io::Error::last_os_error())?;
    Ok((count, &control.0[..(header.msg_controllen as usize).min(N)]))
}

/// Returns the timestamp among the control messages of a receive.
pub(crate) fn stamp(controls: &[u8]) -> Option<u64> {
    let is_stamp = |&(level, kind, _): &(i32, i32, &[u8])| {
        level == libc::SOL_SOCKET && kind == libc::SCM_TIMESTAMPING
    };
    let (_, _, data) = Controls(controls).find(is_stamp)?;
    nanos(data)
}

/// Returns the timestamp among the control messages of a message from the error queue.
fn sent(controls: &[u8]) -> Option<Left> {
    let at = stamp(controls)?;
    let is_error = |&(level, kind, _): &(i32, i32, &[u8])| {
        [(libc::SOL_IP, libc::IP_RECVERR), (libc::SOL_IPV6, libc::IPV6_RECVERR)]
            .contains(&(level, kind))
    };
    let (_, _, error) = Controls(controls).find(is_error)?;
    let word = |at: usize| Some(u32::from_ne_bytes(error.get(at..at + 4)?.try_into().ok()?));
    let ours = *error.get(4)? == ORIGIN && word(8)? == SCHEDULED;
    let byte = word(12)?;
    ours.then_some(Left { byte, at })
}

/// Returns the first of the three timespecs of struct scm_timestamping in nanoseconds, unless it is
/// 0.
pub(crate) fn nanos(data: &[u8]) -> Option<u64> {
    // The width of the numbers depends on the age of the system, not on this program.
    let half = data.len() / 6;
    let number = |at: usize| match data.get(at..at + half)? {
        &[a, b, c, d] => Some(u64::from(u32::from_ne_bytes([a, b, c, d]))),
        wide => Some(u64::from_ne_bytes(wide.try_into().ok()?)),
    };
    let nanos = number(0)?.checked_mul(1_000_000_000)?.checked_add(number(half)?)?;
    (nanos > 0).then_some(nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn control(level: i32, kind: i32, data: &[u8]) -> Vec<u8> {
        let length = size_of::<usize>() + 8 + data.len();
        let mut bytes = length.to_ne_bytes().to_vec();
        bytes.extend(level.to_ne_bytes());
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(data);
        bytes.resize(length.next_multiple_of(size_of::<usize>()), 0);
        bytes
    }

    fn stamped(seconds: libc::c_long, nanos: libc::c_long) -> Vec<u8> {
        let data: Vec<u8> =
            [seconds, nanos, 0, 0, 0, 0].iter().flat_map(|n| n.to_ne_bytes()).collect();
        control(libc::SOL_SOCKET, libc::SCM_TIMESTAMPING, &data)
    }

    fn error(origin: u8, info: u32, byte: u32) -> Vec<u8> {
        let mut data = vec![42, 0, 0, 0, origin, 0, 0, 0];
        data.extend(info.to_ne_bytes());
        data.extend(byte.to_ne_bytes());
        data.extend([0; 28]);
        data
    }

    #[test]
    fn a_stamp_is_found_among_other_control_messages() {
        let controls = [control(1, 2, b"other"), stamped(3, 7)].concat();
        assert_eq!(stamp(&controls), Some(3_000_000_007));
        assert_eq!(stamp(&control(1, 2, b"other")), None);
        assert_eq!(stamp(&stamped(0, 0)), None);
        assert_eq!(stamp(&stamped(3, 7)[..20]), None);
    }

    #[test]
    fn a_send_timestamp_names_the_last_byte_for_both_families() {
        for (level, kind) in
            [(libc::SOL_IP, libc::IP_RECVERR), (libc::SOL_IPV6, libc::IPV6_RECVERR)]
        {
            let with = |data: &[u8]| sent(&[stamped(1, 0), control(level, kind, data)].concat());
            let left = Left { byte: 41, at: 1_000_000_000 };
            assert_eq!(with(&error(ORIGIN, SCHEDULED, 41)), Some(left));
            assert_eq!(with(&error(ORIGIN, 2, 41)), None);
            assert_eq!(with(&error(1, SCHEDULED, 41)), None);
        }
    }
}
