//! HTTP/1.1 and HTTP/1.0 on one connection: one exchange after the other.

use sixmark_http::http1::{
    Complete, Early, Fed, Http1Violation, RequestKind, ResponseReader, ResponseVisitor,
};

use super::{Breach, Memory};
use crate::exchange::Permit;
use crate::send_buffer::SendBuffer;
use crate::tls::{Failure, Room};

/// The state of a connection of HTTP/1.
#[derive(Debug, Default)]
pub(crate) struct Http1 {
    reader: ResponseReader,
    permit: Permit,
}

impl Http1 {
    /// Where requests are of HTTP/1.0: the connection is kept only where the peer agrees to that.
    pub(super) fn old() -> Http1 {
        Http1 { reader: ResponseReader::of_http10(), ..Http1::default() }
    }

    /// The exchange on it, where there is one.
    pub(crate) fn permit(&self) -> Permit {
        self.permit
    }

    pub(super) fn enqueue(&mut self, permit: Permit) {
        self.permit = permit;
    }

    /// A request of this kind is about to be sent.
    pub(crate) fn begin(&mut self, kind: RequestKind) {
        self.reader.begin(kind);
    }

    /// Reads what came, and tells `visitor` of it where there is one.
    pub(crate) fn read(
        &mut self,
        bytes: &[u8],
        memory: &mut Memory,
        visitor: Option<&mut dyn ResponseVisitor>,
    ) -> Result<Fed, Breach> {
        let fed = match visitor {
            None => self.reader.feed_knowing(bytes, &mut memory.known),
            Some(visitor) => self.reader.feed_seeing(bytes, &mut memory.known, visitor),
        };
        fed.map_err(Breach::from)
    }

    /// How many of the bytes to come may be dropped unseen.
    pub(crate) fn discardable(&self) -> u64 {
        self.reader.discardable()
    }

    /// So many of them were: the response, if they ended it.
    pub(crate) fn discarded(&mut self, count: u64) -> Option<Complete> {
        self.reader.discarded(count)
    }

    /// The peer closed its side: the response, if that ends it.
    pub(crate) fn finish(&mut self) -> Result<Complete, Early> {
        self.reader.finish()
    }

    pub(super) fn fill(&mut self, buffer: &mut SendBuffer, room: &mut Room) -> Result<(), Failure> {
        if buffer.encrypt_message(room)? {
            buffer.leaving.push(self.permit);
        }
        Ok(())
    }
}

impl From<Http1Violation> for Breach {
    fn from(violation: Http1Violation) -> Breach {
        Breach { own_limit: violation.is_own_limit(), code: None, text: violation.text() }
    }
}
