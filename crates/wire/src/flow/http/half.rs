//! One direction of HTTP/1: heads and content in turn.

use super::super::budget::Budget;
use super::super::reassembly::{Now, Reassembly};
use super::body::{BodyState, Then};
use super::head::{Collected, Head};
use crate::Span;

/// A direction.
#[derive(Debug, Default)]
pub(super) struct Half {
    stream: Reassembly,
    state: State,
    head: Head,
}

/// What is awaited of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// A head, or the rest of it.
    Head,
    /// Content, or the rest of it.
    Body(BodyState),
    /// Nobody knows where it stands.
    #[default]
    Lost,
}

/// Who is told what comes.
pub(super) trait Reader {
    /// A message begins with these bytes, the first of which were kept, seen at `at_ns`. False where none
    /// can.
    fn begins(&mut self, bytes: &[u8], at_ns: u64) -> bool;

    /// Its head is whole: what follows it. None where it is none.
    fn head(&mut self, head: &[u8], now_ns: u64) -> Option<AfterHead>;

    /// So much more of its content has come.
    fn content(&mut self, bytes: u64);

    /// It is whole.
    fn ends(&mut self, at_ns: u64);
}

/// What follows a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AfterHead {
    /// Content.
    Body(BodyState),
    /// The end.
    End,
    /// Another head of the same message.
    Head,
    /// Something that is no HTTP/1.
    Other,
}

impl Half {
    /// It is known where it stands.
    pub(super) fn is_certain(&self) -> bool {
        self.state != State::Lost
    }

    /// A message may begin where it stands.
    pub(super) fn is_between(&self) -> bool {
        self.state == State::Head && self.head.is_empty()
    }

    /// A message has begun whose head is not whole.
    pub(super) fn is_in_head(&self) -> bool {
        self.state == State::Head && !self.head.is_empty()
    }

    /// The message ends where the connection does, and all is there up to `end`.
    pub(super) fn ends_with(&self, end: i64) -> bool {
        self.state == State::Body(BodyState::ToEnd) && self.stream.next() == end
    }

    /// Where it stands.
    pub(super) fn next(&self) -> i64 {
        self.stream.next()
    }

    /// A message begins here.
    pub(super) fn begin_at(&mut self, next: i64, budget: &mut Budget) {
        self.head.clear(budget);
        self.stream.begin_at(next, budget);
        self.state = State::Head;
    }

    /// Nobody knows where it stands.
    pub(super) fn lose(&mut self, budget: &mut Budget) {
        self.head.clear(budget);
        self.stream.clear(budget);
        self.state = State::Lost;
    }

    /// A segment came. True where its place among messages was lost by that.
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

    /// The other side has acknowledged up to here: a hole before that will never be filled. True where
    /// its place among messages was lost by that.
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

    /// Something before this place is missing, and something behind it is here.
    pub(super) fn lacks(&self, to: i64) -> bool {
        self.stream.hole(to).is_some()
    }

    fn read_waiting(&mut self, at_ns: u64, budget: &mut Budget, reader: &mut impl Reader) {
        while let Some((piece, from)) = self.stream.ready(budget) {
            self.read(piece.span().skip(from), piece.at_ns, at_ns, budget, reader);
        }
    }

    /// Reads what comes next: seen at `seen_ns`, and read now.
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
            // Empty lines before a message are to be ignored (RFC 9112, 2.2).
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
        match took.then {
            Then::More => {}
            Then::Lost => return None,
            Then::End => {
                self.state = State::Head;
                reader.ends(now_ns);
            }
        }
        Some(took.used)
    }
}
