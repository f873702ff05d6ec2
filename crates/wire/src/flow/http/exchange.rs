//! One exchange on its way, and what counts of it.

use super::super::Segment;
use super::super::observed::Opening;
use super::super::side::Side;
use super::super::transfer::{Ends, Transfer, Unmeasured, Way};
use super::Came;

/// An exchange on its way.
#[derive(Debug)]
pub(super) struct Exchange {
    pub(super) found: Transfer,
    /// Where the server's stream stood when it was asked.
    start: i64,
    /// Up to where the client has acknowledged content.
    acknowledged: i64,
    /// And before its FIN.
    before_fin: i64,
    /// All bytes that count so far.
    bytes: Way<u64>,
    /// Nothing counts any more: another request has come.
    closed: bool,
    /// When the last of the request came, and of that which may be the request.
    asked_ns: Option<u64>,
    sent_ns: u64,
    /// When the first of the response came.
    first_ns: Option<u64>,
    /// When something new of the response came last.
    received_ns: u64,
}

/// What a connection says of itself to its exchanges.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct About<'a> {
    pub(in super::super) ends: Ends,
    pub(in super::super) opening: &'a Opening,
    pub(in super::super) server: &'a Side,
    /// Segments came in fragments that were not put together.
    pub(in super::super) fragmented: bool,
    /// The client acknowledged what never came by.
    pub(in super::super) gap: bool,
    /// The server has said its last, or somebody cut the connection off.
    pub(in super::super) over: bool,
}

impl Exchange {
    /// One that this segment begins, the `number`th of its connection.
    pub(super) fn new(number: u32, segment: &Segment<'_>, about: &About<'_>) -> Exchange {
        let server = about.server.stream.as_ref();
        let start = server.map_or(0, |s| s.end().max(s.payload_end()));
        Exchange {
            found: Transfer::new(about.ends, number, segment.at_ns),
            start,
            acknowledged: start,
            before_fin: start,
            bytes: Way { from_client: segment.length, from_server: 0 },
            closed: false,
            asked_ns: None,
            sent_ns: segment.at_ns,
            first_ns: None,
            received_ns: segment.at_ns,
        }
    }

    /// Another segment.
    pub(super) fn count(&mut self, came: &Came<'_>, mss: Option<u16>) {
        let Came { by_client, segment, brought, .. } = *came;
        let too_long = mss.is_some_and(|mss| segment.tcp.payload.length > usize::from(mss));
        self.found.coalesced += u64::from(too_long);
        let known = if brought.repeats { segment.length } else { brought.known };
        let repeated = self.found.repeated.of(by_client);
        repeated.segments += u64::from(brought.repeats);
        repeated.bytes += known;
        *self.bytes.of(by_client) += segment.length.saturating_sub(known);
        match by_client {
            true if brought.is_new && self.first_ns.is_none() => self.sent_ns = segment.at_ns,
            false if segment.tcp.payload.length > 0 && !brought.repeats => {
                self.received_ns = segment.at_ns;
            }
            _ => {}
        }
    }

    /// All of the request has come.
    pub(super) fn is_asked(&mut self, at_ns: u64) {
        self.asked_ns.get_or_insert(at_ns);
    }

    /// Something of the response has come.
    pub(super) fn is_answered(&mut self, at_ns: u64) {
        self.first_ns.get_or_insert(at_ns);
    }

    /// All of the response has come.
    pub(super) fn is_whole(&mut self, at_ns: u64) {
        self.found.whole = Some(true);
        let first_ns = self.first_ns.unwrap_or(at_ns);
        self.found.transfer_ns = Some(at_ns.saturating_sub(first_ns));
    }

    /// All of the response has come, since no more will.
    pub(super) fn ends(&mut self) {
        self.is_whole(self.received_ns);
    }

    /// A reset.
    pub(super) fn cut_off(&mut self, by_client: bool, segment: &Segment<'_>) {
        *self.found.resets.of(by_client) += 1;
        // What it acknowledges is nothing that was taken.
        *self.bytes.of(by_client) += segment.length;
    }

    /// The client acknowledged the server's payload, which ends at `end`, up to here; `finished` where
    /// its FIN came before or with that.
    pub(super) fn acknowledge(&mut self, to: i64, end: i64, finished: bool, at_ns: u64) {
        let content = to.min(end);
        if content <= self.acknowledged {
            return;
        }
        let after_ns = at_ns.saturating_sub(self.found.began_ns);
        self.acknowledged = content;
        self.found.acknowledged_ns = Some(after_ns);
        if !finished {
            self.before_fin = content;
            self.found.delay_ns = Some(after_ns);
            self.found.bytes = self.bytes;
        }
    }

    /// Nothing of a response has come.
    pub(super) fn is_unanswered(&self) -> bool {
        self.first_ns.is_none()
    }

    /// Another request came before this one's response had ended.
    pub(super) fn is_pipelined(&mut self) {
        self.found.unmeasured = Some(Unmeasured::Pipelined);
    }

    /// Nothing that comes from now on counts.
    pub(super) fn close(&mut self, about: &About<'_>) {
        if std::mem::replace(&mut self.closed, true) {
            return;
        }
        let found = &mut self.found;
        let end = about.server.payload_end().max(self.start);
        found.response_bytes = (end - self.start) as u64;
        found.left_to_fin = (end - self.before_fin) as u64;
        // It may have come after the request: where the server accepts late.
        found.answered_ns = about.opening.answered_ns;
        found.established_ns = about.opening.established_ns;
        if self.acknowledged < end {
            found.acknowledged_ns = None;
        }
        let server = about.server.stream.as_ref();
        let whole = server.is_none_or(|stream| stream.is_whole(self.start, self.acknowledged));
        match found.unmeasured {
            _ if about.fragmented => found.refuse(Unmeasured::Fragmented),
            _ if about.gap || !whole => found.refuse(Unmeasured::Gap),
            Some(reason) => found.refuse(reason),
            None if found.delay_ns.is_none() => found.unmeasured = Some(Unmeasured::NoAck),
            None => {}
        }
    }

    /// What came of it.
    pub(super) fn finish(mut self, about: &About<'_>) -> Transfer {
        self.close(about);
        let asked_ns = self.asked_ns.unwrap_or(self.sent_ns);
        let found = &mut self.found;
        let after = |at_ns: u64| at_ns.saturating_sub(found.began_ns);
        let (request_ns, first_byte_ns) = (after(asked_ns), self.first_ns.map(after));
        found.request_ns = Some(request_ns);
        found.first_byte_ns = first_byte_ns;
        found.wait_ns = first_byte_ns.map(|first| first.saturating_sub(request_ns));
        self.found
    }
}
