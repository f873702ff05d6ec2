//! What TCP knows of a connection's path and of its handshake (tcp(7), TCP_INFO).
//!
//! A call of its own (getsockopt) with either driver: the ring's command for it
//! (SOCKET_URING_OP_GETSOCKOPT) takes options of SOL_SOCKET alone and refuses those of TCP, in Linux 6.18
//! as before.

use std::io;
use std::mem::size_of;
use std::os::fd::{AsRawFd, OwnedFd};

use crate::check_return;

/// A connection as the kernel saw it from its beginning until it was asked. What the kernel does
/// not tell, being too old or having had no occasion, is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpPath {
    /// The smoothed round trip time, nanoseconds.
    pub rtt: Option<u64>,
    /// The shortest round trip of the last minutes (net.ipv4.tcp_min_rtt_wlen), nanoseconds.
    pub min_rtt: Option<u64>,
    /// Segments sent again, the SYN included.
    pub retransmitted: u32,
    /// Segments that the peer reports to have received twice (DSACK, RFC 2883), since Linux 4.20.
    pub duplicates: Option<u32>,
    /// Segments that the peer acknowledged, the SYN included.
    pub delivered: Option<u32>,
    /// The largest segment that is sent, in bytes without headers.
    pub mss: u32,
}

/// What the kernel says of a handshake that is just over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handshake {
    /// From the SYN to the SYN-ACK, nanoseconds; the kernel tells whole microseconds.
    Took(u64),
    /// The SYN was sent again. There is no telling which of them was answered, so that the kernel
    /// takes no time, or one from its answer's timestamp that leaves out what was waited before (RFC
    /// 6298, section 3; RFC 7323, section 4.1).
    SentAgain,
    /// The kernel gives no time, or not of the handshake alone.
    Untimed,
}

/// Bytes of struct tcp_info that are asked for: up to the last field used. The kernel may know
/// more, or less.
const SIZE: usize = 220;

/// Where the fields are in struct tcp_info (linux/tcp.h), which only grows at its end.
const SND_MSS: usize = 16;
const RTT: usize = 68;
const TOTAL_RETRANS: usize = 100;
const BYTES_ACKED: usize = 120;
const MIN_RTT: usize = 148;
const DELIVERED: usize = 192;
const DSACK_DUPS: usize = 216;

/// Asks for a connection's path; none where the kernel would not tell.
pub(crate) fn read_path(fd: &OwnedFd) -> Option<TcpPath> {
    let mut bytes = [0; SIZE];
    let length = info(fd, &mut bytes).ok()?;
    parse_tcp_info(&bytes[..length.min(SIZE)])
}

/// Asks how long the handshake took of a connection that is established and has sent nothing yet.
pub(crate) fn handshake(fd: &OwnedFd) -> Handshake {
    let mut bytes = [0; SIZE];
    let known = info(fd, &mut bytes).ok().map(|length| &bytes[..length.min(SIZE)]);
    known.map_or(Handshake::Untimed, parse_handshake)
}

fn info(fd: &OwnedFd, bytes: &mut [u8; SIZE]) -> io::Result<usize> {
    let mut size = size_of::<[u8; SIZE]>() as libc::socklen_t;
    let start = bytes.as_mut_ptr().cast();
    let (level, name) = (libc::IPPROTO_TCP, libc::TCP_INFO);
    // SAFETY: `start` points at `size` bytes that we may write.
    check_return(unsafe { libc::getsockopt(fd.as_raw_fd(), level, name, start, &mut size) })?;
    Ok(size as usize)
}

/// The fields of as much of a struct tcp_info as the kernel gave.
fn parse_tcp_info(info: &[u8]) -> Option<TcpPath> {
    let field = |at: usize| field(info, at);
    // Without a sample the one is 0, the other all ones.
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

/// The smoothed round trip time is that of the handshake while nothing but the SYN has been
/// acknowledged: the first sample sets it, and what the peer sends by itself makes none.
fn parse_handshake(info: &[u8]) -> Handshake {
    let acknowledged = info.get(BYTES_ACKED..BYTES_ACKED + 8);
    let acknowledged =
        acknowledged.and_then(|bytes| Some(u64::from_ne_bytes(bytes.try_into().ok()?)));
    match (field(info, TOTAL_RETRANS), field(info, RTT), acknowledged) {
        (Some(1..), ..) => Handshake::SentAgain,
        // The SYN counts as a byte.
        (Some(0), Some(us @ 1..), Some(0 | 1)) => Handshake::Took(u64::from(us) * 1_000),
        _ => Handshake::Untimed,
    }
}

/// A field of four bytes, if the kernel gave it.
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
    fn every_field_is_read_from_its_place() {
        let path = parse_tcp_info(&of(&FULL, SIZE)).unwrap();
        let (rtt, min_rtt) = (Some(250_000), Some(200_000));
        let counted = (path.retransmitted, path.duplicates, path.delivered, path.mss);
        assert_eq!((path.rtt, path.min_rtt), (rtt, min_rtt));
        assert_eq!(counted, (3, Some(2), Some(17), 1_428));
    }

    /// Linux 4.6 had min_rtt and not yet delivered, 3.15 neither; 4.18 delivered and no duplicates.
    #[test]
    fn what_an_older_kernel_leaves_out_is_absent() {
        let path = parse_tcp_info(&of(&FULL, 196)).unwrap();
        assert_eq!((path.delivered, path.duplicates), (Some(17), None));
        let path = parse_tcp_info(&of(&FULL, 160)).unwrap();
        assert_eq!((path.min_rtt, path.delivered), (Some(200_000), None));
        let path = parse_tcp_info(&of(&FULL, 104)).unwrap();
        assert_eq!((path.rtt, path.min_rtt, path.retransmitted), (Some(250_000), None, 3));
        assert_eq!(parse_tcp_info(&of(&FULL, 60)), None);
    }

    #[test]
    fn the_first_round_trip_is_the_handshakes() {
        let handshake = |fields: &[_]| parse_handshake(&of(fields, SIZE));
        assert_eq!(handshake(&[(RTT, 7), (BYTES_ACKED, 1)]), Handshake::Took(7_000));
        assert_eq!(parse_handshake(&of(&[(RTT, 7)], 100)), Handshake::Untimed);
        assert_eq!(handshake(&[(RTT, 0), (BYTES_ACKED, 1)]), Handshake::Untimed);
    }

    #[test]
    fn a_round_trip_of_more_than_the_handshake_is_not_taken_for_it() {
        let bytes = of(&[(RTT, 7), (BYTES_ACKED, 2)], SIZE);
        assert_eq!(parse_handshake(&bytes), Handshake::Untimed);
    }

    #[test]
    fn a_syn_sent_again_has_no_time_whatever_the_kernel_says() {
        let bytes = of(&[(RTT, 7), (BYTES_ACKED, 1), (TOTAL_RETRANS, 1)], SIZE);
        assert_eq!(parse_handshake(&bytes), Handshake::SentAgain);
    }

    /// A peer that answers puts the acknowledgement of small segments off for 40 ms, and the kernel sends
    /// the last one again much earlier: a tail-loss probe (RFC 8985).
    #[test]
    fn a_probe_that_was_needless_is_reported_as_a_duplicate_and_nothing_was_lost() {
        for host in ["[::1]:0", "127.0.0.1:0"] {
            let (mut client, mut server) = connected(host);
            let fd = OwnedFd::from(client.try_clone().unwrap());
            let begin = Instant::now();
            let path = loop {
                exchange(&mut client, &mut server);
                let path = read_path(&fd).unwrap();
                if path.duplicates > Some(0) || begin.elapsed() > Duration::from_secs(30) {
                    break path;
                }
            };
            let duplicates = path.duplicates.expect("this kernel counts duplicates");
            assert!(duplicates > 0 && duplicates == path.retransmitted, "{host}: {path:?}");
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

    /// A byte there and back, which tells the server's kernel that it may put acknowledgements off; and
    /// two segments that are not answered until the last of them was acknowledged.
    fn exchange(client: &mut TcpStream, server: &mut TcpStream) {
        client.write_all(b"a").unwrap();
        server.read_exact(&mut [0]).unwrap();
        server.write_all(b"b").unwrap();
        client.read_exact(&mut [0]).unwrap();
        client.write_all(b"c").unwrap();
        client.write_all(b"d").unwrap();
        let fd = OwnedFd::from(client.try_clone().unwrap());
        let begin = Instant::now();
        while unacknowledged(&fd) > 0 && begin.elapsed() < Duration::from_secs(30) {
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
    fn no_sample_is_no_round_trip() {
        let path = parse_tcp_info(&of(&[(MIN_RTT, u32::MAX)], SIZE)).unwrap();
        assert_eq!((path.rtt, path.min_rtt), (None, None));
    }
}
