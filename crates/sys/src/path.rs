//! What the kernel's TCP knows of a connection's path and of its handshake (tcp(7), TCP_INFO).
//!
//! With either driver this is a getsockopt call. The io_uring command for it
//! (SOCKET_URING_OP_GETSOCKOPT) supports only options of SOL_SOCKET and refuses those of TCP, up to
//! and including Linux 6.18.

use std::io;
use std::mem::size_of;
use std::os::fd::{AsRawFd, OwnedFd};

use crate::check_return;

/// The state of a connection in the kernel, from its beginning until the query. A value is absent
/// if the kernel is too old to report it or has no sample of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpPath {
    /// The smoothed round trip time, nanoseconds.
    pub rtt: Option<u64>,
    /// The minimum round trip time of the last minutes (net.ipv4.tcp_min_rtt_wlen), nanoseconds.
    pub min_rtt: Option<u64>,
    /// Retransmitted segments, including the SYN.
    pub retransmitted: u32,
    /// Segments that the peer reported as received twice (DSACK, RFC 2883). Since Linux 4.20.
    pub duplicates: Option<u32>,
    /// Segments that the peer acknowledged, including the SYN.
    pub delivered: Option<u32>,
    /// The maximum size of a sent segment, in bytes without headers.
    pub mss: u32,
}

/// The kernel's timing of a handshake that has just completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handshake {
    /// The time from the SYN to the SYN-ACK, nanoseconds. The resolution of the kernel is 1 us.
    Took(u64),
    /// The SYN was retransmitted. It is unknown which SYN was answered, so that the kernel takes no
    /// sample, or takes one from the timestamp in the answer that excludes the time before the
    /// retransmission (RFC 6298, section 3; RFC 7323, section 4.1).
    SentAgain,
    /// The kernel has no sample, or none of the handshake alone.
    Untimed,
}

/// The number of bytes of struct tcp_info to request: up to the last field used. The kernel may
/// return fewer and may have more.
const SIZE: usize = 220;

/// Offsets of the fields in struct tcp_info (linux/tcp.h), which grows only at its end.
const SND_MSS: usize = 16;
const RTT: usize = 68;
const TOTAL_RETRANS: usize = 100;
const BYTES_ACKED: usize = 120;
const MIN_RTT: usize = 148;
const DELIVERED: usize = 192;
const DSACK_DUPS: usize = 216;

/// Reads a connection's path. Returns `None` if the kernel does not report it.
pub(crate) fn read_path(fd: &OwnedFd) -> Option<TcpPath> {
    let mut bytes = [0; SIZE];
    let length = info(fd, &mut bytes).ok()?;
    parse_tcp_info(&bytes[..length.min(SIZE)])
}

/// Reads the duration of the handshake of a connection that is established and has sent nothing
/// yet.
pub(crate) fn handshake(fd: &OwnedFd) -> Handshake {
    let mut bytes = [0; SIZE];
    let known = info(fd, &mut bytes).ok().map(|length| &bytes[..length.min(SIZE)]);
    known.map_or(Handshake::Untimed, parse_handshake)
}

fn info(fd: &OwnedFd, bytes: &mut [u8; SIZE]) -> io::Result<usize> {
    let mut size = size_of::<[u8; SIZE]>() as libc::socklen_t;
    let start = bytes.as_mut_ptr().cast();
    let (level, name) = (libc::IPPROTO_TCP, libc::TCP_INFO);
    // SAFETY: `start` points to `size` writable bytes.
    check_return(unsafe { libc::getsockopt(fd.as_raw_fd(), level, name, start, &mut size) })?;
    Ok(size as usize)
}

/// Parses as much of a struct tcp_info as the kernel returned.
fn parse_tcp_info(info: &[u8]) -> Option<TcpPath> {
    let field = |at: usize| field(info, at);
    // Without a sample, one field is 0 and the other has all bits set.
    let nanos = |us: u32| (us != 0 && us != u32::MAX).then_some(u64::from(us) * 1_000);
    Some(TcpPath {
        rtt: field(RTT).and_then(nanos),
        min_rtt: field(MIN_RTT).and_then(nanos),
        retransmitted: field(TOTAL_RETRANS)?,
        duplicates: field(DSACK_DUPS),
        delivered: field(DELIVERED),
        mss: field(SND_MSS)?,
    })
}

/// Parses the duration of the handshake. The smoothed round trip time is that of the handshake as
/// long as nothing but the SYN has been acknowledged: the first sample sets it, and data that the
/// peer sends on its own adds none.
fn parse_handshake(info: &[u8]) -> Handshake {
    let acknowledged = info.get(BYTES_ACKED..BYTES_ACKED + 8);
    let acknowledged =
        acknowledged.and_then(|bytes| Some(u64::from_ne_bytes(bytes.try_into().ok()?)));
    match (field(info, TOTAL_RETRANS), field(info, RTT), acknowledged) {
        (Some(1..), ..) => Handshake::SentAgain,
        // The SYN counts as one byte.
        (Some(0), Some(us @ 1..), Some(0 | 1)) => Handshake::Took(u64::from(us) * 1_000),
        _ => Handshake::Untimed,
    }
}

/// Returns a field of four bytes, or `None` if the kernel did not return it.
fn field(info: &[u8], at: usize) -> Option<u32> {
    info.get(at..at + 4)?.try_into().ok().map(u32::from_ne_bytes)
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::{TcpListener, TcpStream};
    use std::time::{Duration, Instant};

    use super::*;

    fn of(fields: &[(usize, u32)], length: usize) -> Vec<u8> {
        let mut bytes = vec![0; SIZE];
        for (at, value) in fields {
            bytes[*at..at + 4].copy_from_slice(&value.to_ne_bytes());
        }
        bytes.truncate(length);
        bytes
    }

    const FULL: [(usize, u32); 6] = [
        (SND_MSS, 1_428),
        (RTT, 250),
        (TOTAL_RETRANS, 3),
        (MIN_RTT, 200),
        (DELIVERED, 17),
        (DSACK_DUPS, 2),
    ];

    #[test]
    fn reads_every_field_of_tcp_info() {
        let path = parse_tcp_info(&of(&FULL, SIZE)).unwrap();
        let (rtt, min_rtt) = (Some(250_000), Some(200_000));
        let counted = (path.retransmitted, path.duplicates, path.delivered, path.mss);
        assert_eq!((path.rtt, path.min_rtt), (rtt, min_rtt));
        assert_eq!(counted, (3, Some(2), Some(17), 1_428));
    }

    /// Linux 4.18 has delivered but no duplicates, 4.6 has min_rtt but not delivered, 3.15 has none
    /// of them.
    #[test]
    fn fields_that_older_kernels_lack_are_absent() {
        let path = parse_tcp_info(&of(&FULL, 196)).unwrap();
        assert_eq!((path.delivered, path.duplicates), (Some(17), None));
        let path = parse_tcp_info(&of(&FULL, 160)).unwrap();
        assert_eq!((path.min_rtt, path.delivered), (Some(200_000), None));
        let path = parse_tcp_info(&of(&FULL, 104)).unwrap();
        assert_eq!((path.rtt, path.min_rtt, path.retransmitted), (Some(250_000), None, 3));
        assert_eq!(parse_tcp_info(&of(&FULL, 60)), None);
    }

    #[test]
    fn takes_the_first_round_trip_as_the_handshake_time() {
        let handshake = |fields: &[_]| parse_handshake(&of(fields, SIZE));
        assert_eq!(handshake(&[(RTT, 7), (BYTES_ACKED, 1)]), Handshake::Took(7_000));
        assert_eq!(parse_handshake(&of(&[(RTT, 7)], 100)), Handshake::Untimed);
        assert_eq!(handshake(&[(RTT, 0), (BYTES_ACKED, 1)]), Handshake::Untimed);
    }

    #[test]
    fn does_not_time_the_handshake_once_data_was_acknowledged() {
        let bytes = of(&[(RTT, 7), (BYTES_ACKED, 2)], SIZE);
        assert_eq!(parse_handshake(&bytes), Handshake::Untimed);
    }

    #[test]
    fn does_not_time_a_handshake_with_a_retransmitted_syn() {
        let bytes = of(&[(RTT, 7), (BYTES_ACKED, 1), (TOTAL_RETRANS, 1)], SIZE);
        assert_eq!(parse_handshake(&bytes), Handshake::SentAgain);
    }

    /// A deadline that only a broken kernel reaches.
    const DEADLINE: Duration = Duration::from_secs(300);

    /// A peer that answers delays the acknowledgement of small segments by 40 ms. The kernel
    /// retransmits the last one much earlier, as a tail-loss probe (RFC 8985), or later, where the
    /// machine is slow. On loopback nothing is lost, so that the peer reports each retransmission as a
    /// duplicate, though perhaps only after the acknowledgement.
    #[test]
    fn reports_a_needless_retransmission_as_a_duplicate() {
        for host in ["[::1]:0", "127.0.0.1:0"] {
            let (mut client, mut server) = connected(host);
            let fd = OwnedFd::from(client.try_clone().unwrap());
            let begin = Instant::now();
            loop {
                exchange(&mut client, &mut server);
                let path = read_path(&fd).unwrap();
                let duplicates = path.duplicates.expect("this kernel counts duplicates");
                assert!(duplicates <= path.retransmitted, "{host}: {path:?}");
                if duplicates > 0 && duplicates == path.retransmitted {
                    break;
                }
                assert!(begin.elapsed() < DEADLINE, "{host}: {path:?}");
            }
        }
    }

    fn connected(host: &str) -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind(host).unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (server, _) = listener.accept().unwrap();
        let both = [&client, &server];
        both.iter().for_each(|stream| stream.set_nodelay(true).unwrap());
        (client, server)
    }

    /// Sends a byte in each direction, after which the server's kernel may delay acknowledgements,
    /// then two segments that are not answered before the last of them is acknowledged.
    fn exchange(client: &mut TcpStream, server: &mut TcpStream) {
        client.write_all(b"a").unwrap();
        server.read_exact(&mut [0]).unwrap();
        server.write_all(b"b").unwrap();
        client.read_exact(&mut [0]).unwrap();
        client.write_all(b"c").unwrap();
        client.write_all(b"d").unwrap();
        let fd = OwnedFd::from(client.try_clone().unwrap());
        let begin = Instant::now();
        while unacknowledged(&fd) > 0 {
            assert!(begin.elapsed() < DEADLINE, "the peer does not acknowledge");
            std::thread::yield_now();
        }
        server.read_exact(&mut [0; 2]).unwrap();
    }

    fn unacknowledged(fd: &OwnedFd) -> u32 {
        const UNACKED: usize = 24;
        let mut bytes = [0; SIZE];
        info(fd, &mut bytes).unwrap();
        field(&bytes, UNACKED).unwrap()
    }

    #[test]
    fn reports_no_round_trip_without_a_sample() {
        let path = parse_tcp_info(&of(&[(MIN_RTT, u32::MAX)], SIZE)).unwrap();
        assert_eq!((path.rtt, path.min_rtt), (None, None));
    }
}
