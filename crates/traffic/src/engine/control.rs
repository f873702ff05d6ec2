//! The protocol between two sixmarks that agree on traffic: one line of JSON in each direction,
//! over separate connections.

use std::io::{BufRead as _, BufReader, ErrorKind, Write as _};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::{Flow, FlowProtocol};
use sixmark_units::family::Family;

use super::Half;

/// The version of the protocol, which must be the same on both sides.
pub(super) const VERSION: u32 = 1;
/// How long a side may take to connect its streams.
pub(super) const CONNECTING: Duration = Duration::from_secs(10);
/// How long a side may take to answer, including the time to connect.
pub(super) const ANSWER: Duration = Duration::from_secs(15);
/// The interval at which a reader of a line checks whether to stop.
const GLANCE: Duration = Duration::from_millis(50);

/// The limits of reading a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct LineBound<'a> {
    /// The longest line in bytes.
    pub(super) longest: usize,
    /// The time limit for the whole line; `None` means no limit.
    pub(super) within: Option<Duration>,
    /// A flag that ends the wait.
    pub(super) stop: Option<&'a AtomicBool>,
}

impl LineBound<'_> {
    /// The limits of a hello, which anyone may send.
    pub(super) const HELLO: LineBound<'static> =
        LineBound { longest: 4 << 10, within: Some(Duration::from_secs(10)), stop: None };
    /// The limits of a request of the near side: enough for the largest number of flows.
    pub(super) const ASKS: LineBound<'static> =
        LineBound { longest: 16 << 20, within: None, stop: None };
    /// The limits of an answer, at most a report on ten thousand flows, each with its histograms.
    pub(super) const ANSWERS: LineBound<'static> =
        LineBound { longest: 256 << 20, within: Some(ANSWER), stop: None };
}

/// A port that is open for a protocol and family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenPort {
    pub(crate) protocol: FlowProtocol,
    pub(crate) family: Family,
    pub(crate) port: u16,
}

/// A request of the near side.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "say", rename_all = "lowercase")]
pub(super) enum Asks {
    /// The first line of each connection. The connections of one session tell the far side the near
    /// side's addresses, one of each family, so that nobody can direct traffic to a third party.
    Hello { version: u32, session: u64 },
    /// Describes the flows, and the ports on which the near side listens.
    Prepare { flows: Vec<Flow>, seed: u64, doors: Vec<OpenPort> },
    /// Requests that the far side connects its streams.
    Connect,
    /// Requests that the far side starts sending.
    Go,
    /// Requests that the far side stops sending.
    Stop,
    /// Requests the far side's report.
    Report,
}

/// An answer of the far side.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "say", rename_all = "lowercase")]
pub(super) enum Answers {
    /// Answers a hello, with the identity of the far side's clock.
    Hello { version: u32, clock: String },
    /// The ports on which the far side listens.
    Listening { doors: Vec<OpenPort> },
    /// The request was carried out.
    Done,
    /// What the far side sent and received.
    Report { half: Box<Half> },
    /// The request failed.
    Failed { why: String },
}

/// One end of a control connection.
pub(super) struct ControlLine {
    reader: BufReader<TcpStream>,
}

impl ControlLine {
    pub(super) fn new(stream: TcpStream) -> ControlLine {
        // Lines must not wait for acknowledgements (Nagle's algorithm), and a peer that has
        // disappeared must be detected.
        let _ = stream.set_nodelay(true);
        let alive = socket2::TcpKeepalive::new().with_time(Duration::from_secs(10));
        let _ = socket2::SockRef::from(&stream).set_tcp_keepalive(&alive);
        let _ = stream.set_write_timeout(Some(ANSWER));
        let _ = stream.set_read_timeout(Some(GLANCE));
        ControlLine { reader: BufReader::new(stream) }
    }

    pub(super) fn stream(&self) -> &TcpStream {
        self.reader.get_ref()
    }

    pub(super) fn say(&mut self, what: &impl Serialize) -> Result<(), String> {
        let mut text = serde_json::to_vec(what).map_err(|error| error.to_string())?;
        text.push(b'\n');
        self.reader.get_mut().write_all(&text).map_err(|error| {
            if is_timeout(&error) {
                format!("it accepted no data for {} s", ANSWER.as_secs())
            } else {
                error.to_string()
            }
        })
    }

    /// Reads the next line. Returns `None` at the end of the connection.
    pub(super) fn hear<T: DeserializeOwned>(
        &mut self,
        bound: &LineBound<'_>,
    ) -> Result<Option<T>, String> {
        let (began, mut text) = (Instant::now(), Vec::new());
        loop {
            match self.reader.fill_buf() {
                Ok([]) if text.is_empty() => return Ok(None),
                Ok([]) => return Err("an unterminated line".into()),
                Ok(bytes) => {
                    let end = bytes.iter().position(|&byte| byte == b'\n');
                    let taken = end.map_or(bytes.len(), |at| at + 1);
                    if text.len() + taken > bound.longest {
                        return Err(format!("a line of more than {} bytes", bound.longest));
                    }
                    text.extend_from_slice(&bytes[..taken]);
                    self.reader.consume(taken);
                    if end.is_some() {
                        return serde_json::from_slice(&text).map(Some).map_err(|e| e.to_string());
                    }
                }
                Err(error) if error.kind() == ErrorKind::Interrupted || is_timeout(&error) => {}
                Err(error) => return Err(error.to_string()),
            }
            if bound.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
                return Err("interrupted before it answered".into());
            }
            if let Some(within) = bound.within.filter(|within| began.elapsed() >= *within) {
                return Err(format!("no answer within {} s", within.as_secs()));
            }
        }
    }
}

fn is_timeout(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

/// Returns the identity of this machine's clock: the id of its boot.
pub(super) fn clock() -> String {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    id.trim().to_owned()
}
