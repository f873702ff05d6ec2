//! Sending of requests: the fields at once, the content as far as the peer's windows allow.

use std::sync::Arc;

use super::credit::Credit;
use super::frame::{Frame, MAX_31, MAX_PAYLOAD, flag, kind};
use super::streams::{Body, OpenStream};
use super::{Connection, Http2Request, Http2Violation};
use crate::observer::Token;
use crate::semantics::response::Response;

/// Content is appended while the output contains fewer bytes than this.
const FULL: usize = 128 * 1024;

impl Connection {
    /// Begins the exchange `token`, which must differ from those of all exchanges in flight.
    /// Appends its request to the output; the end of a body follows later if the peer's windows are
    /// too small. Returns false and does nothing if there is no [`room`](Connection::room).
    #[must_use]
    pub fn begin(&mut self, token: Token, request: &Http2Request) -> bool {
        if self.room() == 0 {
            return false;
        }
        let id = self.next_id;
        self.next_id += 2;
        self.forget_marks();
        self.put_fields(request, id);
        self.streams.add(OpenStream {
            id,
            token,
            observed: request.observed,
            begun: false,
            response: Response::new(request.is_head),
            credit: Credit::new(self.own.window),
            window: i64::from(self.peer.window),
            body: None,
            queued: false,
        });
        match &request.body {
            None => self.output.end(id),
            Some(body) => self.put_body(id, body),
        }
        true
    }

    /// Returns the next exchange whose request has been removed from the
    /// [`output`](Connection::output) up to its last byte. Call it until it returns `None` whenever
    /// bytes have been removed, before the next [`feed`](Connection::feed): exchanges that have
    /// ended are omitted.
    pub fn next_written(&mut self) -> Option<Token> {
        while let Some(id) = self.output.taken() {
            if let Some(stream) = self.streams.find(id) {
                return Some(stream.token);
            }
        }
        None
    }

    /// Returns the bytes to send. The caller removes from the front as many as it can send, and
    /// calls again until there are none: content of requests is appended as there is room.
    pub fn output(&mut self) -> &mut Vec<u8> {
        self.pump();
        &mut self.output.bytes
    }

    fn put_fields(&mut self, request: &Http2Request, id: u32) {
        // RFC 9113, 4.3.1: the next block confirms the smaller table once. This encoder uses no
        // table, so it can confirm any size.
        if self.resize_due {
            self.resize_due = false;
            let (frames, heads) = request.prefixed(0x20);
            self.output.fields(&frames, &heads, id);
        } else {
            self.output.fields(&request.frames, &request.heads, id);
        }
    }

    fn put_body(&mut self, id: u32, body: &Arc<Vec<u8>>) {
        let room = self.sending.window.min(i64::from(self.peer.window));
        let length = body.len() as u32;
        let fits = body.len() <= MAX_PAYLOAD as usize && i64::from(length) <= room;
        if fits && self.sending.turns.is_empty() && self.output.bytes.len() < FULL {
            // The usual case. It does not touch the body's reference count, which all threads
            // share.
            self.sending.window -= i64::from(length);
            self.streams.find(id).into_iter().for_each(|stream| stream.window -= i64::from(length));
            self.output.frame(kind::DATA, flag::END_STREAM, id, body);
            self.output.end(id);
            return;
        }
        if let Some(stream) = self.streams.find(id) {
            stream.body = Some(Body { bytes: Arc::clone(body), sent: 0 });
            self.queue(id);
        }
        self.pump();
    }

    fn queue(&mut self, id: u32) {
        if let Some(stream) = self.streams.find(id)
            && !stream.queued
            && stream.body.is_some()
            && stream.window > 0
        {
            stream.queued = true;
            self.sending.turns.push_back(id);
        }
    }

    /// Appends content to the output, one frame of each stream in turn.
    pub(super) fn pump(&mut self) {
        while self.sending.window > 0
            && self.output.bytes.len() < FULL
            && let Some(id) = self.sending.turns.pop_front()
        {
            self.put_frame(id);
        }
    }

    fn put_frame(&mut self, id: u32) {
        self.count_use();
        let Some(stream) = self.streams.find(id) else { return };
        stream.queued = false;
        let Some(body) = &mut stream.body else { return };
        let room = self.sending.window.min(stream.window).min(i64::from(MAX_PAYLOAD));
        // The peer may have shrunk the window since the stream was queued.
        let Some(room) = usize::try_from(room).ok().filter(|&room| room > 0) else { return };
        let left = body.left();
        let piece = &left[..left.len().min(room)];
        let length = piece.len();
        let ends = length == left.len();
        let flags = if ends { flag::END_STREAM } else { 0 };
        let head = Frame { length: length as u32, kind: kind::DATA, flags, id };
        self.output.push(&head.bytes());
        self.output.push(piece);
        body.sent += length;
        stream.window -= length as i64;
        self.sending.window -= length as i64;
        if ends {
            stream.body = None;
            self.output.end(id);
        } else {
            self.queue(id);
        }
    }

    /// Bounds the memory of marks that the caller does not ask for.
    fn forget_marks(&mut self) {
        if self.output.marks() > 2 * self.streams.open() + 64 {
            let streams = &self.streams;
            self.output.retain_marks(|id| streams.has(id));
        }
    }

    /// Enlarges the connection's send window at the peer's request.
    pub(super) fn widen(&mut self, by: u32) -> Result<(), Http2Violation> {
        self.sending.window += i64::from(by);
        if self.sending.window > i64::from(MAX_31) {
            return Err(Http2Violation::WindowOverflow);
        }
        self.pump();
        Ok(())
    }

    /// Enlarges a stream's send window at the peer's request. Returns false if the window becomes
    /// too large.
    pub(super) fn widen_stream(&mut self, id: u32, by: u32) -> bool {
        let Some(stream) = self.streams.find(id) else { return true };
        stream.window += i64::from(by);
        if stream.window > i64::from(MAX_31) {
            return false;
        }
        self.queue(id);
        self.pump();
        true
    }

    /// Changes the send windows of all open streams because the peer changed their initial size.
    pub(super) fn widen_all(&mut self, by: i64) -> Result<(), Http2Violation> {
        if by == 0 {
            return Ok(());
        }
        let mut ids = Vec::new();
        for stream in self.streams.iter_mut() {
            stream.window += by;
            if stream.window > i64::from(MAX_31) {
                return Err(Http2Violation::WindowOverflow);
            }
            ids.push(stream.id);
        }
        ids.sort_unstable();
        ids.into_iter().for_each(|id| self.queue(id));
        self.pump();
        Ok(())
    }
}
