//! The interface of a protocol that carries several exchanges at once.

use quinn_proto::StreamEvent;
use sixmark_http::observer::Observer;

use super::{Memory, ProtocolViolation};
use crate::exchange::ConcurrencySlot;
use crate::notes::Outgoing;
use crate::quic::QuicLink;
use crate::send_buffer::SendBuffer;
use crate::tls::{Failure, Room};

/// The state of such a protocol on one connection.
pub(super) trait Multiplexer {
    /// Starts an exchange. Returns false if the peer has no room for another.
    fn begin(&mut self, concurrency_slot: ConcurrencySlot, request: Outgoing<'_>) -> bool;

    /// Appends the exchanges that were started and have not ended.
    fn list_exchanges(&self, list: &mut Vec<ConcurrencySlot>);

    /// Cancels an exchange that was started.
    fn cancel(&mut self, concurrency_slot: ConcurrencySlot);

    /// Reads data received on a connection that is a stream of bytes.
    fn read(
        &mut self,
        _bytes: &[u8],
        _observer: &mut impl Observer,
    ) -> Result<(), ProtocolViolation> {
        Ok(())
    }

    /// Handles an event of a QUIC stream, if the protocol runs over QUIC.
    fn attend(
        &mut self,
        _event: StreamEvent,
        _memory: &mut Memory,
        _observer: &mut impl Observer,
    ) -> Result<(), ProtocolViolation> {
        Ok(())
    }

    /// Appends the data to be sent to the buffer, unless it is sent in another way, and the
    /// exchanges whose request ends in it. If the connection is not `ready`, no bytes are appended.
    fn fill(
        &mut self,
        buffer: &mut SendBuffer,
        ready: bool,
        room: &mut Room,
    ) -> Result<(), Failure>;

    /// Returns true if no more exchanges may start, although those in flight continue.
    fn is_draining(&self) -> bool;

    /// Returns true if the peer sent GOAWAY.
    fn said_goaway(&self) -> bool;

    /// Returns the error code of the peer's GOAWAY; 0 if there is none.
    fn goaway_code(&self) -> u64;

    /// Tells the peer that this side ends the connection, with an error code if it does so because
    /// of an error.
    fn say_goodbye(&mut self, code: Option<u64>);

    /// Handles that the connection is established.
    fn open(&mut self) {}

    /// Returns the QUIC connection that carries it, if there is one.
    fn link(&mut self) -> Option<&mut QuicLink> {
        None
    }
}
