//! Counts in buckets whose width grows with the value: HdrHistogram's layout with three digits.
//!
//! A worker records at least four durations for each exchange. The hdrhistogram crate spends about
//! 100 instructions on each, because its layout is a run-time parameter. With a fixed layout,
//! computing a position takes three.

use std::ops::RangeInclusive;

/// Values below this have one bucket each. Above it, the bucket width doubles with each doubling of
/// the value.
const EXACT: u64 = 2_048;
const EXACT_BITS: u32 = EXACT.ilog2();
/// The number of buckets added by each doubling of the value.
const STEP: usize = EXACT as usize / 2;
const STEP_BITS: u32 = EXACT_BITS - 1;
/// The number of buckets whose counts are summed before any of them is examined.
const CHUNK: usize = 32;

/// The number of occurrences of each value, with three significant digits. Memory use depends on
/// the largest value: none while empty, 8 KiB below 1,024 (about 1 us if the values are
/// nanoseconds), and 8 KiB more for each doubling.
#[derive(Clone, Debug, Default)]
pub(crate) struct LogLinearBuckets {
    counts: Vec<u64>,
    total: u64,
}

impl LogLinearBuckets {
    /// Counts a value once.
    #[inline]
    pub(crate) fn record(&mut self, value: u64) {
        self.record_many(value, 1);
    }

    /// Counts a value `times` times.
    #[inline]
    pub(crate) fn record_many(&mut self, value: u64, times: u64) {
        let at = position(value);
        self.total = self.total.saturating_add(times);
        match self.counts.get_mut(at) {
            Some(count) => *count = count.saturating_add(times),
            None => self.record_beyond(at, times),
        }
    }

    /// Counts a value that has no bucket yet.
    #[cold]
    fn record_beyond(&mut self, at: usize, times: u64) {
        self.counts.resize((at / STEP + 1) * STEP, 0);
        self.counts[at] = times;
    }

    /// Returns the number of values counted.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// Returns, for each share (0 to 1, in ascending order), the largest value of the bucket up to
    /// which that share of all values lies, or `None` if nothing was counted.
    pub(crate) fn values_at<const N: usize>(&self, shares: [f64; N]) -> Option<[u64; N]> {
        let mut wanted = shares.map(|q| ((q * self.total as f64).ceil() as u64).max(1)).into_iter();
        let mut next = wanted.next()?;
        let (mut found, mut number, mut reached) = ([0; N], 0, 0_u64);
        // Most buckets lie below the values sought.
        for (nth, chunk) in self.counts.chunks(CHUNK).enumerate() {
            let beyond = chunk.iter().fold(reached, |sum, count| sum.saturating_add(*count));
            if beyond < next {
                reached = beyond;
                continue;
            }
            for (at, count) in chunk.iter().enumerate() {
                reached = reached.saturating_add(*count);
                while reached >= next {
                    found[number] = highest(nth * CHUNK + at);
                    number += 1;
                    let Some(more) = wanted.next() else { return Some(found) };
                    next = more;
                }
            }
        }
        None
    }

    /// Returns the largest value of the bucket up to which a share `q` (0 to 1) of all values lies,
    /// or `None` if nothing was counted.
    pub(crate) fn value_at(&self, q: f64) -> Option<u64> {
        self.values_at([q]).map(|[value]| value)
    }

    /// Returns the largest value and the count of each bucket that is not empty, in ascending
    /// order.
    pub(crate) fn recorded(&self) -> impl Iterator<Item = (u64, u64)> + Clone {
        let counted = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        counted.map(|(at, count)| (highest(at), *count))
    }

    /// Adds the counts of `other`.
    pub(crate) fn add(&mut self, other: &LogLinearBuckets) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count = count.saturating_add(*more);
        }
        self.total = self.total.saturating_add(other.total);
    }

    /// Returns what was counted since these counts were `earlier`.
    pub(crate) fn since(&self, earlier: &LogLinearBuckets) -> LogLinearBuckets {
        let before = earlier.counts.iter().chain(std::iter::repeat(&0));
        let more = self.counts.iter().zip(before);
        let counts = more.map(|(count, known)| count.saturating_sub(*known)).collect();
        LogLinearBuckets { counts, total: self.total.saturating_sub(earlier.total) }
    }

    /// Returns the bounds of the first and of the last bucket that is not empty.
    pub(crate) fn ends(&self) -> Option<[RangeInclusive<u64>; 2]> {
        let first = self.counts.iter().position(|count| *count > 0)?;
        let last = self.counts.iter().rposition(|count| *count > 0)?;
        Some([first, last].map(bounds))
    }
}

impl PartialEq for LogLinearBuckets {
    /// Compares the counts only, whatever capacity is allocated above them.
    fn eq(&self, other: &LogLinearBuckets) -> bool {
        self.recorded().eq(other.recorded())
    }
}

/// Returns the bucket of a value. A value of `EXACT_BITS + n` bits has its lowest `n` bits cut off.
#[inline]
fn position(value: u64) -> usize {
    let cut = (u64::BITS - EXACT_BITS) - (value | (EXACT - 1)).leading_zeros();
    ((cut as usize) << STEP_BITS) + (value >> cut) as usize
}

/// Returns the values that belong to bucket `at`.
fn bounds(at: usize) -> RangeInclusive<u64> {
    let lowest = if at == 0 { 0 } else { highest(at - 1) + 1 };
    lowest..=highest(at)
}

/// Returns the largest value that belongs to bucket `at`.
fn highest(at: usize) -> u64 {
    if at < EXACT as usize {
        return at as u64;
    }
    let cut = at / STEP - 1;
    let lowest = ((at % STEP + STEP) as u64) << cut;
    lowest + ((1 << cut) - 1)
}

#[cfg(test)]
mod tests {
    use hdrhistogram::Histogram;
    use sixmark_units::random::Random;

    use super::*;

    /// Values of every magnitude, including the boundaries of buckets.
    fn values() -> Vec<u64> {
        let mut random = Random::new(6, 0);
        let edges = (0..64).flat_map(|bit| [(1 << bit) - 1, 1 << bit, (1 << bit) + 1]);
        let anywhere = (0..20_000).map(|_| random.bits() >> (random.bits() % 64));
        edges.chain([u64::MAX]).chain(anywhere).collect()
    }

    #[test]
    fn every_value_lies_in_its_bucket_and_buckets_ascend() {
        for value in values() {
            let at = position(value);
            assert!(value <= highest(at), "{value}");
            assert!(at == 0 || highest(at - 1) < value, "{value}");
            assert!((highest(at) - value) as f64 <= value as f64 * 1e-3, "{value}");
        }
        let last = position(u64::MAX);
        assert_eq!(highest(last), u64::MAX);
        assert!((0..last).all(|at| highest(at) < highest(at + 1)));
    }

    #[test]
    fn matches_the_hdrhistogram_crate() {
        // The hdrhistogram crate cannot store the largest values.
        let values: Vec<u64> = values().into_iter().filter(|value| *value < 1 << 62).collect();
        let mut ours = LogLinearBuckets::default();
        let mut theirs = Histogram::<u64>::new(3).unwrap();
        for (nth, value) in values.into_iter().enumerate() {
            ours.record_many(value, nth as u64 % 3 + 1);
            theirs.record_n(value, nth as u64 % 3 + 1).unwrap();
        }
        assert_eq!(ours.total(), theirs.len());
        for permille in 1..=1_000 {
            let q = f64::from(permille) / 1e3;
            assert_eq!(ours.value_at(q), Some(theirs.value_at_quantile(q)), "{q}");
        }
        let listed = theirs.iter_recorded();
        let listed = listed.map(|at| (at.value_iterated_to(), at.count_at_value()));
        assert!(ours.recorded().eq(listed));
        assert_eq!(ours.ends().map(|[_, last]| *last.end()), Some(theirs.max()));
        let shares = [0.0, 0.5, 0.5, 0.999, 1.0];
        assert_eq!(ours.values_at(shares), Some(shares.map(|q| ours.value_at(q).unwrap())));
    }

    #[test]
    fn an_empty_histogram_takes_no_memory_and_has_no_value() {
        let nothing = LogLinearBuckets::default();
        assert_eq!((nothing.counts.capacity(), nothing.value_at(0.5)), (0, None));
        let mut sum = nothing.clone();
        sum.add(&nothing);
        assert_eq!((sum.total(), sum.recorded().count()), (0, 0));
    }

    #[test]
    fn adding_equals_recording_all_values_and_saturates() {
        let of = |values: &[u64]| {
            let mut buckets = LogLinearBuckets::default();
            values.iter().for_each(|value| buckets.record(*value));
            buckets
        };
        let (low, high) = (of(&[1, 5, 5]), of(&[5, 9_000_000_000]));
        let (mut one, mut other) = (low.clone(), high.clone());
        one.add(&high);
        other.add(&low);
        assert_eq!(one, other);
        assert_eq!(one, of(&[1, 5, 5, 5, 9_000_000_000]));
        assert_ne!(one, low);
        let mut much = of(&[7]);
        much.record_many(7, u64::MAX);
        much.add(&one);
        assert_eq!((much.total(), much.value_at(0.5)), (u64::MAX, Some(7)));
    }
}
