//! Connected datagram sockets (udp(7)): their options, and batches of sends and receives. All
//! drivers share this code.
//!
//! Datagrams are sent by plain system calls, with io_uring too. The kernel splits one large buffer
//! into datagrams (GSO), so that there are few calls. Even single datagrams, alone or eight at
//! once, cost no less with io_uring (1.0 to 1.5 us of processor time over loopback, against 0.9 to
//! 1.2 us with plain calls). A plain call also copies the bytes, so that no buffer has to be kept
//! until a completion.

use std::io;
use std::mem::size_of;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd as _, OwnedFd};

use libc::{c_int, c_void, socklen_t};

use super::errno::errno_of;
use crate::control::{Controls, Writer};
use crate::{check_return, socket, stamp};

/// The options of UDP (linux/udp.h) that split sent buffers and merge received datagrams.
const UDP_SEGMENT: c_int = 103;
const UDP_GRO: c_int = 104;
/// The maximum number of datagrams that older kernels split from one buffer.
const PIECES: usize = 64;
/// The maximum payload of one buffer, which has an IPv4 and a UDP header like any datagram.
const LARGEST: usize = 65_535 - 20 - 8;
/// The requested size of the receive buffer in bytes, which net.core.rmem_max may limit. A peer may
/// send its whole congestion window at once while this thread serves other connections. Datagrams
/// that do not fit are lost, which looks like a loss on the path. The size is a limit and not an
/// allocation: many connections with little queued data use little memory.
const RECEIVE: c_int = 4 * 1024 * 1024;
/// The requested size of the send buffer in bytes, which net.core.wmem_max may limit: several of
/// the largest buffers. With more, data would only queue here and not where congestion control sees
/// it.
const SEND: c_int = 1024 * 1024;
/// Bytes for the control messages of a receive: a timestamp, the segment size, the ECN bits.
pub(super) const CONTROL: usize = 128;
/// The size of a receive buffer in bytes.
pub(super) const ROOM: usize = 64 * 1024;
/// The mask of the ECN bits in a traffic class (RFC 3168).
const ECN: u8 = 3;

/// The datagrams of one receive: `length` bytes in datagrams of `segment` bytes each, of which the
/// last may be shorter, all with the same ECN bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Received {
    pub(super) length: usize,
    pub(super) segment: usize,
    pub(super) ecn: u8,
    /// The time of arrival in nanoseconds of CLOCK_REALTIME, if timestamps are enabled.
    pub(super) stamp: Option<u64>,
}

/// The state of a datagram socket.
pub(super) struct Datagrams {
    v6: bool,
    /// The ECN bits that the socket marks its datagrams with.
    ecn: u8,
    /// The kernel or the interface does not split buffers.
    uncut: bool,
    /// Datagrams for which the socket's send buffer had no room.
    kept: Option<Cast>,
}

/// Datagrams of which the first `from` bytes have been sent.
struct Cast {
    bytes: Vec<u8>,
    from: usize,
    segment: usize,
    ecn: u8,
}

/// Sets the options of a socket that will be connected to `to`.
pub(super) fn prepare(fd: &OwnedFd, to: &SocketAddr) -> io::Result<()> {
    use libc::{IPPROTO_IP as IP, IPPROTO_IPV6 as IPV6, SOL_SOCKET, SOL_UDP};
    socket::set_option(fd, SOL_SOCKET, libc::SO_RCVBUF, RECEIVE)?;
    socket::set_option(fd, SOL_SOCKET, libc::SO_SNDBUF, SEND)?;
    // PROBE: the kernel does not fragment, and the caller discovers the path MTU.
    if to.is_ipv6() {
        socket::set_option(fd, IPV6, libc::IPV6_MTU_DISCOVER, libc::IPV6_PMTUDISC_PROBE)?;
        socket::set_option(fd, IPV6, libc::IPV6_RECVTCLASS, 1)?;
    } else {
        socket::set_option(fd, IP, libc::IP_MTU_DISCOVER, libc::IP_PMTUDISC_PROBE)?;
        socket::set_option(fd, IP, libc::IP_RECVTOS, 1)?;
    }
    // A kernel without this option (before Linux 5.0) returns each datagram by itself.
    let _ = socket::set_option(fd, SOL_UDP, UDP_GRO, 1);
    Ok(())
}

/// Describes the datagrams of a receive by its length and its control messages.
pub(super) fn received(length: usize, controls: &[u8]) -> Received {
    // `segment` is never 0, because callers divide by it.
    let mut received = Received { length, segment: length.max(1), ecn: 0, stamp: None };
    for (level, kind, data) in Controls(controls) {
        match (level, kind) {
            (libc::SOL_UDP, UDP_GRO) => {
                // The value is an int, as the values of options are.
                let size = data.first_chunk().map_or(0, |&size| i32::from_ne_bytes(size));
                let cut = usize::try_from(size).ok().filter(|&size| size > 0);
                received.segment = cut.unwrap_or(received.segment);
            }
            (libc::IPPROTO_IP, libc::IP_TOS) => {
                received.ecn = data.first().map_or(0, |class| class & ECN);
            }
            (libc::IPPROTO_IPV6, libc::IPV6_TCLASS) => {
                let class = data.first_chunk().map_or(0, |&class| i32::from_ne_bytes(class));
                received.ecn = class as u8 & ECN;
            }
            (libc::SOL_SOCKET, libc::SCM_TIMESTAMPING) => received.stamp = stamp::nanos(data),
            _ => {}
        }
    }
    received
}

/// Returns true if an error is transient: a single datagram exceeded the MTU of some link, or there
/// was no buffer space.
pub(super) fn passes(errno: i32) -> bool {
    [libc::EMSGSIZE, libc::EAGAIN, libc::EINTR, libc::ENOBUFS].contains(&errno)
}

/// Returns the number of datagrams for which the receive buffer had no room (SO_MEMINFO).
pub(crate) fn drops(fd: &OwnedFd) -> u64 {
    const COUNT: usize = libc::SK_MEMINFO_DROPS as usize + 1;
    let (mut values, mut size) = ([0_u32; COUNT], size_of::<[u32; COUNT]>() as socklen_t);
    let (start, name) = (values.as_mut_ptr().cast::<c_void>(), libc::SO_MEMINFO);
    // SAFETY: `start` points to `size` writable bytes.
    let done =
        unsafe { libc::getsockopt(fd.as_raw_fd(), libc::SOL_SOCKET, name, start, &mut size) };
    // A value that the kernel does not return stays 0.
    check_return(done).map_or(0, |_| values[COUNT - 1].into())
}

impl Datagrams {
    pub(super) fn new(to: &SocketAddr) -> Datagrams {
        Datagrams { v6: to.is_ipv6(), ecn: 0, uncut: false, kept: None }
    }

    /// Returns the kernel's path MTU, headers included.
    pub(super) fn mtu(&self, fd: &OwnedFd) -> Option<u32> {
        let mtu = if self.v6 {
            socket::option(fd, libc::IPPROTO_IPV6, libc::IPV6_MTU)
        } else {
            socket::option(fd, libc::IPPROTO_IP, libc::IP_MTU)
        };
        mtu.ok().and_then(|mtu| u32::try_from(mtu).ok())
    }

    /// Sends `bytes` as datagrams of `segment` bytes, or as a single one. Returns true if the
    /// kernel has accepted all of them. The rest is kept for [`Datagrams::go_on`].
    pub(super) fn cast(
        &mut self,
        fd: &OwnedFd,
        bytes: &[u8],
        segment: Option<usize>,
        ecn: u8,
    ) -> Result<bool, i32> {
        let segment = segment.filter(|&size| size > 0).unwrap_or(bytes.len());
        let from = self.hand(fd, bytes, segment, ecn)?;
        if let Some(from) = from {
            self.kept = Some(Cast { bytes: bytes.to_vec(), from, segment, ecn });
        }
        Ok(from.is_none())
    }

    /// Sends what was kept. Returns true if the kernel has now accepted all of it.
    pub(super) fn go_on(&mut self, fd: &OwnedFd) -> Result<bool, i32> {
        let Some(mut cast) = self.kept.take() else { return Ok(true) };
        match self.hand(fd, &cast.bytes[cast.from..], cast.segment, cast.ecn)? {
            None => Ok(true),
            Some(sent) => {
                cast.from += sent;
                self.kept = Some(cast);
                Ok(false)
            }
        }
    }

    /// Returns true if datagrams are kept.
    pub(super) fn keeps(&self) -> bool {
        self.kept.is_some()
    }

    /// Sends datagrams until the socket's buffer is full. Returns the number of bytes sent by then,
    /// or `None` if all were sent.
    fn hand(
        &mut self,
        fd: &OwnedFd,
        bytes: &[u8],
        segment: usize,
        ecn: u8,
    ) -> Result<Option<usize>, i32> {
        self.mark(fd, ecn)?;
        let mut from = 0;
        // The loop runs at least once, because a datagram may be empty.
        loop {
            let left = &bytes[from..];
            let piece = &left[..left.len().min(self.most_at_once(segment))];
            match self.send(fd, piece, segment) {
                Ok(sent) => from += sent,
                Err(libc::EINTR) => continue,
                Err(libc::EAGAIN) => return Ok(Some(from)),
                Err(errno) => return Err(errno),
            }
            if from == bytes.len() {
                return Ok(None);
            }
        }
    }

    /// Returns the maximum number of bytes that one call sends.
    fn most_at_once(&self, segment: usize) -> usize {
        let pieces = if self.uncut { 1 } else { (LARGEST / segment.max(1)).clamp(1, PIECES) };
        pieces * segment
    }

    /// Sends one buffer. Returns the number of bytes that need not be sent again.
    fn send(&mut self, fd: &OwnedFd, piece: &[u8], segment: usize) -> Result<usize, i32> {
        let cut = piece.len() > segment;
        match send_once(fd, piece, cut.then_some(segment)) {
            Err(errno @ (libc::EIO | libc::EINVAL | libc::EMSGSIZE | libc::EOPNOTSUPP)) if cut => {
                let refused = errno != libc::EMSGSIZE;
                self.send_uncut(fd, &piece[..segment], refused)
            }
            // The datagram exceeds the MTU of the interface or the path: it is lost, as it would be
            // later.
            Err(libc::EMSGSIZE | libc::ENOBUFS) => Ok(piece.len()),
            done => done.map(|()| piece.len()),
        }
    }

    /// Sends the first datagram of a buffer that the kernel rejected. If this succeeds, the size of
    /// the datagram was not the reason. Then, if `refused`, the kernel does not split, and no
    /// buffer is split from now on.
    fn send_uncut(&mut self, fd: &OwnedFd, datagram: &[u8], refused: bool) -> Result<usize, i32> {
        match send_once(fd, datagram, None) {
            Err(libc::EMSGSIZE | libc::ENOBUFS) => {}
            done => {
                done?;
                self.uncut |= refused;
            }
        }
        Ok(datagram.len())
    }

    /// Sets the ECN bits of the datagrams to be sent. They rarely change, and an option costs less
    /// than a control message with every send: over IPv6, the kernel would look up the route again
    /// for each message that has one.
    fn mark(&mut self, fd: &OwnedFd, ecn: u8) -> Result<(), i32> {
        let ecn = ecn & ECN;
        if self.ecn == ecn {
            return Ok(());
        }
        let (level, name) = if self.v6 {
            (libc::IPPROTO_IPV6, libc::IPV6_TCLASS)
        } else {
            (libc::IPPROTO_IP, libc::IP_TOS)
        };
        socket::set_option(fd, level, name, ecn.into()).map_err(|error| errno_of(&error))?;
        self.ecn = ecn;
        Ok(())
    }
}

/// Sends bytes as one datagram, or as several of `segment` bytes.
fn send_once(fd: &OwnedFd, bytes: &[u8], segment: Option<usize>) -> Result<(), i32> {
    let (fd, start) = (fd.as_raw_fd(), bytes.as_ptr().cast_mut().cast());
    let Some(segment) = segment else {
        // SAFETY: `start` points to that many readable bytes.
        let count = unsafe { libc::send(fd, start, bytes.len(), libc::MSG_NOSIGNAL) };
        return check_sent(count);
    };
    let mut control = Writer::<CONTROL>::new();
    control.add(libc::SOL_UDP, UDP_SEGMENT, &(segment as u16).to_ne_bytes());
    let control = control.bytes();
    let mut part = libc::iovec { iov_base: start, iov_len: bytes.len() };
    // SAFETY: msghdr is a struct of integers and pointers, for which all zeros is a valid value.
    let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
    header.msg_iov = &raw mut part;
    header.msg_iovlen = 1;
    header.msg_control = control.as_mut_ptr().cast();
    header.msg_controllen = control.len() as _;
    // SAFETY: `header` points to readable bytes and to control messages that live until the call
    // returns. sendmsg writes to neither.
    check_sent(unsafe { libc::sendmsg(fd, &header, libc::MSG_NOSIGNAL) })
}

fn check_sent(count: isize) -> Result<(), i32> {
    match count {
        0.. => Ok(()),
        _ => Err(errno_of(&io::Error::last_os_error())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::datagram_batch::DatagramBatch;

    fn controls(of: &[(i32, i32, &[u8])]) -> Received {
        let mut writer = Writer::<CONTROL>::new();
        of.iter().for_each(|(level, kind, data)| writer.add(*level, *kind, data));
        received(3_000, writer.bytes())
    }

    #[test]
    fn treats_a_message_without_a_valid_gro_size_as_one_datagram() {
        assert_eq!(controls(&[]), Received { length: 3_000, segment: 3_000, ecn: 0, stamp: None });
        let size = 1_200_i32.to_ne_bytes();
        assert_eq!(controls(&[(libc::SOL_UDP, UDP_GRO, &size)]).segment, 1_200);
        for nonsense in [0_i32, -1] {
            let size = nonsense.to_ne_bytes();
            assert_eq!(controls(&[(libc::SOL_UDP, UDP_GRO, &size)]).segment, 3_000);
        }
        assert_eq!(controls(&[(libc::SOL_UDP, UDP_GRO, &[1])]).segment, 3_000);
        assert_eq!(received(0, &[]).segment, 1);
    }

    #[test]
    fn reads_only_the_ecn_bits_of_a_traffic_class() {
        let class = 0xbb_i32.to_ne_bytes();
        assert_eq!(controls(&[(libc::IPPROTO_IPV6, libc::IPV6_TCLASS, &class)]).ecn, 3);
        assert_eq!(controls(&[(libc::IPPROTO_IP, libc::IP_TOS, &[0xba])]).ecn, 2);
        assert_eq!(controls(&[(libc::IPPROTO_IP, libc::IP_TOS, &[])]).ecn, 0);
    }

    #[test]
    fn sends_kept_datagrams_in_order_once_there_is_room() {
        let loopback: [SocketAddr; 2] = [([127, 0, 0, 1], 0).into(), "[::1]:0".parse().unwrap()];
        for to in loopback {
            let peer = socket::open_socket(&to, libc::SOCK_DGRAM).unwrap();
            prepare(&peer, &to).unwrap();
            socket::bind_socket(&peer, &to).unwrap();
            let fd = socket::open_socket(&to, libc::SOCK_DGRAM).unwrap();
            socket::connect(&fd, &socket::local(&peer).unwrap()).unwrap();
            let mut batch = DatagramBatch::new();
            let bytes: Vec<u8> = (0..10_000).map(|at| at as u8).collect();
            for uncut in [false, true] {
                let kept = Some(Cast { bytes: bytes.clone(), from: 2_000, segment: 1_000, ecn: 1 });
                let mut datagrams = Datagrams { v6: to.is_ipv6(), ecn: 0, uncut, kept };
                assert_eq!(datagrams.go_on(&fd), Ok(true));
                assert!(!datagrams.keeps());
                let mut got = Vec::new();
                while got.len() < 8_000 {
                    assert!(!batch.receive(&peer).unwrap());
                    while let Some(came) = batch.next() {
                        assert_eq!((came.segment, came.ecn), (1_000, 1));
                        got.extend_from_slice(batch.bytes());
                    }
                }
                assert_eq!(got, bytes[2_000..]);
            }
        }
    }

    #[test]
    fn limits_one_send_to_the_largest_packet_and_segment_count() {
        let to = SocketAddr::from(([127, 0, 0, 1], 1));
        let mut datagrams = Datagrams::new(&to);
        assert_eq!(datagrams.most_at_once(1_200), 54 * 1_200);
        assert_eq!(datagrams.most_at_once(100), 64 * 100);
        assert_eq!(datagrams.most_at_once(65_000), 65_000);
        assert_eq!(datagrams.most_at_once(70_000), 70_000);
        datagrams.uncut = true;
        assert_eq!(datagrams.most_at_once(1_200), 1_200);
    }
}
