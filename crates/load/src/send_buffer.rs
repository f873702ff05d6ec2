//! Bytes to send that are generated anew each time: by TLS, or by HTTP/2.

use sixmark_sys::driver::Message;

use super::exchange::ConcurrencySlot;
use crate::tls::{Failure, Room, Session};

/// Maximum number of bytes of a long request that are encrypted at once. More would only use
/// memory.
const PIECE: usize = 256 * 1024;

/// The data that a connection sends, and its TLS session.
#[derive(Debug, Default)]
pub(super) struct SendBuffer {
    pub(super) tls: Option<Box<Session>>,
    /// Bytes to be handed to the driver, encrypted if there is TLS.
    pub(super) bytes: Vec<u8>,
    /// True until the driver reports that it has sent the last bytes.
    pub(super) busy: bool,
    /// True if the connection is on the list of those that may have data to send.
    pub(super) touched: bool,
    /// Exchanges whose request ends in the bytes handed over last or to be handed over next.
    pub(super) leaving: Vec<ConcurrencySlot>,
    /// A request, and the position from which on it is not encrypted yet.
    pub(super) message: Option<(Message, usize)>,
    /// True if the connection has ended: nothing that is sent now is read.
    pub(super) ended: bool,
    /// The time at which anything was last received.
    pub(super) heard: u64,
}

impl SendBuffer {
    /// Stops tracking when an exchange's request is sent.
    pub(super) fn forget(&mut self, concurrency_slot: ConcurrencySlot) {
        self.leaving.retain(|&leaving| leaving != concurrency_slot);
    }

    /// Encrypts a piece of the request. Returns true if it was the last one.
    pub(super) fn encrypt_message(&mut self, room: &mut Room) -> Result<bool, Failure> {
        let Some(((message, from), tls)) = self.message.take().zip(self.tls.as_mut()) else {
            return Ok(false);
        };
        let [head, tail] = message.rest(from);
        let tail = &tail[..tail.len().min(PIECE)];
        tls.write([head, tail], room, &mut self.bytes)?;
        let until = from + head.len() + tail.len();
        let over = until >= message.length();
        self.message = (!over).then_some((message, until));
        Ok(over)
    }

    /// Takes the output of a protocol and leaves an empty buffer.
    pub(super) fn gather(&mut self, output: &mut Vec<u8>, room: &mut Room) -> Result<(), Failure> {
        match &mut self.tls {
            _ if output.is_empty() => {}
            Some(tls) => {
                tls.write([output, &[]], room, &mut self.bytes)?;
                output.clear();
            }
            None if self.bytes.is_empty() => std::mem::swap(&mut self.bytes, output),
            None => self.bytes.append(output),
        }
        Ok(())
    }
}
