//! Reads frames from bytes in pieces of any size.

use super::frame::{Frame, HEAD, MAX_PAYLOAD, code, flag, kind};
use super::progress::{FramePart, skip, take};
use super::{Connection, Http2Violation};
use crate::observer::{Loss, Observer};
use crate::semantics::response::Malformed;

/// The largest number of consecutive frames that carry nothing, and of answers that cannot be sent
/// because the peer does not read. (Up to twice as many answers can wait, because the count
/// restarts once the first has been sent.)
const MAX_EMPTY: u32 = 100_000;
const MAX_ANSWERS: u32 = 10_000;
/// The capacity of the buffer for frames in pieces that is kept for the next frame, in bytes.
const KEPT: usize = 1_024;

impl Connection {
    /// Reads `bytes`, which follow those fed before, and reports events to `observer`. Answers to
    /// the peer are appended to the [`output`](Connection::output).
    ///
    /// # Errors
    /// The peer's first violation of HTTP/2, and the same error on every later call.
    pub fn feed(
        &mut self,
        bytes: &[u8],
        observer: &mut impl Observer,
    ) -> Result<(), Http2Violation> {
        if let Some(violation) = self.broken {
            return Err(violation);
        }
        let mut rest = bytes;
        while !rest.is_empty() {
            if let Err(violation) = self.step(&mut rest, observer) {
                self.broken = Some(violation);
                return Err(violation);
            }
        }
        Ok(())
    }

    fn step(
        &mut self,
        rest: &mut &[u8],
        observer: &mut impl Observer,
    ) -> Result<(), Http2Violation> {
        if let FramePart::Head = self.receiving.place {
            let Some(frame) = self.head(rest)? else { return Ok(()) };
            self.receiving.place = self.place(frame, observer)?;
        }
        match self.receiving.place {
            FramePart::Head => Ok(()),
            FramePart::Whole(frame) => self.whole(frame, rest, observer),
            FramePart::Data(data) => self.data(data, rest, observer),
            FramePart::Skip(left) => {
                self.receiving.place = skip(left - take(rest, left).len() as u32);
                Ok(())
            }
        }
    }

    fn head(&mut self, rest: &mut &[u8]) -> Result<Option<Frame>, Http2Violation> {
        if self.receiving.head_length == 0
            && let Some((head, after)) = rest.split_first_chunk::<HEAD>()
        {
            *rest = after;
            return self.checked(head).map(Some);
        }
        let receiving = &mut self.receiving;
        let start = receiving.head_length;
        let piece = take(rest, (HEAD - start) as u32);
        receiving.head_length += piece.len();
        receiving.head[start..start + piece.len()].copy_from_slice(piece);
        if receiving.head_length < HEAD {
            return if self.peer.known { Ok(None) } else { self.greeting().map(|()| None) };
        }
        receiving.head_length = 0;
        let head = receiving.head;
        self.checked(&head).map(Some)
    }

    fn checked(&mut self, head: &[u8; HEAD]) -> Result<Frame, Http2Violation> {
        if !self.peer.known {
            self.receiving.head = *head;
            self.receiving.head_length = HEAD;
            self.greeting()?;
            self.receiving.head_length = 0;
        }
        let frame = Frame::read(head);
        if frame.length > MAX_PAYLOAD { Err(Http2Violation::FrameTooLong) } else { Ok(frame) }
    }

    /// Checks that the first frame is SETTINGS (RFC 9113, 3.4). The greeting of another protocol
    /// may be all that the peer sends, so the first wrong byte is an error.
    fn greeting(&self) -> Result<(), Http2Violation> {
        let begun = self.receiving.head.iter().take(self.receiving.head_length);
        for (at, &byte) in begun.enumerate() {
            let fits = match at {
                0 => byte == 0,
                1 => byte <= 0x40,
                2 => true,
                3 => byte == kind::SETTINGS,
                4 => byte & flag::ACK == 0,
                5 => byte & 0x7f == 0,
                _ => byte == 0,
            };
            if !fits {
                return Err(Http2Violation::NotHttp2);
            }
        }
        Ok(())
    }

    /// Returns how to read the payload of `frame`.
    fn place(
        &mut self,
        frame: Frame,
        observer: &mut impl Observer,
    ) -> Result<FramePart, Http2Violation> {
        let continues = self.receiving.block.as_ref().map(|block| block.id);
        let awaited = (frame.kind == kind::CONTINUATION).then_some(frame.id);
        if continues != awaited {
            return Err(Http2Violation::Continuation);
        }
        match frame.kind {
            kind::DATA => return self.data_head(frame, observer),
            kind::HEADERS => self.fields_head(frame, observer)?,
            kind::CONTINUATION => {}
            kind::PUSH_PROMISE => return Err(Http2Violation::Push),
            kind::PRIORITY => {
                self.stream_frame(frame, 5)?;
                self.count_empty()?;
                return Ok(FramePart::Skip(5));
            }
            kind::RST_STREAM | kind::WINDOW_UPDATE | kind::PING | kind::SETTINGS | kind::GOAWAY => {
                self.place_control(frame)?;
            }
            _ => {
                self.count_empty()?;
                return Ok(skip(frame.length));
            }
        }
        Ok(FramePart::Whole(frame))
    }

    fn place_control(&mut self, frame: Frame) -> Result<(), Http2Violation> {
        match frame.kind {
            kind::RST_STREAM => {
                self.stream_frame(frame, 4)?;
                return self.opened(frame.id);
            }
            kind::WINDOW_UPDATE if frame.id != 0 => {
                self.stream_frame(frame, 4)?;
                return self.opened(frame.id);
            }
            _ if frame.id != 0 => return Err(Http2Violation::WrongStream),
            _ => {}
        }
        let fits = match frame.kind {
            kind::WINDOW_UPDATE => frame.length == 4,
            kind::PING => frame.length == 8,
            kind::GOAWAY => frame.length >= 8,
            _ if frame.has(flag::ACK) => frame.length == 0,
            _ => frame.length.is_multiple_of(6),
        };
        if fits { Ok(()) } else { Err(Http2Violation::FrameLength) }
    }

    fn stream_frame(&self, frame: Frame, length: u32) -> Result<(), Http2Violation> {
        match frame {
            Frame { id: 0, .. } => Err(Http2Violation::WrongStream),
            _ if frame.length != length => Err(Http2Violation::FrameLength),
            _ => Ok(()),
        }
    }

    /// Checks that a stream was opened. The client's streams are odd; without push, the server has
    /// none (RFC 9113, 5.1.1).
    fn opened(&self, id: u32) -> Result<(), Http2Violation> {
        match id {
            _ if id.is_multiple_of(2) => Err(Http2Violation::WrongStream),
            _ if id >= self.next_id => Err(Http2Violation::IdleStream),
            _ => Ok(()),
        }
    }

    /// Checks a frame for a stream that has ended. It is a violation (RFC 9113, 5.1), unless the
    /// frame may have been on its way when this side ended the stream.
    pub(super) fn closed(&self, id: u32) -> Result<(), Http2Violation> {
        self.opened(id)?;
        if id <= self.late_up_to { Ok(()) } else { Err(Http2Violation::ClosedStream) }
    }

    fn whole(
        &mut self,
        frame: Frame,
        rest: &mut &[u8],
        observer: &mut impl Observer,
    ) -> Result<(), Http2Violation> {
        let missing = frame.length - self.receiving.held.len() as u32;
        let piece = take(rest, missing);
        let complete = piece.len() == missing as usize;
        if complete && self.receiving.held.is_empty() {
            self.receiving.place = FramePart::Head;
            return self.payload(frame, piece, observer);
        }
        self.receiving.held.extend_from_slice(piece);
        if !complete {
            return Ok(());
        }
        self.receiving.place = FramePart::Head;
        let mut held = std::mem::take(&mut self.receiving.held);
        let result = self.payload(frame, &held, observer);
        held.clear();
        held.shrink_to(KEPT);
        self.receiving.held = held;
        result
    }

    fn payload(
        &mut self,
        frame: Frame,
        payload: &[u8],
        observer: &mut impl Observer,
    ) -> Result<(), Http2Violation> {
        match frame.kind {
            kind::HEADERS => self.fields_begin(frame, payload, observer),
            kind::CONTINUATION => self.fields_go_on(frame, payload, observer),
            _ => self.control(frame, payload, observer),
        }
    }

    /// Resets a stream whose response breaks the rules and ends its exchange.
    pub(super) fn malformed(
        &mut self,
        id: u32,
        code: u32,
        why: &'static str,
        observer: &mut impl Observer,
    ) {
        if let Some(token) = self.reset(id, code) {
            observer.lost(token, Loss::Malformed { code: code.into(), why });
        }
    }

    /// Ends a stream whose response is complete.
    pub(super) fn finish(&mut self, id: u32, observer: &mut impl Observer) {
        let Some(stream) = self.streams.find(id) else { return };
        let answer = match stream.response.end() {
            Ok(answer) => answer,
            Err(Malformed(why)) => return self.malformed(id, code::PROTOCOL, why, observer),
        };
        if stream.body.is_some() {
            // The response is complete before the request: the rest of the request is not needed
            // (RFC 9113, 8.1).
            if let Some(token) = self.reset(id, code::CANCEL) {
                observer.complete(token, answer);
            }
        } else if let Some(stream) = self.streams.remove(id) {
            observer.complete(stream.token, answer);
        }
    }

    pub(super) fn count_empty(&mut self) -> Result<(), Http2Violation> {
        self.receiving.empty += 1;
        if self.receiving.empty > MAX_EMPTY { Err(Http2Violation::Flood) } else { Ok(()) }
    }

    pub(super) fn count_answer(&mut self) -> Result<(), Http2Violation> {
        if self.receiving.answers == 0 || self.output.taken_to() > self.receiving.answered_at {
            (self.receiving.answers, self.receiving.answered_at) = (0, self.output.put_to());
        }
        self.receiving.answers += 1;
        if self.receiving.answers > MAX_ANSWERS { Err(Http2Violation::Flood) } else { Ok(()) }
    }

    /// Records that the connection carried something useful.
    pub(super) fn count_use(&mut self) {
        self.receiving.empty = 0;
    }
}
