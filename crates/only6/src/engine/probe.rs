//! A request to a server under test, as a client without faults sends it.

use std::io::{self, Read as _, Write as _};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::app_start::{AskedHost, ProbeAnswer, ServerProbe, ServerWay};
use crate::content_literals::find_literals;

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(3);
/// How long an answer may take at least, and in multiples of the time of the slowest until then. The first one may
/// take as long as the server's start: many compile or load at the first request.
const ANSWER: (Duration, u32) = (Duration::from_secs(3), 3);
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
    let mut longest = patience;
    let mut slowest = Duration::ZERO;
    let mut answers = Vec::new();
    for probe in probes.iter().take_while(|_| !stop.load(Ordering::Relaxed)) {
        let begun = Instant::now();
        let answer = probe.send(longest, stop);
        if !matches!(answer.answer, ProbeAnswer::Silent | ProbeAnswer::NoAnswer) {
            slowest = slowest.max(begun.elapsed());
        }
        if !matches!(answer.answer, ProbeAnswer::Silent | ProbeAnswer::Refused) {
            longest = ANSWER.0.max(slowest * ANSWER.1);
        }
        answers.push(answer);
    }
    answers
}

impl Probe<'_> {
    /// Sends the request and reads the answer, which may take until `longest` is over.
    fn send(&self, longest: Duration, stop: &AtomicBool) -> ServerProbe {
        let (answer, bytes) = match self.exchange(longest, stop) {
            Ok((bytes, is_ended)) if bytes.is_empty() && !is_ended => {
                (ProbeAnswer::NoAnswer, bytes)
            }
            Ok((bytes, _)) => (parse_answer(&bytes), bytes),
            Err(error) => (failure(&error), Vec::new()),
        };
        // Who asks for an address gets one in the answer.
        let is_own = self.asked == AskedHost::Address;
        let literals = if is_own { Vec::new() } else { find_literals(&bytes) };
        ServerProbe { way: self.way, asked: self.asked, answer, literals }
    }

    /// Returns what was answered, and whether the server ended the connection.
    fn exchange(&self, longest: Duration, stop: &AtomicBool) -> io::Result<(Vec<u8>, bool)> {
        let mut stream = TcpStream::connect_timeout(&self.to, CONNECT)?;
        stream.set_write_timeout(Some(CONNECT))?;
        let request = format!(
            "GET {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: sixmark\r\nAccept: */*\r\nConnection: close\r\n\r\n",
            self.path,
            self.host_field()
        );
        // What fails after the connection is no answer of HTTP, and says so.
        let mut bytes = Vec::new();
        if stream.write_all(request.as_bytes()).is_err() {
            return Ok((bytes, true));
        }
        let until = Instant::now() + longest;
        let is_ended = read_answer(&mut stream, &mut bytes, until, stop);
        Ok((bytes, is_ended))
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

/// Reads an answer until it ends, is too long, or its time is over. Returns true if it ended.
fn read_answer(
    stream: &mut TcpStream,
    bytes: &mut Vec<u8>,
    until: Instant,
    stop: &AtomicBool,
) -> bool {
    let mut part = [0; 4_096];
    while (bytes.len() as u64) < MOST_BYTES {
        let left = until.saturating_duration_since(Instant::now()).min(LOOK);
        if left.is_zero() || stop.load(Ordering::Relaxed) {
            return false;
        }
        if stream.set_read_timeout(Some(left)).is_err() {
            return true;
        }
        match stream.read(&mut part) {
            Ok(length @ 1..) => bytes.extend_from_slice(&part[..length]),
            Err(error) if is_timeout(&error) => {}
            _ => return true,
        }
    }
    true
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
