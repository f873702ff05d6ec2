//! What one side of a connection has sent.

use super::seen::Seen;
use crate::Tcp;

/// A side's stream. Positions count on where sequence numbers begin again (RFC 9293, 3.4): 0 is the
/// first number that was seen, a SYN's where there was one.
#[derive(Clone, Debug)]
pub(super) struct Stream {
    first: u32,
    /// Behind all that was seen, SYN and FIN counted.
    end: i64,
    /// When that came.
    end_ns: u64,
    seen: Seen,
    /// Behind the last byte of payload.
    payload_end: i64,
    /// Where it said that it was through.
    fin: Option<i64>,
}

/// What a segment brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Brought {
    /// Where its payload begins.
    pub(super) begin: i64,
    /// Behind all of it, a FIN counted.
    pub(super) end: i64,
    /// What it is among others.
    pub(super) kind: SegmentKind,
    /// It took sequence numbers, none of them new.
    pub(super) repeats: bool,
    /// Of its payload so many bytes were seen before.
    pub(super) known: u64,
    /// It has payload, and nothing of that was seen before.
    pub(super) is_new: bool,
    /// It says for the first time that its sender is through.
    pub(super) finishes: bool,
}

/// What a segment is among those of its side. The rules are tshark's (`tcp.analysis`), so that figures
/// can be compared, but that it is known here byte by byte what was seen before, and not only of
/// single segments that were not acknowledged yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SegmentKind {
    /// It takes no sequence numbers.
    Empty,
    /// It goes on where the stream ended, or behind that.
    Next,
    /// One byte of what the other side has acknowledged already or has no room for, or none at all before
    /// the end of the stream: it asks whether somebody is there.
    Probe,
    /// It begins before the end of the stream, and is neither a probe nor out of order.
    Retransmitted,
    /// It begins before the end of the stream, not all of it was seen before, and it came so soon after the
    /// end that it can't have been sent again in answer to anything.
    OutOfOrder,
}

/// What the other side has said to a stream until now.
#[derive(Clone, Copy, Debug)]
pub(super) struct Heard {
    /// Up to where it acknowledged last.
    pub(super) acknowledged: Option<i64>,
    /// When it did.
    pub(super) acknowledged_ns: u64,
    /// How often it repeated that.
    pub(super) duplicates: u32,
    /// It takes nothing.
    pub(super) closed: bool,
    /// How soon nothing can have been answered: a round trip.
    pub(super) soon_ns: u64,
}

/// A segment that is sent again because of duplicate ACKs comes so soon after the last one.
const FAST_NS: u64 = 20_000_000;

impl Stream {
    /// A stream whose first segment this is.
    pub(super) fn new(tcp: &Tcp<'_>) -> Stream {
        let first = tcp.sequence;
        Stream { first, end: 0, end_ns: 0, seen: Seen::default(), payload_end: 0, fin: None }
    }

    /// Takes the next segment.
    pub(super) fn sent(&mut self, tcp: &Tcp<'_>, at_ns: u64, heard: &Heard) -> Brought {
        let payload = tcp.payload.length as i64;
        let start = self.position(tcp.sequence);
        let begin = start + i64::from(tcp.flags.syn());
        let end = begin + payload + i64::from(tcp.flags.fin());
        let is_probe = self.is_probe(tcp, start, heard);
        // A probe that is not taken is sent again as something new.
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
        Brought { begin, end, kind, repeats, known, is_new, finishes }
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
        // Behind a probe of one byte that nobody took, its byte comes again.
        if all.start >= self.end || (payload > 1 && all.start == self.end - 1 && new > 0) {
            return SegmentKind::Next;
        }
        let fast = heard.duplicates >= 2
            && acknowledged == all.start
            && at_ns.saturating_sub(heard.acknowledged_ns) < FAST_NS;
        let soon = at_ns.saturating_sub(self.end_ns) < heard.soon_ns;
        match !fast && soon && new > 0 && all.end != self.end {
            true => SegmentKind::OutOfOrder,
            false => SegmentKind::Retransmitted,
        }
    }

    /// Where the byte of this number is. The nearest to what was last seen: windows are never longer
    /// than a quarter of all numbers (RFC 7323, 2.3).
    pub(super) fn position(&self, number: u32) -> i64 {
        let last = self.first.wrapping_add(self.end as u32);
        self.end + i64::from(number.wrapping_sub(last) as i32)
    }

    /// Whether its first segment had this number.
    pub(super) fn began_with(&self, number: u32) -> bool {
        self.first == number
    }

    /// Behind all that was seen.
    pub(super) fn end(&self) -> i64 {
        self.end
    }

    /// Behind the last byte of payload.
    pub(super) fn payload_end(&self) -> i64 {
        self.payload_end
    }

    /// It has said its last.
    pub(super) fn has_finished(&self) -> bool {
        self.fin.is_some()
    }

    /// Nothing between two positions is missing.
    pub(super) fn is_whole(&self, from: i64, to: i64) -> bool {
        self.seen.has(from..to)
    }

    /// Nothing is missing from its beginning up to here.
    pub(super) fn is_whole_to(&self, to: i64) -> bool {
        self.seen.start().is_none_or(|start| self.seen.has(start..to))
    }
}
