//! How two sixmarks agree on traffic: a line of JSON each way, over connections of their own.

use std::io::{BufRead as _, BufReader, ErrorKind, Write as _};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use sixmark_model::traffic::{Flow, FlowProtocol};
use sixmark_units::family::Family;

use super::Half;

/// Both sides have to say the same.
pub(super) const VERSION: u32 = 1;
/// How long a side may take to connect its streams.
pub(super) const CONNECTING: Duration = Duration::from_secs(10);
/// How long it may take to answer, connecting included.
pub(super) const ANSWER: Duration = Duration::from_secs(15);
/// How often whoever waits for a line looks whether it should stop.
const GLANCE: Duration = Duration::from_millis(50);

/// What is read of a line at the most, and for how long.
#[derive(Clone, Copy, Debug)]
pub(super) struct LineBound<'a> {
    /// Bytes.
    pub(super) longest: usize,
    /// For the whole line; none is for ever.
    pub(super) within: Option<Duration>,
    /// Ends the wait.
    pub(super) stop: Option<&'a AtomicBool>,
}

impl LineBound<'_> {
    /// A hello, from whomever.
    pub(super) const HELLO: LineBound<'static> =
        LineBound { longest: 4 << 10, within: Some(Duration::from_secs(10)), stop: None };
    /// What a near side asks: at the most the flows that there may be.
    pub(super) const ASKS: LineBound<'static> =
        LineBound { longest: 16 << 20, within: None, stop: None };
    /// An answer: at the most a report on ten thousand flows, each with its histograms.
    pub(super) const ANSWERS: LineBound<'static> =
        LineBound { longest: 256 << 20, within: Some(ANSWER), stop: None };
}

/// A port of a protocol and family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Door {
    pub(crate) protocol: FlowProtocol,
    pub(crate) family: Family,
    pub(crate) port: u16,
}

/// What the near side says.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "say", rename_all = "lowercase")]
pub(super) enum Asks {
    /// First on each connection. Those of one session tell the addresses of the near side, one of each
    /// family, so that nobody can have traffic sent to somebody else.
    Hello { version: u32, session: u64 },
    /// What there will be; where the near side listens.
    Prepare { flows: Vec<Flow>, seed: u64, doors: Vec<Door> },
    /// Connect your streams.
    Connect,
    /// Begin to send.
    Go,
    /// Stop sending.
    Stop,
    /// Say what you heard.
    Report,
}

/// What the far side answers.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "say", rename_all = "lowercase")]
pub(super) enum Answers {
    /// To a hello; whose clock this is.
    Hello { version: u32, clock: String },
    /// Where the far side listens.
    Listening { doors: Vec<Door> },
    /// Done.
    Done,
    /// What it sent and heard.
    Report { half: Box<Half> },
    /// What can't be.
    Failed { why: String },
}

/// One end of a connection.
pub(super) struct ControlLine {
    reader: BufReader<TcpStream>,
}

impl ControlLine {
    pub(super) fn new(stream: TcpStream) -> ControlLine {
        // A line that waits for an acknowledgement helps nobody; nor does a peer that is long gone.
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
        self.reader.get_mut().write_all(&text).map_err(|error| match is_timeout(&error) {
            true => format!("it took nothing for {} s", ANSWER.as_secs()),
            false => error.to_string(),
        })
    }

    /// The next line; none at the end.
    pub(super) fn hear<T: DeserializeOwned>(
        &mut self,
        bound: &LineBound<'_>,
    ) -> Result<Option<T>, String> {
        let (began, mut text) = (Instant::now(), Vec::new());
        loop {
            match self.reader.fill_buf() {
                Ok([]) if text.is_empty() => return Ok(None),
                Ok([]) => return Err("a line without an end".into()),
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
                return Err("interrupted before it had answered".into());
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

/// What tells one machine's clock from another's.
pub(super) fn clock() -> String {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    id.trim().to_owned()
}
