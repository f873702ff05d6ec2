//! What the machine of a protocol does that carries several exchanges at once.

use quinn_proto::StreamEvent;
use sixmark_http::observer::Observer;

use super::{Breach, Memory};
use crate::exchange::Permit;
use crate::notes::Outgoing;
use crate::quic::QuicLink;
use crate::send_buffer::SendBuffer;
use crate::tls::{Failure, Room};

/// The machine of such a protocol on one connection.
pub(super) trait Multiplexer {
    /// Begins an exchange: false where the peer has no room for another.
    fn begin(&mut self, permit: Permit, request: Outgoing<'_>) -> bool;

    /// Adds the exchanges that were begun and have not ended.
    fn list_exchanges(&self, list: &mut Vec<Permit>);

    /// Gives up an exchange that was begun.
    fn cancel(&mut self, permit: Permit);

    /// Reads what came on the connection, where that is one of bytes.
    fn read(&mut self, _bytes: &[u8], _observer: &mut impl Observer) -> Result<(), Breach> {
        Ok(())
    }

    /// Deals with what a stream of QUIC has to tell, where that carries it.
    fn attend(
        &mut self,
        _event: StreamEvent,
        _memory: &mut Memory,
        _observer: &mut impl Observer,
    ) -> Result<(), Breach> {
        Ok(())
    }

    /// Puts what there is to send into the buffer, where that is how it leaves, and the exchanges whose
    /// request ends in it; of a connection that is not `ready` no bytes.
    fn fill(
        &mut self,
        buffer: &mut SendBuffer,
        ready: bool,
        room: &mut Room,
    ) -> Result<(), Failure>;

    /// True where no more exchanges may begin, though those in flight go on.
    fn is_draining(&self) -> bool;

    /// True where the peer said so.
    fn said_goaway(&self) -> bool;

    /// Why the peer takes no more exchanges, as far as it has said; 0 where it has not.
    fn goaway_code(&self) -> u64;

    /// Has the peer told that this side ends the connection, and by which code if that is for a fault.
    fn say_goodbye(&mut self, code: Option<u64>);

    /// The connection is established.
    fn open(&mut self) {}

    /// The connection of QUIC that carries it, where one does.
    fn link(&mut self) -> Option<&mut QuicLink> {
        None
    }
}
