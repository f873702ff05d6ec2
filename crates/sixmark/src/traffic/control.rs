//! How two sixmarks agree on traffic: a line of JSON each way, over connections of their own.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use sixmark_core::family::Family;
use sixmark_core::traffic::{Flow, Protocol};

use super::Half;

/// Both sides have to say the same.
pub(super) const VERSION: u32 = 1;
/// How long the other side may take to answer.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);
/// The longest line: a report on ten thousand flows, each with its histograms.
const LONGEST: u64 = 256 << 20;

/// A port of a protocol and family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Door {
    pub(crate) protocol: Protocol,
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
pub(super) struct Line {
    reader: BufReader<TcpStream>,
}

impl Line {
    pub(super) fn new(stream: TcpStream) -> Line {
        // A line that waits for an acknowledgement helps nobody; nor does a peer that is long gone.
        let _ = stream.set_nodelay(true);
        let alive = socket2::TcpKeepalive::new().with_time(Duration::from_secs(10));
        let _ = socket2::SockRef::from(&stream).set_tcp_keepalive(&alive);
        Line { reader: BufReader::new(stream) }
    }

    pub(super) fn stream(&self) -> &TcpStream {
        self.reader.get_ref()
    }

    pub(super) fn say(&mut self, what: &impl Serialize) -> Result<(), String> {
        let mut text = serde_json::to_vec(what).map_err(|error| error.to_string())?;
        text.push(b'\n');
        self.reader.get_mut().write_all(&text).map_err(|error| error.to_string())
    }

    /// The next line; none at the end.
    pub(super) fn hear<T: DeserializeOwned>(&mut self) -> Result<Option<T>, String> {
        let mut text = Vec::new();
        let mut limited = (&mut self.reader).take(LONGEST);
        limited.read_until(b'\n', &mut text).map_err(|error| error.to_string())?;
        match text.last() {
            None => Ok(None),
            Some(b'\n') => serde_json::from_slice(&text).map(Some).map_err(|e| e.to_string()),
            Some(_) => Err("a line without an end".into()),
        }
    }
}

/// What tells one machine's clock from another's.
pub(super) fn clock() -> String {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    id.trim().to_owned()
}
