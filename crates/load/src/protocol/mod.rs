//! What is spoken on a connection, as a worker sees it.
//!
//! A worker knows two kinds of protocols. On a connection of a *serial* one an exchange follows the
//! other, on one of a *multiplexed* one several are under way at once, each on its stream. Which version
//! of HTTP it is, and how its machine is asked, only the files here know: one for each.

mod http1;
mod http2;
mod http3;
mod multiplexer;
mod streams;

use sixmark_http::HttpVersion;
use sixmark_http::http1::KnownHead;
// What a response came to and who sees it, in whichever protocol.
pub(super) use sixmark_http::http1::{Complete, ResponseVisitor};
use sixmark_http::http3::Heads;
use sixmark_record::plan::http::Http;

use super::exchange::Permit;
use super::quic::QuicLink;
use super::send_buffer::SendBuffer;
use crate::tls::{Failure, Room};
pub(super) use http1::Http1;
pub(super) use streams::Streams;

/// The state of a connection's protocol.
#[derive(Debug)]
pub(super) enum Protocol {
    /// One exchange after the other.
    Serial(Http1),
    /// Several exchanges at once.
    Multiplexed(Streams),
}

/// What the machines of one worker remember together, since peers say the same on each connection.
#[derive(Debug, Default)]
pub(super) struct Memory {
    known: KnownHead,
    heads: Heads,
}

/// What came breaks the rules of the protocol.
#[derive(Clone, Copy, Debug)]
pub(super) struct Breach {
    /// It is no rule of the protocol but a limit of this side.
    pub(super) own_limit: bool,
    /// The code to end the connection with, where the protocol has codes.
    pub(super) code: Option<u64>,
    /// What is wrong, in a few words.
    pub(super) text: &'static str,
}

/// True where `version` is spoken over QUIC, so that connections need a [`QuicLink`].
pub(super) fn is_over_quic(version: HttpVersion) -> bool {
    version == HttpVersion::Http3
}

impl Protocol {
    /// That of a new connection, with its `link` where it is spoken over QUIC. Without one it keeps the
    /// exchanges that wait, until the connection fails when it would begin its handshake.
    pub(super) fn new(http: &Http, link: Option<QuicLink>) -> Protocol {
        match http.version {
            HttpVersion::Http1 => Protocol::default(),
            HttpVersion::Http10 => Protocol::Serial(Http1::old()),
            HttpVersion::Http2 | HttpVersion::Http3 => {
                Protocol::Multiplexed(Streams::new(http.streams.get(), link))
            }
        }
    }

    /// Several exchanges may be under way at once.
    pub(super) fn is_multiplexed(&self) -> bool {
        matches!(self, Protocol::Multiplexed(_))
    }

    /// Sets an exchange aside until its connection is established, and has room for it.
    pub(super) fn enqueue(&mut self, permit: Permit) {
        match self {
            Protocol::Serial(machine) => machine.enqueue(permit),
            Protocol::Multiplexed(streams) => streams.enqueue(permit),
        }
    }

    /// Adds the exchanges on a connection, of which there are `in_flight`.
    pub(super) fn list_exchanges(&self, in_flight: u32, list: &mut Vec<Permit>) {
        match self {
            Protocol::Serial(machine) => list.extend((in_flight > 0).then_some(machine.permit())),
            Protocol::Multiplexed(streams) => streams.list_exchanges(list),
        }
    }

    /// Gives up one exchange of several.
    pub(super) fn cancel(&mut self, permit: Permit) {
        if let Protocol::Multiplexed(streams) = self {
            streams.cancel(permit);
        }
    }

    /// Puts what there is to send into the buffer; of a connection that is not `ready` only what belongs
    /// to its opening.
    pub(super) fn fill(
        &mut self,
        buffer: &mut SendBuffer,
        ready: bool,
        room: &mut Room,
    ) -> Result<(), Failure> {
        match self {
            Protocol::Serial(machine) => machine.fill(buffer, room),
            Protocol::Multiplexed(streams) => streams.fill(buffer, ready, room),
        }
    }

    /// The streams, where several exchanges may be under way at once.
    pub(super) fn streams(&mut self) -> Option<&mut Streams> {
        match self {
            Protocol::Serial(_) => None,
            Protocol::Multiplexed(streams) => Some(streams),
        }
    }

    /// The connection of QUIC under it, where there is one.
    pub(super) fn link(&mut self) -> Option<&mut QuicLink> {
        self.streams()?.link()
    }
}

impl Default for Protocol {
    fn default() -> Protocol {
        Protocol::Serial(Http1::default())
    }
}
