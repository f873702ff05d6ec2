//! One direction of HTTP/1 on a connection: alternating heads and content.

use super::super::budget::Budget;
use super::super::reassembly::{Now, Reassembly};
use super::body::{BodyState, MessageState};
use super::head::{Collected, Head};
use crate::Span;

/// The state of one direction.
#[derive(Debug, Default)]
pub(super) struct Half {
    stream: Reassembly,
    state: State,
    head: Head,
}

/// The next expected part of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// A head, or the rest of it.
    Head,
    /// Content, or the rest of it.
    Body(BodyState),
    /// Unknown: the position in the stream was lost.
    #[default]
    Lost,
}

/// Receives the parts of messages.
pub(super) trait Reader {
    /// Begins a message with these bytes, captured at `at_ns`. Returns false if no message can
    /// begin so.
    fn begins(&mut self, bytes: &[u8], at_ns: u64) -> bool;

    /// Processes a complete head and returns what follows it, or `None` if the head is invalid.
    fn head(&mut self, head: &[u8], now_ns: u64) -> Option<AfterHead>;

    /// Adds to the length of the content.
    fn content(&mut self, bytes: u64);

    /// Ends the message.
    fn ends(&mut self, at_ns: u64);
}

/// The part that follows a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AfterHead {
    /// Content.
    Body(BodyState),
    /// Nothing: the message ends.
    End,
    /// Another head of the same message.
    Head,
    /// Another protocol than HTTP/1.
    Other,
}

impl Half {
    /// Returns whether the position in the stream is known.
    pub(super) fn is_certain(&self) -> bool {
        self.state != State::Lost
    }

    /// Returns whether the position is between two messages.
    pub(super) fn is_between(&self) -> bool {
        self.state == State::Head && self.head.is_empty()
    }

    /// Returns whether the position is within a head.
    pub(super) fn is_in_head(&self) -> bool {
        self.state == State::Head && !self.head.is_empty()
    }

    /// Returns what has been received of a head; empty if there is none.
    pub(super) fn head_bytes(&self) -> &[u8] {
        self.head.bytes()
    }

    /// Takes the stream with the segments that wait for earlier ones.
    pub(super) fn take_waiting(&mut self) -> Reassembly {
        std::mem::take(&mut self.stream)
    }

    /// Returns whether the content ends with the connection and everything up to `end` has been
    /// processed.
    pub(super) fn ends_with(&self, end: i64) -> bool {
        self.state == State::Body(BodyState::ToEnd) && self.stream.next() == end
    }

    /// Returns the position in the stream.
    pub(super) fn next(&self) -> i64 {
        self.stream.next()
    }

    /// Sets the position to `next`, where a message begins.
    pub(super) fn begin_at(&mut self, next: i64, budget: &mut Budget) {
        self.head.clear(budget);
        self.stream.begin_at(next, budget);
        self.state = State::Head;
    }

    /// Marks the position as unknown and discards buffered data.
    pub(super) fn lose(&mut self, budget: &mut Budget) {
        self.head.clear(budget);
        self.stream.clear(budget);
        self.state = State::Lost;
    }

    /// Processes a segment. Returns true if the position became unknown.
    pub(super) fn take(
        &mut self,
        begin: i64,
        payload: Span<'_>,
        at_ns: u64,
        budget: &mut Budget,
        reader: &mut impl Reader,
    ) -> bool {
        let unread = match self.state {
            State::Body(body) => body.unread(),
            State::Head => 0,
            State::Lost => return false,
        };
        match self.stream.take(begin, payload, at_ns, unread, budget) {
            Now::Read(span) => {
                self.read(span, at_ns, at_ns, budget, reader);
                self.read_waiting(at_ns, budget, reader);
            }
            Now::Nothing => {}
            Now::Full => self.lose(budget),
        }
        !self.is_certain()
    }

    /// Records that the other side has acknowledged the stream up to `to`, so that gaps before it
    /// will never be filled. Returns true if the position became unknown.
    pub(super) fn acknowledged(
        &mut self,
        to: i64,
        at_ns: u64,
        budget: &mut Budget,
        reader: &mut impl Reader,
    ) -> bool {
        while let Some(hole) = self.stream.hole(to) {
            match &mut self.state {
                State::Body(body) if hole < body.unread() => {
                    let hole = Span::new(&[], hole as usize);
                    reader.content(body.take(hole).content);
                    self.stream.pass_hole();
                    self.read_waiting(at_ns, budget, reader);
                }
                _ => self.lose(budget),
            }
        }
        !self.is_certain()
    }

    /// Returns whether there is a gap before `to` with buffered data after it.
    pub(super) fn lacks(&self, to: i64) -> bool {
        self.stream.hole(to).is_some()
    }

    fn read_waiting(&mut self, at_ns: u64, budget: &mut Budget, reader: &mut impl Reader) {
        while let Some((piece, from)) = self.stream.ready(budget) {
            self.read(piece.span().skip(from), piece.at_ns, at_ns, budget, reader);
        }
    }

    /// Processes the next bytes, which were captured at `seen_ns` and became in order at `now_ns`.
    fn read(
        &mut self,
        mut next: Span<'_>,
        seen_ns: u64,
        now_ns: u64,
        budget: &mut Budget,
        reader: &mut impl Reader,
    ) {
        while next.length > 0 {
            let used = match self.state {
                State::Lost => return,
                State::Head => self.read_head(next, seen_ns, now_ns, budget, reader),
                State::Body(_) => self.read_body(next, now_ns, reader),
            };
            let Some(used) = used else { return self.lose(budget) };
            next = next.skip(used);
        }
    }

    fn read_head(
        &mut self,
        next: Span<'_>,
        seen_ns: u64,
        now_ns: u64,
        budget: &mut Budget,
        reader: &mut impl Reader,
    ) -> Option<usize> {
        if self.head.is_empty() {
            // Empty lines before a message are ignored (RFC 9112, 2.2).
            let blank = next.bytes.iter().take_while(|byte| b"\r\n".contains(byte)).count();
            if blank > 0 {
                return Some(blank);
            }
            if !reader.begins(next.bytes, seen_ns) {
                return None;
            }
        }
        let (then, used) = match self.head.take(&next, budget) {
            Collected::More => return Some(next.length),
            Collected::Lost => return None,
            Collected::Whole(head, used) => (reader.head(head, now_ns)?, used),
        };
        self.head.clear(budget);
        match then {
            AfterHead::Body(body) => self.state = State::Body(body),
            AfterHead::End => reader.ends(now_ns),
            AfterHead::Head => {}
            AfterHead::Other => return None,
        }
        Some(used)
    }

    fn read_body(
        &mut self,
        next: Span<'_>,
        now_ns: u64,
        reader: &mut impl Reader,
    ) -> Option<usize> {
        let State::Body(body) = &mut self.state else { return None };
        let took = body.take(next);
        reader.content(took.content);
        match took.state {
            MessageState::More => {}
            MessageState::Lost => return None,
            MessageState::End => {
                self.state = State::Head;
                reader.ends(now_ns);
            }
        }
        Some(took.used)
    }
}
