//! HTTP/1.1 and HTTP/1.0 on one connection: one exchange after the other.

use sixmark_http::http1::{
    Complete, Early, Fed, Http1Violation, RequestKind, ResponseReader, ResponseVisitor,
};

use super::{Memory, ProtocolViolation};
use crate::exchange::ConcurrencySlot;
use crate::send_buffer::SendBuffer;
use crate::tls::{Failure, Room};

/// The state of a connection of HTTP/1.
#[derive(Debug, Default)]
pub(crate) struct Http1 {
    reader: ResponseReader,
    concurrency_slot: ConcurrencySlot,
}

impl Http1 {
    /// Creates the state for HTTP/1.0: a connection is kept open only if the peer agrees.
    pub(super) fn old() -> Http1 {
        Http1 { reader: ResponseReader::of_http10(), ..Http1::default() }
    }

    /// Returns the concurrency slot of the exchange on the connection. It is meaningless if there
    /// is none.
    pub(crate) fn concurrency_slot(&self) -> ConcurrencySlot {
        self.concurrency_slot
    }

    pub(super) fn enqueue(&mut self, concurrency_slot: ConcurrencySlot) {
        self.concurrency_slot = concurrency_slot;
    }

    /// Prepares for the response to a request of this kind, which is about to be sent.
    pub(crate) fn begin(&mut self, kind: RequestKind) {
        self.reader.begin(kind);
    }

    /// Reads received bytes, and passes what they contain to `visitor` if there is one.
    pub(crate) fn read(
        &mut self,
        bytes: &[u8],
        memory: &mut Memory,
        visitor: Option<&mut dyn ResponseVisitor>,
    ) -> Result<Fed, ProtocolViolation> {
        let fed = match visitor {
            None => self.reader.feed_knowing(bytes, &mut memory.known),
            Some(visitor) => self.reader.feed_seeing(bytes, &mut memory.known, visitor),
        };
        fed.map_err(ProtocolViolation::from)
    }

    /// Returns the number of complete interim responses before the current response.
    #[inline]
    pub(crate) fn interims(&self) -> u8 {
        self.reader.interim()
    }

    /// Returns true if any byte after the complete interim responses was read.
    pub(crate) fn goes_on(&self) -> bool {
        self.reader.goes_on()
    }

    /// Returns how many of the following bytes may be dropped unread.
    pub(crate) fn discardable(&self) -> u64 {
        self.reader.discardable()
    }

    /// Records that `count` bytes were dropped. Returns the response if they complete it.
    pub(crate) fn discarded(&mut self, count: u64) -> Option<Complete> {
        self.reader.discarded(count)
    }

    /// Handles the end of the peer's data. Returns the response if that completes it.
    pub(crate) fn finish(&mut self) -> Result<Complete, Early> {
        self.reader.finish()
    }

    pub(super) fn fill(&mut self, buffer: &mut SendBuffer, room: &mut Room) -> Result<(), Failure> {
        if buffer.encrypt_message(room)? {
            buffer.leaving.push(self.concurrency_slot);
        }
        Ok(())
    }
}

impl From<Http1Violation> for ProtocolViolation {
    fn from(violation: Http1Violation) -> ProtocolViolation {
        ProtocolViolation {
            own_limit: violation.is_own_limit(),
            code: None,
            text: violation.text(),
        }
    }
}
