//! The protocol of a connection, as a worker sees it.
//!
//! There are two kinds of protocols. A *serial* connection carries one exchange after the other; a
//! *multiplexed* one carries several at once, each on a stream of its own. Only the files of this
//! module know the versions of HTTP: there is one file for each.

mod http1;
mod http2;
mod http3;
mod multiplexer;
mod streams;

use sixmark_http::HttpVersion;
use sixmark_http::http1::KnownHead;
// How a response ended and who observes it, in any protocol.
pub(super) use sixmark_http::http1::{Complete, ResponseVisitor};
use sixmark_http::http3::Heads;
use sixmark_plan::plan::http::Http;

use super::exchange::ConcurrencySlot;
use super::quic::QuicLink;
use super::send_buffer::SendBuffer;
use crate::tls::{Failure, Room};
pub(super) use http1::Http1;
pub(super) use streams::Streams;

/// The protocol state of a connection.
#[derive(Debug)]
pub(super) enum Protocol {
    /// One exchange after the other.
    Serial(Http1),
    /// Several exchanges at once.
    Multiplexed(Streams),
}

/// What all connections of a worker remember in common, since peers send the same header fields on
/// each.
#[derive(Debug, Default)]
pub(super) struct Memory {
    known: KnownHead,
    heads: Heads,
}

/// A violation of the protocol in received data.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProtocolViolation {
    /// True if the data exceeds a limit of this side, and is no violation of the protocol.
    pub(super) own_limit: bool,
    /// The error code with which to close the connection. `None` if the protocol has no codes.
    pub(super) code: Option<u64>,
    /// A short description of the violation.
    pub(super) text: &'static str,
}

/// Returns true if `version` runs over QUIC, so that connections need a [`QuicLink`].
pub(super) fn is_over_quic(version: HttpVersion) -> bool {
    version == HttpVersion::Http3
}

impl Protocol {
    /// Creates the state of a new connection. `link` is its QUIC connection, if the protocol runs
    /// over QUIC. If it is missing then, exchanges wait until the connection fails at the beginning
    /// of its handshake.
    pub(super) fn new(http: &Http, link: Option<QuicLink>) -> Protocol {
        match http.version {
            HttpVersion::Http1 => Protocol::default(),
            HttpVersion::Http10 => Protocol::Serial(Http1::old()),
            HttpVersion::Http2 | HttpVersion::Http3 => {
                Protocol::Multiplexed(Streams::new(http.streams.get(), link))
            }
        }
    }

    /// Returns true if several exchanges may be in flight at once.
    pub(super) fn is_multiplexed(&self) -> bool {
        matches!(self, Protocol::Multiplexed(_))
    }

    /// Queues an exchange until its connection is established and has room for it.
    pub(super) fn enqueue(&mut self, concurrency_slot: ConcurrencySlot) {
        match self {
            Protocol::Serial(machine) => machine.enqueue(concurrency_slot),
            Protocol::Multiplexed(streams) => streams.enqueue(concurrency_slot),
        }
    }

    /// Appends the exchanges of a connection that has `in_flight` of them.
    pub(super) fn list_exchanges(&self, in_flight: u32, list: &mut Vec<ConcurrencySlot>) {
        match self {
            Protocol::Serial(machine) => {
                list.extend((in_flight > 0).then_some(machine.concurrency_slot()))
            }
            Protocol::Multiplexed(streams) => streams.list_exchanges(list),
        }
    }

    /// Cancels one exchange of a multiplexed connection.
    pub(super) fn cancel(&mut self, concurrency_slot: ConcurrencySlot) {
        if let Protocol::Multiplexed(streams) = self {
            streams.cancel(concurrency_slot);
        }
    }

    /// Appends the data to be sent to the buffer. If the connection is not `ready`, only the data
    /// that belongs to its opening is appended.
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

    /// Returns the streams of a multiplexed connection.
    pub(super) fn streams(&mut self) -> Option<&mut Streams> {
        match self {
            Protocol::Serial(_) => None,
            Protocol::Multiplexed(streams) => Some(streams),
        }
    }

    /// Returns the QUIC connection below the protocol, if there is one.
    pub(super) fn link(&mut self) -> Option<&mut QuicLink> {
        self.streams()?.link()
    }
}

impl Default for Protocol {
    fn default() -> Protocol {
        Protocol::Serial(Http1::default())
    }
}
