//! A rate limit: a token bucket with a queue that drops frames that do not fit.

use std::collections::VecDeque;
use std::num::NonZeroU64;

use crate::impairment::{ETHERNET_BYTES, FrameRate};

/// The rate limit of one direction, which frames pass in the order in which they came.
#[derive(Debug)]
pub(super) struct Turns {
    bits_per_s: u64,
    framing: u64,
    /// The time that the burst takes at the rate, in nanoseconds.
    burst_ns: u64,
    limit: u64,
    /// The time up to which the rate has been used. It lags behind the clock by at most `burst_ns`;
    /// this lag is the credit for a burst.
    taken_ns: u64,
    /// The remainder of the last division, so that the rate is exact over any number of frames.
    remainder: u64,
    /// When each waiting frame leaves, and its length in bytes.
    waiting: VecDeque<(u64, u64)>,
    waiting_bytes: u64,
}

const BITS_NS: u64 = 8 * 1_000_000_000;

impl Turns {
    pub(super) fn new(rate: &FrameRate) -> Turns {
        let bits_per_s = rate.bits_per_s.get();
        let burst = u128::from(rate.burst_bytes.map_or(0, NonZeroU64::get));
        Turns {
            bits_per_s,
            framing: if rate.ethernet { u64::from(ETHERNET_BYTES) } else { 0 },
            burst_ns: (burst * u128::from(BITS_NS) / u128::from(bits_per_s)) as u64,
            limit: rate.queue_bytes(),
            taken_ns: 0,
            remainder: 0,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
        }
    }

    /// Returns when a frame that comes now has left, or `None` if the queue is too full for it. A
    /// frame always fits into an empty queue.
    pub(super) fn next(&mut self, bytes: usize, now_ns: u64) -> Option<u64> {
        self.leave(now_ns);
        let bytes = bytes as u64;
        if !self.waiting.is_empty() && self.waiting_bytes + bytes > self.limit {
            return None;
        }
        let since = self.taken_ns.max(now_ns.saturating_sub(self.burst_ns));
        self.taken_ns = since.saturating_add(self.duration(bytes));
        let leaves = self.taken_ns.max(now_ns);
        if leaves > now_ns {
            self.waiting.push_back((leaves, bytes));
            self.waiting_bytes += bytes;
        }
        Some(leaves)
    }

    fn leave(&mut self, now_ns: u64) {
        while let Some((_, bytes)) = self.waiting.pop_front_if(|(leaves, _)| *leaves <= now_ns) {
            self.waiting_bytes -= bytes;
        }
    }

    /// Returns the sending time in whole nanoseconds. The rounding remainder is added to the next
    /// frame.
    fn duration(&mut self, bytes: u64) -> u64 {
        let parts = (bytes + self.framing) * BITS_NS + self.remainder;
        self.remainder = parts % self.bits_per_s;
        parts / self.bits_per_s
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turns(bits_per_s: u64, ethernet: bool, burst: u64, queue: u64) -> Turns {
        Turns::new(&FrameRate {
            bits_per_s: NonZeroU64::new(bits_per_s).unwrap(),
            ethernet,
            burst_bytes: NonZeroU64::new(burst),
            queue_bytes: NonZeroU64::new(queue),
        })
    }

    #[test]
    fn a_full_link_carries_its_rate_exactly() {
        for (bits_per_s, bytes, ethernet) in [
            (100_000_000, 1_514, false),
            (100_000_000, 1_514, true),
            (3_333_333, 60, true),
            (10_000_000_007, 60, false),
        ] {
            let mut turns = turns(bits_per_s, ethernet, 0, u64::MAX >> 8);
            let frames = 100_000;
            let last = (0..frames).map(|_| turns.next(bytes, 1_000).unwrap()).last().unwrap();
            let on_wire = bytes as u64 + if ethernet { 24 } else { 0 };
            let exact = u128::from(frames * on_wire * BITS_NS) / u128::from(bits_per_s);
            assert_eq!(u128::from(last) - 1_000, exact, "{bits_per_s} {bytes}");
        }
    }

    #[test]
    fn a_frame_leaves_when_its_last_bit_is_sent() {
        let mut turns = turns(100_000_000, true, 0, 0);
        assert_eq!(turns.next(1_226, 5_000_000), Some(5_100_000), "1,250 bytes on the wire");
    }

    #[test]
    fn sends_at_most_the_burst_at_once_after_idle_time() {
        let mut turns = turns(100_000_000, false, 3_000, 0);
        let second = 1_000_000_000;
        let left: Vec<u64> = (0..4).map(|_| turns.next(1_500, second).unwrap() - second).collect();
        assert_eq!(left, [0, 0, 120_000, 240_000]);
        let later = second + 240_000 + 120_000;
        assert_eq!(turns.next(1_500, later), Some(later), "one frame's time of rest, one frame");
        assert_eq!(turns.next(1_500, later), Some(later + 120_000));
    }

    #[test]
    fn a_frame_larger_than_the_burst_waits_for_the_missing_tokens() {
        let mut turns = turns(100_000_000, false, 500, 0);
        assert_eq!(turns.next(1_500, 1_000_000), Some(1_080_000));
    }

    #[test]
    fn a_full_queue_drops_frames_and_an_empty_one_accepts_any_size() {
        let mut turns = turns(8_000_000, false, 0, 3_000);
        let fits = |turns: &mut Turns, now| turns.next(1_000, now).is_some();
        assert_eq!([0; 5].map(|now| fits(&mut turns, now)), [true, true, true, false, false]);
        assert!(turns.next(1, 0).is_none());
        assert!(!fits(&mut turns, 999_999), "the first has left after a millisecond");
        assert!(fits(&mut turns, 1_000_000));
        assert!(!fits(&mut turns, 1_000_000));
        assert!(turns.next(9_000, 99_000_000).is_some(), "into an empty queue fits anything");
    }
}
