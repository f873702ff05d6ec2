//! An exchange in progress, and the segments that count for it.

use super::super::Segment;
use super::super::connection_report::Opening;
use super::super::http_exchange::{Ends, HttpExchange, PerDirection, Unmeasured};
use super::super::side::Side;
use super::super::stream::Stream;
use super::SentSegment;

/// An exchange in progress.
#[derive(Debug)]
pub(super) struct Exchange {
    pub(super) found: HttpExchange,
    /// The end of the server's stream when the request was sent.
    start: i64,
    /// The position up to which the client has acknowledged content.
    acknowledged: i64,
    /// The position up to which the client had acknowledged content before its FIN.
    before_fin: i64,
    /// The bytes that count so far.
    bytes: PerDirection<u64>,
    /// True if nothing counts any more, because another request was sent or the connection ended.
    closed: bool,
    /// The time when the request was complete, and the time of the client's last new data before
    /// the response, which is used if the former is unknown.
    asked_ns: Option<u64>,
    sent_ns: u64,
    /// The times of the first packet of the first interim response and of the response.
    interim_ns: Option<u64>,
    first_ns: Option<u64>,
    /// The time of the last new data of the response.
    received_ns: u64,
}

/// The state of a connection that its exchanges need.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct About<'a> {
    pub(in super::super) ends: Ends,
    pub(in super::super) opening: &'a Opening,
    pub(in super::super) server: &'a Side,
    /// True if segments arrived in fragments that were not reassembled.
    pub(in super::super) fragmented: bool,
    /// True if the client acknowledged data that was not captured.
    pub(in super::super) gap: bool,
    /// True if the server has sent a FIN or one side has sent a reset.
    pub(in super::super) over: bool,
    /// True if the server answers, but nothing that it sent was captured.
    pub(in super::super) unheard: bool,
}

impl About<'_> {
    /// Returns the position after everything that the server had sent before this segment of the
    /// client. If that was nothing, the position of its first segment is 0, which is that of the
    /// SYN-ACK if the client's segment is the SYN (TCP Fast Open, RFC 7413).
    pub(in super::super) fn server_end(&self, segment: &Segment<'_>) -> i64 {
        let first = i64::from(segment.tcp.flags.syn());
        self.server.stream.as_ref().map_or(first, Stream::end)
    }
}

impl Exchange {
    /// Returns an exchange that begins with `segment`, with its number on the connection.
    pub(super) fn new(number: u32, segment: &Segment<'_>, about: &About<'_>) -> Exchange {
        let start = about.server_end(segment);
        Exchange {
            found: HttpExchange::new(about.ends, number, segment.at_ns),
            start,
            acknowledged: start,
            before_fin: start,
            bytes: PerDirection { from_client: segment.length, from_server: 0 },
            closed: false,
            asked_ns: None,
            sent_ns: segment.at_ns,
            interim_ns: None,
            first_ns: None,
            received_ns: segment.at_ns,
        }
    }

    /// Adds another segment.
    pub(super) fn count(&mut self, sent: &SentSegment<'_>, mss: Option<u16>) {
        let SentSegment { by_client, segment, effect, .. } = *sent;
        let too_long = mss.is_some_and(|mss| segment.tcp.payload.length > usize::from(mss));
        self.found.coalesced += u64::from(too_long);
        let known = if effect.repeats { segment.length } else { effect.known };
        let repeated = self.found.repeated.of(by_client);
        repeated.segments += u64::from(effect.repeats);
        repeated.bytes += known;
        *self.bytes.of(by_client) += segment.length.saturating_sub(known);
        match by_client {
            true if effect.is_new && self.first_ns.is_none() => self.sent_ns = segment.at_ns,
            false if segment.tcp.payload.length > 0 && !effect.repeats => {
                self.received_ns = segment.at_ns;
            }
            _ => {}
        }
    }

    /// Records that the request is complete.
    pub(super) fn is_asked(&mut self, at_ns: u64) {
        self.asked_ns.get_or_insert(at_ns);
    }

    /// Records that the response has begun.
    pub(super) fn is_answered(&mut self, at_ns: u64) {
        self.first_ns.get_or_insert(at_ns);
    }

    /// Records that what has begun was an interim response, whose head was complete at `at_ns`.
    pub(super) fn is_interim(&mut self, at_ns: u64) {
        self.found.interims = self.found.interims.saturating_add(1);
        let first_ns = self.first_ns.take().unwrap_or(at_ns);
        self.interim_ns.get_or_insert(first_ns);
    }

    /// Records that the response is complete.
    pub(super) fn is_whole(&mut self, at_ns: u64) {
        self.found.whole = Some(true);
        let first_ns = self.first_ns.unwrap_or(at_ns);
        self.found.transfer_ns = Some(at_ns.saturating_sub(first_ns));
    }

    /// Records that the response is complete because the connection ended.
    pub(super) fn ends(&mut self) {
        self.is_whole(self.received_ns);
    }

    /// Records a reset.
    pub(super) fn cut_off(&mut self, by_client: bool, segment: &Segment<'_>) {
        *self.found.resets.of(by_client) += 1;
        // The acknowledgement number of a reset does not acknowledge content.
        *self.bytes.of(by_client) += segment.length;
    }

    /// Records the client's ACK up to `to` of the server's payload, which ends at `end`. `finished`
    /// is true if the client's FIN was sent earlier or in the same segment.
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

    /// Returns whether no part of a response has been seen, nor of an interim one.
    pub(super) fn is_unanswered(&self) -> bool {
        self.first_ns.is_none() && self.interim_ns.is_none()
    }

    /// Records that another request was sent before the response had ended.
    pub(super) fn is_pipelined(&mut self) {
        self.found.unmeasured = Some(Unmeasured::Pipelined);
    }

    /// Ends the exchange; later segments no longer count.
    pub(super) fn close(&mut self, about: &About<'_>) {
        if std::mem::replace(&mut self.closed, true) {
            return;
        }
        let found = &mut self.found;
        let end = about.server.payload_end().max(self.start);
        found.response_bytes = (end - self.start) as u64;
        found.left_to_fin = (end - self.before_fin) as u64;
        // The handshake may complete after the request, if the server accepts late.
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

    /// Returns the result.
    pub(super) fn finish(mut self, about: &About<'_>) -> HttpExchange {
        self.close(about);
        let asked_ns = self.asked_ns.unwrap_or(self.sent_ns);
        let found = &mut self.found;
        let after = |at_ns: u64| at_ns.saturating_sub(found.began_ns);
        let (request_ns, first_byte_ns) = (after(asked_ns), self.first_ns.map(after));
        found.request_ns = Some(request_ns);
        found.interim_ns = self.interim_ns.map(after).map(|first| first.saturating_sub(request_ns));
        found.first_byte_ns = first_byte_ns;
        found.wait_ns = first_byte_ns.map(|first| first.saturating_sub(request_ns));
        self.found
    }
}
