//! The kernel's timestamps of a socket (Documentation/networking/timestamping.rst).
//!
//! Received bytes carry the time at which the driver of the interface handed over their segment; a
//! receive tells that of the last segment it took bytes of. Sent bytes leave a stamp in the
//! socket's error queue when the last one of a send enters the packet scheduler: every interface
//! has that stamp, unlike later ones, and a queue of this host counts as part of the way.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use crate::control::Controls;
use crate::socket;

/// What is asked for. OPT_ID_TCP (Linux 6.2) counts bytes from the option's setting, whatever is
/// on its way by then.
const FLAGS: u32 = libc::SOF_TIMESTAMPING_RX_SOFTWARE
    | libc::SOF_TIMESTAMPING_TX_SCHED
    | libc::SOF_TIMESTAMPING_SOFTWARE
    | libc::SOF_TIMESTAMPING_OPT_ID
    | libc::SOF_TIMESTAMPING_OPT_ID_TCP
    | libc::SOF_TIMESTAMPING_OPT_TSONLY;
/// struct sock_extended_err's origin of timestamps, and its kind of those of the scheduler.
const ORIGIN: u8 = 4;
const SCHEDULED: u32 = 1;
/// Room for the control messages of a receive: a stamp, an error and its offender's address.
const CONTROL: usize = 256;

/// A stamp of sent bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Left {
    /// The number of the send's last byte, from 0, modulo 2^32.
    pub(crate) byte: u32,
    /// When it left, nanoseconds of CLOCK_REALTIME.
    pub(crate) at: u64,
}

/// Control messages begin where a C long may.
#[repr(C, align(8))]
struct Control([u8; CONTROL]);

/// Asks for stamps; on a stream socket only once its connect was called.
pub(crate) fn enable(fd: &OwnedFd) -> io::Result<()> {
    socket::set_option(fd, libc::SOL_SOCKET, libc::SO_TIMESTAMPING, FLAGS as libc::c_int)
}

/// Asks for stamps of what is received alone.
pub(crate) fn enable_received(fd: &OwnedFd) -> io::Result<()> {
    let flags = libc::SOF_TIMESTAMPING_RX_SOFTWARE | libc::SOF_TIMESTAMPING_SOFTWARE;
    socket::set_option(fd, libc::SOL_SOCKET, libc::SO_TIMESTAMPING, flags as libc::c_int)
}

/// Receives into `buffer`: how many bytes, and the stamp of the last in nanoseconds of
/// CLOCK_REALTIME where there is one.
pub(crate) fn receive_stamped(fd: &OwnedFd, buffer: &mut [u8]) -> io::Result<(usize, Option<u64>)> {
    let mut control = Control([0; CONTROL]);
    let (count, controls) = message(fd, Room::Buffer(buffer), &mut control, 0)?;
    Ok((count, stamp(controls)))
}

/// Drops up to `most` received bytes without copying them; as [`receive`] otherwise.
pub(crate) fn discard(fd: &OwnedFd, most: usize) -> io::Result<(usize, Option<u64>)> {
    let mut control = Control([0; CONTROL]);
    let (count, controls) = message(fd, Room::None(most), &mut control, libc::MSG_TRUNC)?;
    Ok((count, stamp(controls)))
}

/// The next stamp in the error queue; none where there is no more.
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

/// Where received bytes go.
enum Room<'a> {
    Buffer(&'a mut [u8]),
    /// Nowhere; the kernel must have been told to write none of so many.
    None(usize),
}

/// Receives a message: its length and its control messages.
fn message<'c>(
    fd: &OwnedFd,
    room: Room<'_>,
    control: &'c mut Control,
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
    header.msg_controllen = CONTROL as _;
    // SAFETY: `header` points at CONTROL bytes for control messages and at one part, which is a
    // buffer of its length or no buffer; then the caller's flags keep TCP from writing (MSG_TRUNC,
    // tcp(7)), or its length is 0. All of them live until the call returns.
    let count = unsafe { libc::recvmsg(fd.as_raw_fd(), &mut header, flags) };
    let count = usize::try_from(count).map_err(|_| io::Error::last_os_error())?;
    Ok((count, &control.0[..(header.msg_controllen as usize).min(CONTROL)]))
}

/// The stamp among a receive's control messages.
fn stamp(controls: &[u8]) -> Option<u64> {
    let is_stamp = |&(level, kind, _): &(i32, i32, &[u8])| {
        level == libc::SOL_SOCKET && kind == libc::SCM_TIMESTAMPING
    };
    let (_, _, data) = Controls(controls).find(is_stamp)?;
    nanos(data)
}

/// The stamp among those of a message from the error queue.
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

/// The first of the three timespecs of struct scm_timestamping, unless it is 0.
pub(crate) fn nanos(data: &[u8]) -> Option<u64> {
    // Of which width the numbers are depends on the system's age, not on ours.
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
    fn a_sends_stamp_names_its_last_byte_whatever_the_family() {
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
