//! What a connection sends that is made anew each time: through TLS, or by a machine of HTTP/2.

use sixmark_sys::driver::Message;

use super::exchange::Permit;
use crate::tls::{Failure, Room, Session};

/// The most of a long request that is encrypted at once: more would only fill memory.
const PIECE: usize = 256 * 1024;

/// The way of bytes out of a connection, and of what comes in through TLS.
#[derive(Debug, Default)]
pub(super) struct SendBuffer {
    pub(super) tls: Option<Box<Session>>,
    /// To be handed to the driver, as the peer gets them.
    pub(super) bytes: Vec<u8>,
    /// The driver has not told yet that the last bytes are sent.
    pub(super) busy: bool,
    /// It is on the list of those that have something to send.
    pub(super) touched: bool,
    /// Exchanges whose request ends in what was handed over last, or will be next.
    pub(super) leaving: Vec<Permit>,
    /// A request that is not encrypted yet from this byte on.
    pub(super) message: Option<(Message, usize)>,
    /// The peer ended the connection: what is sent now nobody reads.
    pub(super) ended: bool,
    /// When anything came last.
    pub(super) heard: u64,
}

impl SendBuffer {
    /// No longer wants to know when an exchange's request has left.
    pub(super) fn forget(&mut self, permit: Permit) {
        self.leaving.retain(|&leaving| leaving != permit);
    }

    /// Encrypts a piece of the request: true where it was the last.
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

    /// Takes what a machine has to send, and leaves it an empty buffer.
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
