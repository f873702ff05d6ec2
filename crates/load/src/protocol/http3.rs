//! HTTP/3 on one connection, over the streams of the QUIC library.

use std::collections::HashMap;
use std::sync::Arc;

use quinn_proto::{Dir, StreamEvent, StreamId, VarInt, WriteError};
use sixmark_http::http3::{Control, Heads, Http3Request, Http3Violation, StreamReader, code};
use sixmark_http::observer::Observer;

use super::multiplexer::Multiplexer;
use super::{Memory, ProtocolViolation};
use crate::exchange::ConcurrencySlot;
use crate::notes::Outgoing;
use crate::quic::QuicLink;
use crate::send_buffer::SendBuffer;
use crate::tls::{Failure, Room};

/// The state of a connection of HTTP/3.
pub(super) struct Http3 {
    link: QuicLink,
    control: Control,
    /// Exchanges whose request was written completely since the last call of `fill`.
    written: Vec<ConcurrencySlot>,
    streams: HashMap<StreamId, Stream>,
    /// The unidirectional streams that the peer opened.
    theirs: Vec<StreamId>,
}

/// The stream of an exchange.
#[derive(Debug)]
struct Stream {
    concurrency_slot: ConcurrencySlot,
    reader: StreamReader,
    /// The request, and how many of its bytes are written. `None` once it is written or stopped.
    request: Option<(Arc<Http3Request>, usize)>,
}

impl std::fmt::Debug for Http3 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Http3").field("streams", &self.streams).finish_non_exhaustive()
    }
}

impl Multiplexer for Http3 {
    fn begin(&mut self, concurrency_slot: ConcurrencySlot, outgoing: Outgoing<'_>) -> bool {
        let Some(form) = &outgoing.forms().http3 else { return false };
        let Some(id) = self.link.connection.streams().open(Dir::Bi) else { return false };
        let request = outgoing.make(Http3Request::new).map_or_else(|| Arc::clone(form), Arc::new);
        let reader = StreamReader::new(concurrency_slot, &request);
        self.streams.insert(id, Stream { concurrency_slot, reader, request: Some((request, 0)) });
        self.write(id);
        true
    }

    fn list_exchanges(&self, list: &mut Vec<ConcurrencySlot>) {
        list.extend(self.streams.values().map(|stream| stream.concurrency_slot));
    }

    fn cancel(&mut self, concurrency_slot: ConcurrencySlot) {
        let found =
            self.streams.iter().find(|(_, stream)| stream.concurrency_slot == concurrency_slot);
        let Some(id) = found.map(|(&id, _)| id) else { return };
        self.streams.remove(&id);
        let _ = self.link.connection.recv_stream(id).stop(VarInt::from(CANCELLED));
        let _ = self.link.connection.send_stream(id).reset(VarInt::from(CANCELLED));
    }

    fn attend(
        &mut self,
        event: StreamEvent,
        memory: &mut Memory,
        observer: &mut impl Observer,
    ) -> Result<(), ProtocolViolation> {
        match event {
            StreamEvent::Readable { id } => self.take(id, memory, observer)?,
            StreamEvent::Opened { dir: Dir::Uni } => {
                while let Some(id) = self.link.connection.streams().accept(Dir::Uni) {
                    self.take(id, memory, observer)?;
                }
            }
            StreamEvent::Writable { id } => self.write(id),
            StreamEvent::Stopped { id, .. } => self.stopped(id),
            // Exchanges that wait are started after all events.
            StreamEvent::Available { .. }
            | StreamEvent::Finished { .. }
            | StreamEvent::Opened { dir: Dir::Bi } => {}
        }
        Ok(())
    }

    /// Only reports the exchanges whose requests are written: the QUIC library sends the bytes
    /// itself.
    fn fill(&mut self, buffer: &mut SendBuffer, _: bool, _: &mut Room) -> Result<(), Failure> {
        buffer.leaving.append(&mut self.written);
        Ok(())
    }

    fn is_draining(&self) -> bool {
        self.said_goaway()
    }

    fn said_goaway(&self) -> bool {
        self.control.goaway().is_some()
    }

    /// Returns 0: HTTP/3 has no error code in GOAWAY.
    fn goaway_code(&self) -> u64 {
        0
    }

    fn say_goodbye(&mut self, code: Option<u64>) {
        self.link.close_by = code.unwrap_or(code::NO_ERROR);
    }

    /// Opens the control stream and writes its first bytes.
    fn open(&mut self) {
        if let Some(id) = self.link.connection.streams().open(Dir::Uni) {
            // The first bytes of a connection always fit into the windows.
            let _ = self.link.connection.send_stream(id).write(&Control::opening());
        }
    }

    fn link(&mut self) -> Option<&mut QuicLink> {
        Some(&mut self.link)
    }
}

impl Http3 {
    /// Creates the state of a connection over `link`, on which nothing was sent yet.
    pub(super) fn new(mut link: QuicLink) -> Http3 {
        link.close_by = code::NO_ERROR;
        Http3 {
            link,
            control: Control::new(),
            written: Vec::new(),
            streams: HashMap::new(),
            theirs: Vec::new(),
        }
    }

    /// Reads a stream, and handles what it means for others (GOAWAY).
    fn take(
        &mut self,
        id: StreamId,
        memory: &mut Memory,
        observer: &mut impl Observer,
    ) -> Result<(), Http3Violation> {
        let read = self.read(id, &mut memory.heads, observer);
        self.disown(observer);
        read
    }

    /// Writes as much of a request as there is room for.
    fn write(&mut self, id: StreamId) {
        let Some(stream) = self.streams.get_mut(&id) else { return };
        let Some((request, mut written)) = stream.request.take() else { return };
        let mut to = self.link.connection.send_stream(id);
        loop {
            match to.write(left_to_write(&request, written)) {
                _ if left_to_write(&request, written).is_empty() => {
                    // This fails only if the peer stopped the stream; its response is what counts.
                    let _ = to.finish();
                    return self.written.push(stream.concurrency_slot);
                }
                Ok(count) => written += count,
                Err(WriteError::Blocked) => {
                    stream.request = Some((request, written));
                    return;
                }
                // The peer wants no more of the request; its response is what counts.
                Err(WriteError::Stopped(_) | WriteError::ClosedStream) => return,
            }
        }
    }

    /// Stops sending a request of which the peer wants no more.
    fn stopped(&mut self, id: StreamId) {
        if let Some(stream) = self.streams.get_mut(&id) {
            stream.request = None;
            // The stream is closed already if all of it was sent.
            let _ = self.link.connection.send_stream(id).reset(VarInt::from(NO_ERROR));
        }
    }

    /// Reads a stream, whether it is a response or unidirectional.
    fn read(
        &mut self,
        id: StreamId,
        heads: &mut Heads,
        observer: &mut impl Observer,
    ) -> Result<(), Http3Violation> {
        match id.dir() {
            Dir::Uni => self.read_control(id),
            Dir::Bi => self.read_response(id, heads, observer),
        }
    }

    fn read_control(&mut self, id: StreamId) -> Result<(), Http3Violation> {
        let number = u64::from(VarInt::from(id));
        if !self.theirs.contains(&id) {
            self.theirs.push(id);
        }
        let mut from = self.link.connection.recv_stream(id);
        let Ok(mut chunks) = from.read(true) else { return Ok(()) };
        let (mut unknown, mut ended) = (false, false);
        let done = loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => match self.control.feed(number, &chunk.bytes) {
                    Ok(true) => {}
                    Ok(false) => {
                        unknown = true;
                        break Ok(());
                    }
                    Err(violation) => break Err(violation),
                },
                Ok(None) | Err(quinn_proto::ReadError::Reset(_)) => {
                    ended = true;
                    break self.control.finish(number);
                }
                Err(quinn_proto::ReadError::Blocked) => break Ok(()),
            }
        };
        let _ = chunks.finalize();
        if unknown {
            // Streams of unknown type are not read (RFC 9114, 6.2.3).
            let _ = self.link.connection.recv_stream(id).stop(VarInt::from(UNKNOWN));
        }
        if unknown || ended {
            self.theirs.retain(|&other| other != id);
        }
        done
    }

    fn read_response(
        &mut self,
        id: StreamId,
        heads: &mut Heads,
        observer: &mut impl Observer,
    ) -> Result<(), Http3Violation> {
        let Some(stream) = self.streams.get_mut(&id) else { return Ok(()) };
        let mut from = self.link.connection.recv_stream(id);
        let Ok(mut chunks) = from.read(true) else { return Ok(()) };
        let reader = &mut stream.reader;
        let mut reset = None;
        let done = loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => match reader.feed(&chunk.bytes, heads, observer) {
                    Ok(()) if reader.is_over() => break Ok(()),
                    Ok(()) => {}
                    Err(violation) => break Err(violation),
                },
                Ok(None) => break reader.finish(observer),
                Err(quinn_proto::ReadError::Reset(code)) => {
                    reset = Some(code.into_inner());
                    break Ok(());
                }
                Err(quinn_proto::ReadError::Blocked) => break Ok(()),
            }
        };
        let _ = chunks.finalize();
        if stream.reader.is_over() {
            self.leave(id);
        }
        reset.map_or(done, |code| self.was_reset(id, code, observer))
    }

    /// Handles the peer's reset of a response. There is no order between streams: a GOAWAY that
    /// says that the request was not processed may have arrived with the reset or before it and not
    /// have been read yet.
    fn was_reset(
        &mut self,
        id: StreamId,
        code: u64,
        observer: &mut impl Observer,
    ) -> Result<(), Http3Violation> {
        for other in self.theirs.clone() {
            self.read_control(other)?;
        }
        if !self.is_disowned(id)
            && let Some(stream) = self.streams.get_mut(&id)
        {
            stream.reader.reset(code, observer);
            self.leave(id);
        }
        Ok(())
    }

    fn is_disowned(&self, id: StreamId) -> bool {
        self.control.goaway().is_some_and(|first| u64::from(VarInt::from(id)) >= first)
    }

    /// Removes the stream of an exchange that is over.
    fn leave(&mut self, id: StreamId) {
        let unsent = self.streams.remove(&id).is_some_and(|stream| stream.request.is_some());
        // Both calls fail if the stream has already ended, as it usually has.
        let _ = self.link.connection.recv_stream(id).stop(VarInt::from(NO_ERROR));
        if unsent {
            let _ = self.link.connection.send_stream(id).reset(VarInt::from(CANCELLED));
        }
    }

    /// Reports the exchanges that were not processed according to the peer's GOAWAY.
    fn disown(&mut self, observer: &mut impl Observer) {
        if self.control.goaway().is_none() {
            return;
        }
        let ids: Vec<_> = self.streams.keys().copied().filter(|&id| self.is_disowned(id)).collect();
        for id in ids {
            if let Some(stream) = self.streams.get_mut(&id) {
                stream.reader.disown(observer);
                self.leave(id);
            }
        }
    }
}

impl From<Http3Violation> for ProtocolViolation {
    fn from(violation: Http3Violation) -> ProtocolViolation {
        let (own_limit, code) = (violation.is_own_limit(), Some(violation.code()));
        ProtocolViolation { own_limit, code, text: violation.text() }
    }
}

const NO_ERROR: u32 = code::NO_ERROR as u32;
const UNKNOWN: u32 = code::STREAM_CREATION as u32;
const CANCELLED: u32 = code::REQUEST_CANCELLED as u32;

/// Returns the unwritten rest of a request after `written` bytes, or the first piece of that rest.
fn left_to_write(request: &Http3Request, written: usize) -> &[u8] {
    let head = request.head();
    if written < head.len() {
        &head[written..]
    } else {
        request.body().map_or(&[], |body| &body[written - head.len()..])
    }
}
