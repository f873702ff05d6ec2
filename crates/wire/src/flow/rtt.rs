//! Round-trip times in one direction: the segments that are measured, and the samples that are
//! kept.
//!
//! An ACK is a round trip only if the receiver sent it at once. It may be delayed by up to half a
//! second to ride on data (RFC 9293, 3.8.6.3), and then it tells how long the application took, or
//! the timer. That such an ACK came is only an upper bound. Timestamps (RFC 7323) don't help:
//! a delayed ACK echoes the earliest segment that it covers (4.3), and they tick in milliseconds.

use super::connection_report::RoundTrips;

/// The maximum number of segments of a side that are measured at once. Segments sent while all
/// places are taken are not measured.
const TIMED: usize = 8;
/// The maximum number of samples kept.
const KEPT: usize = 128;

/// Segments that one side sent once and the other side has not acknowledged yet (Karn and Partridge
/// 1987).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Timer {
    /// The end of each segment in its stream and the time it was seen, oldest first.
    under_way: [(i64, u64); TIMED],
    count: usize,
}

impl Timer {
    /// Starts the measurement of a segment that ends at `end` and was sent for the first time.
    pub(super) fn start(&mut self, end: i64, at_ns: u64) {
        if let Some(place) = self.under_way.get_mut(self.count) {
            *place = (end, at_ns);
            self.count += 1;
        }
    }

    /// Discards the measurements of segments that end after `from`, because data there was
    /// retransmitted or filled a gap. An ACK could answer either transmission, or could have been
    /// delayed by the gap.
    pub(super) fn doubt(&mut self, from: i64) {
        let certain = self.under_way[..self.count].iter().take_while(|(end, _)| *end <= from);
        self.count = certain.count();
    }

    /// Completes the measurements up to `to`. Returns the round-trip time of the last segment
    /// covered, which is the one that triggered the ACK.
    pub(super) fn acknowledged(&mut self, to: i64, at_ns: u64) -> Option<u64> {
        if self.count == 0 || self.under_way[0].0 > to {
            return None;
        }
        let covered = self.under_way[..self.count].iter().take_while(|(end, _)| *end <= to).count();
        let (_, sent_ns) = self.under_way[covered.checked_sub(1)?];
        self.under_way.copy_within(covered..self.count, 0);
        self.count -= covered;
        at_ns.checked_sub(sent_ns)
    }
}

/// A sample of round-trip times. It keeps all of them at first, later every second, every fourth
/// and so on, so that the kept ones are always evenly spaced.
#[derive(Clone, Debug, Default)]
pub(super) struct Times {
    count: u64,
    /// The minimum of the samples and of the upper bounds.
    min_ns: Option<u64>,
    /// The logarithm to base 2 of the sampling interval.
    every: u32,
    kept: Vec<u64>,
}

impl Times {
    /// Adds a round trip.
    pub(super) fn add(&mut self, ns: u64) {
        self.bound(ns);
        if self.count & ((1 << self.every) - 1) == 0 {
            self.keep(ns);
        }
        self.count += 1;
    }

    /// Adds a time that no round trip exceeds.
    pub(super) fn bound(&mut self, ns: u64) {
        self.min_ns = Some(self.min_ns.map_or(ns, |min| min.min(ns)));
    }

    /// Returns the minimum if there are upper bounds only.
    pub(super) fn only_bound(&self) -> Option<u64> {
        self.min_ns.filter(|_| self.count == 0)
    }

    pub(super) fn finish(mut self) -> RoundTrips {
        let bound = self.only_bound();
        self.kept.sort_unstable();
        let last = self.kept.len().saturating_sub(1);
        let rank = |q: usize| self.kept.get((last * q + 50) / 100).copied();
        let (p50_ns, p99_ns) = (rank(50).or(bound), rank(99));
        RoundTrips { count: self.count, min_ns: self.min_ns, p50_ns, p99_ns }
    }

    fn keep(&mut self, ns: u64) {
        if self.kept.len() == KEPT {
            let mut nth = 0;
            self.kept.retain(|_| {
                nth += 1;
                nth % 2 == 1
            });
            self.every = (self.every + 1).min(62);
            // The current one follows an even number of kept ones, so it is kept as well.
        }
        self.kept.push(ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_segment_that_an_ack_covers_is_timed() {
        let mut timer = Timer::default();
        assert_eq!(timer.acknowledged(100, 5), None);
        (1..=3).for_each(|n| timer.start(n * 100, n as u64));
        assert_eq!(timer.acknowledged(50, 10), None);
        assert_eq!(timer.acknowledged(200, 12), Some(10));
        assert_eq!(timer.acknowledged(200, 13), None);
        assert_eq!(timer.acknowledged(1_000, 13), Some(10));
    }

    #[test]
    fn does_not_time_retransmitted_data_or_data_behind_it() {
        let mut timer = Timer::default();
        (1..=4).for_each(|n| timer.start(n * 100, n as u64));
        timer.doubt(150);
        assert_eq!(timer.acknowledged(400, 10), Some(9));
        // If the clock runs backwards, there is no sample.
        timer.start(500, 100);
        assert_eq!(timer.acknowledged(500, 99), None);
    }

    #[test]
    fn limits_the_number_of_segments_timed_at_once() {
        let mut timer = Timer::default();
        (0..1_000).for_each(|n| timer.start(n + 1, n as u64));
        assert_eq!(timer.acknowledged(1_000, 1_000), Some(1_000 - (TIMED as u64 - 1)));
    }

    #[test]
    fn keeps_an_even_sample_of_many_round_trip_times() {
        for count in [1, 100, 128, 129, 1_000, 100_000u64] {
            let mut times = Times::default();
            (0..count).for_each(|n| times.add(n + 1));
            assert!(times.kept.len() <= KEPT && times.kept.len() as u64 >= count.min(64));
            let found = times.finish();
            assert_eq!((found.count, found.min_ns), (count, Some(1)));
            let near = |ns: Option<u64>, share: f64| {
                let (ns, expected) = (ns.unwrap() as f64, share * count as f64);
                assert!((ns - expected).abs() <= 1.0 + count as f64 / 50.0, "{ns} {expected}");
            };
            near(found.p50_ns, 0.5);
            near(found.p99_ns, 0.99);
        }
        assert_eq!(Times::default().finish(), RoundTrips::default());
    }

    #[test]
    fn reports_a_bound_as_the_median_only_without_any_sample() {
        let mut times = Times::default();
        [7, 5].into_iter().for_each(|ns| times.bound(ns));
        let only = RoundTrips { count: 0, min_ns: Some(5), p50_ns: Some(5), p99_ns: None };
        assert_eq!(times.clone().finish(), only);
        times.add(6);
        let found = times.finish();
        assert_eq!((found.count, found.min_ns, found.p50_ns), (1, Some(5), Some(6)));
    }
}
