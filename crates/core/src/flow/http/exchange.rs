//! The exchange that is on a connection, and what counts of it.

use super::super::Segment;
use super::super::observed::Opening;
use super::super::side::Side;
use super::super::stream::Brought;
use super::super::transfer::{Ends, Transfer, Unmeasured, Way};

/// An exchange on its way.
#[derive(Debug)]
pub(in super::super) struct Exchange {
    pub(super) found: Transfer,
    /// Where the server's stream stood when it was asked.
    start: i64,
    /// Up to where the client has acknowledged content.
    acknowledged: i64,
    /// And before its FIN.
    before_fin: i64,
    /// All bytes that count so far.
    bytes: Way<u64>,
}

/// What a connection says of itself to its exchanges.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct About<'a> {
    pub(in super::super) ends: Ends,
    pub(in super::super) opening: &'a Opening,
    pub(in super::super) server: &'a Side,
    /// Segments came in fragments.
    pub(in super::super) fragmented: bool,
    /// The client acknowledged what never came by.
    pub(in super::super) gap: bool,
}

impl Exchange {
    /// One that this segment begins, the `number`th of its connection.
    pub(super) fn new(number: u32, segment: &Segment<'_>, about: &About<'_>) -> Exchange {
        let server = about.server.stream.as_ref();
        let start = server.map_or(0, |s| s.end().max(s.payload_end()));
        let found = Transfer::new(about.ends, number, segment.at_ns);
        let bytes = Way { from_client: segment.length, from_server: 0 };
        Exchange { found, start, acknowledged: start, before_fin: start, bytes }
    }

    /// Another segment.
    pub(super) fn count(
        &mut self,
        by_client: bool,
        segment: &Segment<'_>,
        brought: &Brought,
        mss: Option<u16>,
    ) {
        let too_long = mss.is_some_and(|mss| segment.tcp.payload.length > usize::from(mss));
        self.found.coalesced += u64::from(too_long);
        let known = if brought.repeats { segment.length } else { brought.known };
        let repeated = self.found.repeated.of(by_client);
        repeated.segments += u64::from(brought.repeats);
        repeated.bytes += known;
        *self.bytes.of(by_client) += segment.length.saturating_sub(known);
        if !by_client && brought.is_new {
            let first_ns = segment.at_ns.saturating_sub(self.found.began_ns);
            self.found.first_byte_ns.get_or_insert(first_ns);
        }
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
        self.found.first_byte_ns.is_none()
    }

    /// What came of it.
    pub(super) fn finish(self, about: &About<'_>) -> Transfer {
        let Exchange { mut found, start, before_fin, .. } = self;
        let end = about.server.payload_end().max(start);
        found.response_bytes = (end - start) as u64;
        found.left_to_fin = (end - before_fin) as u64;
        // It may have come after the request: where the server accepts late.
        found.wait_ns = found.first_byte_ns;
        found.answered_ns = about.opening.answered_ns;
        found.established_ns = about.opening.established_ns;
        if self.acknowledged < end {
            found.acknowledged_ns = None;
        }
        let server = about.server.stream.as_ref();
        let whole = server.is_none_or(|stream| stream.is_whole(start, self.acknowledged));
        match () {
            () if about.fragmented => found.refuse(Unmeasured::Fragmented),
            () if about.gap || !whole => found.refuse(Unmeasured::Gap),
            () if found.unmeasured.is_some() => found.delay_ns = None,
            () if found.delay_ns.is_none() => found.unmeasured = Some(Unmeasured::NoAck),
            () => {}
        }
        found
    }
}
