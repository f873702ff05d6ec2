//! Carrying DNS messages to a name server and back, over UDP and TCP (RFC 1035, 4.2).

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

/// The largest datagram that is read, bytes. Without EDNS a server sends at most 512.
const DATAGRAM: usize = 4096;
/// How often a datagram is sent before a server counts as silent: one may get lost.
const TRIES: u32 = 2;

/// Sends a query as a datagram and returns what `read` makes of its response. `None` if there is no
/// response in time: datagrams of which `read` makes nothing are ignored.
///
/// # Errors
/// The kernel's.
pub fn exchange_datagrams<T>(
    at: SocketAddr,
    query: &[u8],
    patience: Duration,
    read: impl Fn(&[u8]) -> Option<T>,
) -> io::Result<Option<T>> {
    let any: IpAddr = match at {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind((any, 0))?;
    // The kernel then drops what others send.
    socket.connect(at)?;
    let mut datagram = [0; DATAGRAM];
    for _ in 0..TRIES {
        socket.send(query)?;
        let until = Instant::now() + patience / TRIES;
        while let Some(left) = time_left(until) {
            socket.set_read_timeout(Some(left))?;
            let length = match socket.recv(&mut datagram) {
                Ok(length) => length,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            };
            if let Some(found) = read(&datagram[..length]) {
                return Ok(Some(found));
            }
        }
    }
    Ok(None)
}

/// Sends a query over TCP, where its length is in front, and returns what `read` makes of its response.
///
/// # Errors
/// The kernel's; no response in time; one of which `read` makes nothing.
pub fn exchange_over_tcp<T>(
    at: SocketAddr,
    query: &[u8],
    patience: Duration,
    read: impl Fn(&[u8]) -> Option<T>,
) -> io::Result<T> {
    let until = Instant::now() + patience;
    let late = || io::Error::from(ErrorKind::TimedOut);
    let mut stream = TcpStream::connect_timeout(&at, patience)?;
    stream.set_write_timeout(Some(patience))?;
    let length = (query.len() as u16).to_be_bytes();
    stream.write_all(&[&length, query].concat())?;
    let mut received = Vec::new();
    loop {
        let whole =
            received.first_chunk::<2>().map(|length| 2 + usize::from(u16::from_be_bytes(*length)));
        if let Some(message) = whole.and_then(|whole| received.get(2..whole)) {
            let odd = || io::Error::other("it answers another question");
            return read(message).ok_or_else(odd);
        }
        stream.set_read_timeout(Some(time_left(until).ok_or_else(late)?))?;
        let mut piece = [0; DATAGRAM];
        match stream.read(&mut piece) {
            Ok(0) => return Err(io::Error::other("the connection ends early")),
            Ok(length) => received.extend(&piece[..length]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Returns the time until `until`; `None` if it is over.
pub(crate) fn time_left(until: Instant) -> Option<Duration> {
    let left = until.saturating_duration_since(Instant::now());
    (!left.is_zero()).then_some(left)
}
