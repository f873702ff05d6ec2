//! A request to a server under test, as a client without faults sends it.

use std::io::{self, Read as _, Write as _};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::app_start::{AskedHost, ProbeAnswer, ServerProbe, ServerWay};
use crate::content_literals::find_literals;

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(3);
/// How long the first byte of an answer may take at least, and in multiples of the time of the slowest until then. That
/// of the first answer may take as long as the server's start: many compile or load at the first request.
const ANSWER: (Duration, u32) = (Duration::from_secs(3), 3);
/// How long the rest of an answer may take: many servers keep the connection.
const REST: Duration = Duration::from_secs(3);
/// The interval between two looks at an interrupt.
const LOOK: Duration = Duration::from_millis(200);
/// The most bytes of an answer that are read.
const MOST_BYTES: u64 = 64 << 10;

/// A request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Probe<'a> {
    pub(super) way: ServerWay,
    pub(super) asked: AskedHost,
    pub(super) to: SocketAddr,
    /// The server's name.
    pub(super) name: &'a str,
    pub(super) path: &'a str,
}

/// Sends requests, one after another, in the host of the calling thread: the first may take as long as `patience`.
/// Ends early if `stop` is set.
pub(super) fn send_probes(
    probes: &[Probe<'_>],
    patience: Duration,
    stop: &AtomicBool,
) -> Vec<ServerProbe> {
    let most = patience.max(ANSWER.0);
    let mut longest = most;
    let mut slowest = Duration::ZERO;
    let mut answers = Vec::new();
    for probe in probes.iter().take_while(|_| !stop.load(Ordering::Relaxed)) {
        let (answer, first_byte) = probe.send(longest, stop);
        slowest = slowest.max(first_byte.unwrap_or_default());
        if first_byte.is_some() || answer.answer == ProbeAnswer::NoAnswer {
            longest = ANSWER.0.max(slowest * ANSWER.1).min(most);
        }
        answers.push(answer);
    }
    answers
}

impl Probe<'_> {
    /// Sends the request and reads the answer, whose first byte may take until `longest` is over. Returns how long
    /// it took too; `None` if there was none.
    fn send(&self, longest: Duration, stop: &AtomicBool) -> (ServerProbe, Option<Duration>) {
        let read = self.exchange(longest, stop);
        let first_byte = read.as_ref().ok().and_then(|of| of.first_byte);
        let (answer, bytes) = match read {
            Ok(of) if of.bytes.is_empty() && !of.is_ended => (ProbeAnswer::NoAnswer, of.bytes),
            Ok(of) => (parse_answer(&of.bytes), of.bytes),
            Err(error) => (failure(&error), Vec::new()),
        };
        // Who asks for an address gets one in the answer.
        let is_own = self.asked == AskedHost::Address;
        let literals = if is_own { Vec::new() } else { find_literals(&bytes) };
        (ServerProbe { way: self.way, asked: self.asked, answer, literals }, first_byte)
    }

    fn exchange(&self, longest: Duration, stop: &AtomicBool) -> io::Result<ReadAnswer> {
        let mut stream = TcpStream::connect_timeout(&self.to, CONNECT)?;
        stream.set_write_timeout(Some(CONNECT))?;
        let request = format!(
            "GET {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: sixmark\r\nAccept: */*\r\nConnection: close\r\n\r\n",
            self.path,
            self.host_field()
        );
        // What fails after the connection is no answer of HTTP, and says so.
        if stream.write_all(request.as_bytes()).is_err() {
            return Ok(ReadAnswer { is_ended: true, ..ReadAnswer::default() });
        }
        Ok(read_answer(&mut stream, longest, stop))
    }

    fn host_field(&self) -> String {
        let host = match (self.asked, self.to.ip()) {
            (AskedHost::Name, _) => self.name.to_owned(),
            (AskedHost::Address, IpAddr::V6(address)) => format!("[{address}]"),
            (AskedHost::Address, IpAddr::V4(address)) => address.to_string(),
        };
        match self.to.port() {
            80 => host,
            port => format!("{host}:{port}"),
        }
    }
}

/// What was read of an answer.
#[derive(Debug, Default)]
struct ReadAnswer {
    bytes: Vec<u8>,
    /// How long its first byte took.
    first_byte: Option<Duration>,
    /// True if the server ended the connection.
    is_ended: bool,
}

/// Reads an answer until it ends, is too long, or its time is over.
fn read_answer(stream: &mut TcpStream, longest: Duration, stop: &AtomicBool) -> ReadAnswer {
    let begun = Instant::now();
    let mut answer = ReadAnswer::default();
    let mut part = [0; 4_096];
    while (answer.bytes.len() as u64) < MOST_BYTES && !stop.load(Ordering::Relaxed) {
        let most = answer.first_byte.map_or(longest, |after| after + REST);
        let left = most.saturating_sub(begun.elapsed()).min(LOOK);
        if left.is_zero() || stream.set_read_timeout(Some(left)).is_err() {
            break;
        }
        match stream.read(&mut part) {
            Ok(length @ 1..) => {
                answer.first_byte.get_or_insert_with(|| begun.elapsed());
                answer.bytes.extend_from_slice(&part[..length]);
            }
            Err(error) if is_timeout(&error) => {}
            _ => {
                answer.is_ended = true;
                break;
            }
        }
    }
    answer
}

/// Returns true if a read ended without bytes while the connection stands.
fn is_timeout(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), Interrupted | TimedOut | WouldBlock)
}

fn parse_answer(bytes: &[u8]) -> ProbeAnswer {
    let status = || {
        let line = bytes.split(|of| *of == b'\r').next()?;
        let line = std::str::from_utf8(line).ok()?;
        let rest = line.strip_prefix("HTTP/1.")?;
        rest.split(' ').nth(1)?.parse::<u16>().ok().filter(|of| (100..=999).contains(of))
    };
    status().map_or(ProbeAnswer::NotHttp, ProbeAnswer::Status)
}

fn failure(error: &io::Error) -> ProbeAnswer {
    match error.kind() {
        io::ErrorKind::ConnectionRefused | io::ErrorKind::ConnectionReset => ProbeAnswer::Refused,
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => ProbeAnswer::Silent,
        _ => ProbeAnswer::Unreachable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_status_of_an_answer() {
        assert_eq!(parse_answer(b"HTTP/1.1 403 Forbidden\r\n\r\n"), ProbeAnswer::Status(403));
        for other in [&b""[..], b"-ERR unknown command\r\n", b"HTTP/1.1 9\r\n", b"\xff\xfe"] {
            assert_eq!(parse_answer(other), ProbeAnswer::NotHttp);
        }
    }
}
