//! HTTP/2 on one connection.

use sixmark_http::http2::{Connection, Http2Request, Http2Violation, Options};
use sixmark_http::observer::Observer;

use super::ProtocolViolation;
use super::multiplexer::Multiplexer;
use crate::exchange::ConcurrencySlot;
use crate::notes::Outgoing;
use crate::send_buffer::SendBuffer;
use crate::tls::{Failure, Room};

/// The state of a connection of HTTP/2.
#[derive(Debug)]
pub(super) struct Http2 {
    machine: Connection,
}

impl Http2 {
    /// Creates the state of a connection with at most `streams` concurrent streams.
    pub(super) fn new(streams: u32) -> Http2 {
        Http2 { machine: Connection::new(&Options { streams, ..Options::default() }) }
    }
}

impl Multiplexer for Http2 {
    fn begin(&mut self, concurrency_slot: ConcurrencySlot, request: Outgoing<'_>) -> bool {
        match &request.forms().http2 {
            Some(form) if self.machine.room() > 0 => {
                let own = request.make(Http2Request::new);
                self.machine.begin(concurrency_slot, own.as_ref().unwrap_or(form))
            }
            _ => false,
        }
    }

    fn list_exchanges(&self, list: &mut Vec<ConcurrencySlot>) {
        list.extend(self.machine.tokens());
    }

    fn cancel(&mut self, concurrency_slot: ConcurrencySlot) {
        self.machine.cancel(concurrency_slot);
    }

    fn read(
        &mut self,
        bytes: &[u8],
        observer: &mut impl Observer,
    ) -> Result<(), ProtocolViolation> {
        self.machine.feed(bytes, observer).map_err(ProtocolViolation::from)
    }

    fn fill(
        &mut self,
        buffer: &mut SendBuffer,
        ready: bool,
        room: &mut Room,
    ) -> Result<(), Failure> {
        if ready {
            buffer.gather(self.machine.output(), room)?;
        }
        while let Some(concurrency_slot) = self.machine.next_written() {
            buffer.leaving.push(concurrency_slot);
        }
        Ok(())
    }

    fn is_draining(&self) -> bool {
        self.machine.is_draining()
    }

    fn said_goaway(&self) -> bool {
        self.machine.goaway().is_some()
    }

    fn goaway_code(&self) -> u64 {
        self.machine.goaway().map_or(0, u64::from)
    }

    fn say_goodbye(&mut self, code: Option<u64>) {
        // All error codes of HTTP/2 have 32 bits.
        self.machine.goodbye(code.map_or(0, |code| code as u32));
    }
}

impl From<Http2Violation> for ProtocolViolation {
    fn from(violation: Http2Violation) -> ProtocolViolation {
        let (own_limit, code) = (violation.is_own_limit(), Some(violation.code().into()));
        ProtocolViolation { own_limit, code, text: violation.text() }
    }
}
