//! What one side of a connection has sent.

use super::seen::Seen;
use crate::wire::Tcp;

/// A side's stream. Positions count on where sequence numbers begin again (RFC 9293, 3.4): 0 is the
/// first number that was seen, a SYN's where there was one.
#[derive(Clone, Debug)]
pub(super) struct Side {
    first: u32,
    /// Behind all that was seen, SYN and FIN counted.
    end: i64,
    seen: Seen,
    /// Behind the last byte of payload.
    payload_end: i64,
    fin: bool,
    /// The most bytes that the other side may put in a segment to this one.
    pub(super) mss: Option<u16>,
}

/// What a segment brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Brought {
    /// It took sequence numbers, none of them new.
    pub(super) repeats: bool,
    /// Of its payload so many bytes were seen before.
    pub(super) known: u64,
    /// It has payload, and nothing of that was seen before.
    pub(super) is_new: bool,
}

impl Side {
    /// A side whose first segment this is.
    pub(super) fn new(tcp: &Tcp<'_>) -> Side {
        let first = tcp.sequence;
        let (seen, end) = (Seen::default(), 0);
        Side { first, end, seen, payload_end: 0, fin: false, mss: tcp.options().mss }
    }

    /// Takes the next segment.
    pub(super) fn sent(&mut self, tcp: &Tcp<'_>) -> Brought {
        let payload = tcp.payload.length as i64;
        let start = self.position(tcp.sequence);
        let begin = start + i64::from(tcp.flags.syn());
        let end = begin + payload + i64::from(tcp.flags.fin());
        let new = self.seen.add(start..end);
        let known = ((end - start) as u64 - new).min(payload as u64);
        self.end = self.end.max(end);
        if payload > 0 {
            self.payload_end = self.payload_end.max(begin + payload);
        }
        self.fin |= tcp.flags.fin();
        Brought { repeats: end > start && new == 0, known, is_new: payload > 0 && known == 0 }
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
        self.fin
    }

    /// Nothing between two positions is missing.
    pub(super) fn is_whole(&self, from: i64, to: i64) -> bool {
        self.seen.has(from..to)
    }
}
