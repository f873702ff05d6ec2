//! The data that one side of a connection has sent.

use super::seen::Seen;
use crate::Tcp;

/// The stream of one side. Positions do not wrap around as sequence numbers do (RFC 9293, 3.4).
/// Position 0 is the first sequence number seen, which is that of the SYN if it was captured.
#[derive(Clone, Debug)]
pub(super) struct Stream {
    first: u32,
    /// The position after everything seen, including SYN and FIN.
    end: i64,
    /// The time when `end` was reached.
    end_ns: u64,
    seen: Seen,
    /// The position after the last byte of payload.
    payload_end: i64,
    /// The position after the FIN.
    fin: Option<i64>,
}

/// The effect of a segment on its stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SegmentEffect {
    /// The position where its payload begins.
    pub(super) begin: i64,
    /// The position after the segment, including a FIN.
    pub(super) end: i64,
    /// The classification of the segment.
    pub(super) kind: SegmentKind,
    /// True if it occupies sequence numbers and none of them is new.
    pub(super) repeats: bool,
    /// The number of payload bytes that had been seen before.
    pub(super) known: u64,
    /// True if it has payload and none of it had been seen before.
    pub(super) is_new: bool,
    /// True if it is the first to carry this side's FIN.
    pub(super) finishes: bool,
}

/// The classification of a segment within its side's stream. The rules are those of tshark
/// (`tcp.analysis`), so that figures can be compared. Unlike tshark, this code tracks every byte
/// that has been seen, not only single segments that are not acknowledged yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SegmentKind {
    /// It occupies no sequence numbers.
    Empty,
    /// It begins at or after the end of the stream.
    Next,
    /// A probe: one byte that the other side has already acknowledged or has no window for, or an
    /// empty segment just before the end of the stream. It asks whether the peer is alive or has
    /// opened its window.
    Probe,
    /// It begins before the end of the stream, and is neither a probe nor out of order.
    Retransmitted,
    /// It begins before the end of the stream, part of it is new, and it arrived too soon after the
    /// end of the stream to be a retransmission triggered by a response.
    OutOfOrder,
}

/// What the other side has acknowledged of a stream so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct Heard {
    /// The last position acknowledged.
    pub(super) acknowledged: Option<i64>,
    /// The time of that ACK.
    pub(super) acknowledged_ns: u64,
    /// The number of duplicates of that ACK.
    pub(super) duplicates: u32,
    /// True if its receive window is zero.
    pub(super) closed: bool,
    /// The round-trip time: nothing sent within this time can be a reaction.
    pub(super) soon_ns: u64,
}

/// The maximum delay of a fast retransmission after the last duplicate ACK.
const FAST_NS: u64 = 20_000_000;

impl Stream {
    /// Returns a stream whose first segment is `tcp`.
    pub(super) fn new(tcp: &Tcp<'_>) -> Stream {
        let first = tcp.sequence;
        Stream { first, end: 0, end_ns: 0, seen: Seen::default(), payload_end: 0, fin: None }
    }

    /// Adds the next segment and classifies it.
    pub(super) fn sent(&mut self, tcp: &Tcp<'_>, at_ns: u64, heard: &Heard) -> SegmentEffect {
        let payload = tcp.payload.length as i64;
        let start = self.position(tcp.sequence);
        let begin = start + i64::from(tcp.flags.syn());
        let end = begin + payload + i64::from(tcp.flags.fin());
        let is_probe = self.is_probe(tcp, start, heard);
        // A probe that was not accepted is sent again as new data, so its bytes are added here.
        let new = self.seen.add(start..end);
        let kind = match is_probe {
            true => SegmentKind::Probe,
            false if end == start => SegmentKind::Empty,
            false => self.kind(start..end, payload, new, at_ns, heard),
        };
        let known = ((end - start) as u64 - new).min(payload as u64);
        if end > self.end {
            (self.end, self.end_ns) = (end, at_ns);
        }
        if payload > 0 {
            self.payload_end = self.payload_end.max(begin + payload);
        }
        let finishes = tcp.flags.fin() && self.fin.replace(end) != Some(end);
        let repeats = end > start && new == 0;
        let is_new = payload > 0 && known == 0;
        SegmentEffect { begin, end, kind, repeats, known, is_new, finishes }
    }

    fn is_probe(&self, tcp: &Tcp<'_>, start: i64, heard: &Heard) -> bool {
        let length = tcp.payload.length;
        let plain = !(tcp.flags.syn() || tcp.flags.fin() || tcp.flags.rst());
        let alive = length <= 1 && start == self.end - 1;
        plain && self.end > 0 && (alive || (length == 1 && start == self.end && heard.closed))
    }

    fn kind(
        &self,
        all: std::ops::Range<i64>,
        payload: i64,
        new: u64,
        at_ns: u64,
        heard: &Heard,
    ) -> SegmentKind {
        let acknowledged = heard.acknowledged.unwrap_or(i64::MIN);
        if payload > 0 && all.end <= acknowledged && self.end > 0 {
            return SegmentKind::Retransmitted;
        }
        // After a one-byte probe that was not accepted, its byte is sent again.
        if all.start >= self.end || (payload > 1 && all.start == self.end - 1 && new > 0) {
            return SegmentKind::Next;
        }
        let fast = heard.duplicates >= 2
            && acknowledged == all.start
            && at_ns.saturating_sub(heard.acknowledged_ns) < FAST_NS;
        let soon = at_ns.saturating_sub(self.end_ns) < heard.soon_ns;
        if !fast && soon && new > 0 && all.end != self.end {
            SegmentKind::OutOfOrder
        } else {
            SegmentKind::Retransmitted
        }
    }

    /// Returns the position of a sequence number: the one nearest to the end of the stream. Windows
    /// never span more than a quarter of the sequence space (RFC 7323, 2.3).
    pub(super) fn position(&self, number: u32) -> i64 {
        let last = self.first.wrapping_add(self.end as u32);
        self.end + i64::from(number.wrapping_sub(last) as i32)
    }

    /// Returns whether the first segment had this sequence number.
    pub(super) fn began_with(&self, number: u32) -> bool {
        self.first == number
    }

    /// Returns the position after everything seen.
    pub(super) fn end(&self) -> i64 {
        self.end
    }

    /// Returns the position after the last byte of payload.
    pub(super) fn payload_end(&self) -> i64 {
        self.payload_end
    }

    /// Returns whether the side has sent a FIN.
    pub(super) fn has_finished(&self) -> bool {
        self.fin.is_some()
    }

    /// Returns whether everything between two positions has been seen.
    pub(super) fn is_whole(&self, from: i64, to: i64) -> bool {
        self.seen.has(from..to)
    }

    /// Returns whether everything from the beginning of the stream to `to` has been seen.
    pub(super) fn is_whole_to(&self, to: i64) -> bool {
        self.seen.start().is_none_or(|start| self.seen.has(start..to))
    }
}
