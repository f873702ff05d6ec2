//! In-order reassembly of a stream. Segments that arrive early are buffered until the gap before
//! them is filled. The size of the buffer and the number of segments in it are limited.

use std::collections::VecDeque;

use super::budget::Budget;
use crate::Span;

/// The maximum number of buffered segments.
const MOST: usize = 64;
/// The cost of a buffered segment in addition to its bytes.
const OVERHEAD: usize = 64;

/// The reassembly state of a stream.
#[derive(Debug, Default)]
pub(super) struct Reassembly {
    /// The position after everything returned so far.
    next: i64,
    /// The segments that arrived early, sorted by position.
    waiting: VecDeque<Piece>,
}

/// A buffered segment.
#[derive(Debug)]
pub(super) struct Piece {
    begin: i64,
    length: usize,
    bytes: Box<[u8]>,
    /// The time when it was seen.
    pub(super) at_ns: u64,
}

impl Piece {
    pub(super) fn span(&self) -> Span<'_> {
        Span::new(&self.bytes, self.length)
    }

    fn cost(&self) -> usize {
        self.bytes.len() + OVERHEAD
    }
}

/// The result of adding a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Now<'a> {
    /// The segment is next in order: its new bytes, to be processed at once.
    Read(Span<'a>),
    /// The segment has been buffered, or contains nothing new.
    Nothing,
    /// There is no room to buffer the segment.
    Full,
}

impl Reassembly {
    /// Returns the position after everything returned so far.
    pub(super) fn next(&self) -> i64 {
        self.next
    }

    /// Returns when the first of the buffered segments was seen, if there are any.
    pub(super) fn earliest_ns(&self) -> Option<u64> {
        self.waiting.iter().map(|piece| piece.at_ns).min()
    }

    /// Discards the buffer and restarts at position `next`.
    pub(super) fn begin_at(&mut self, next: i64, budget: &mut Budget) {
        self.clear(budget);
        self.next = next;
    }

    /// Discards all buffered segments.
    pub(super) fn clear(&mut self, budget: &mut Budget) {
        self.waiting.drain(..).for_each(|piece| budget.give(piece.cost()));
    }

    /// Adds a segment whose payload begins at `begin`. The caller will ignore the next `skipped`
    /// bytes of the stream, so a segment within them is buffered without its bytes.
    pub(super) fn take<'a>(
        &mut self,
        begin: i64,
        payload: Span<'a>,
        at_ns: u64,
        skipped: u64,
        budget: &mut Budget,
    ) -> Now<'a> {
        if begin > self.next {
            let beyond = (begin - self.next) as u64 + payload.length as u64;
            let bytes = if beyond <= skipped { &[] } else { payload.bytes };
            return self.wait(begin, payload.length, bytes, at_ns, budget);
        }
        let known = (self.next - begin) as usize;
        if payload.length > known {
            let rest = payload.skip(known);
            self.next += rest.length as i64;
            Now::Read(rest)
        } else {
            Now::Nothing
        }
    }

    /// Returns the next buffered segment that is now in order, and the offset of its first new
    /// byte.
    pub(super) fn ready(&mut self, budget: &mut Budget) -> Option<(Piece, usize)> {
        while self.waiting.front().is_some_and(|piece| piece.begin <= self.next) {
            let piece = self.waiting.pop_front()?;
            budget.give(piece.cost());
            let known = (self.next - piece.begin) as usize;
            if known < piece.length {
                self.next = piece.begin + piece.length as i64;
                return Some((piece, known));
            }
        }
        None
    }

    /// Returns the size of the gap before the buffered segments if it will never be filled, because
    /// the other side has acknowledged `to`, which is beyond the gap.
    pub(super) fn hole(&self, to: i64) -> Option<u64> {
        let behind = self.waiting.front()?.begin;
        (behind <= to).then_some((behind - self.next) as u64)
    }

    /// Skips the gap before the buffered segments.
    pub(super) fn pass_hole(&mut self) {
        self.next = self.waiting.front().map_or(self.next, |piece| piece.begin);
    }

    fn wait<'a>(
        &mut self,
        begin: i64,
        length: usize,
        bytes: &[u8],
        at_ns: u64,
        budget: &mut Budget,
    ) -> Now<'a> {
        let at = self.waiting.partition_point(|piece| piece.begin < begin);
        if self.waiting.get(at).is_some_and(|known| known.begin == begin && known.length >= length)
        {
            return Now::Nothing;
        }
        if self.waiting.len() == MOST || !budget.take(bytes.len() + OVERHEAD) {
            return Now::Full;
        }
        self.waiting.insert(at, Piece { begin, length, bytes: bytes.into(), at_ns });
        Now::Nothing
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixmark_units::random::Random;

    fn whole(bytes: &[u8]) -> Span<'_> {
        Span::new(bytes, bytes.len())
    }

    #[test]
    fn restores_the_stream_from_segments_in_any_order() {
        let mut random = Random::new(5, 0);
        for _ in 0..500 {
            let stream: Vec<u8> = (0..600).map(|_| random.bits() as u8).collect();
            let (mut found, mut budget) = (Vec::<u8>::new(), Budget::new(1 << 20));
            let mut pieces = Reassembly::default();
            while found.len() < stream.len() {
                let near = found.len().saturating_sub(40) as u64;
                let begin = (near + random.below(120)).min(599) as usize;
                let end = (begin + 1 + random.below(60) as usize).min(stream.len());
                let payload = whole(&stream[begin..end]);
                match pieces.take(begin as i64, payload, 0, 0, &mut budget) {
                    Now::Read(span) => found.extend(span.bytes),
                    Now::Nothing => {}
                    Now::Full => pieces.clear(&mut budget),
                }
                while let Some((piece, from)) = pieces.ready(&mut budget) {
                    found.extend(piece.span().skip(from).bytes);
                }
                assert_eq!(pieces.next() as usize, found.len());
            }
            assert_eq!(found, stream);
            pieces.clear(&mut budget);
            assert_eq!(budget.left(), 1 << 20);
        }
    }

    #[test]
    fn does_not_buffer_bytes_that_will_be_skipped() {
        let mut budget = Budget::new(1_000);
        let mut pieces = Reassembly::default();
        let payload = whole(&[1; 900]);
        assert_eq!(pieces.take(10, payload, 0, 910, &mut budget), Now::Nothing);
        assert_eq!(budget.left(), 1_000 - OVERHEAD);
        assert_eq!(pieces.take(2_000, payload, 0, 910, &mut budget), Now::Full);
        assert_eq!(pieces.hole(9), None);
        assert_eq!(pieces.hole(10), Some(10));
        pieces.pass_hole();
        assert_eq!(pieces.ready(&mut budget).unwrap().0.span().length, 900);
        assert_eq!((pieces.next(), budget.left()), (910, 1_000));
    }

    #[test]
    fn limits_the_number_of_buffered_segments() {
        let (mut budget, mut pieces) = (Budget::new(1 << 20), Reassembly::default());
        let taken = (1..1_000).map(|n| pieces.take(n * 2, whole(b"x"), 0, 0, &mut budget));
        assert_eq!(taken.filter(|now| *now == Now::Nothing).count(), MOST);
    }
}
