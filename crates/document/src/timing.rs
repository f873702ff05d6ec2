//! Durations of one kind: a histogram with an exact minimum, maximum and sum.

use std::ops::AddAssign;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use serde::{Deserialize, Serialize};

use crate::buckets::LogLinearBuckets;

/// Significant decimal digits that a quantile is right to.
const DIGITS: u8 = 3;
/// The largest duration that the library has room for, in nanoseconds: some 146 years.
const MOST: u64 = 1 << 62;

/// Durations in nanoseconds. Memory depends on the largest value, not on how many there are.
#[derive(Clone, Debug, PartialEq)]
pub struct Timing {
    buckets: LogLinearBuckets,
    min: u64,
    max: u64,
    sum: u128,
    /// Needed for a standard deviation that is not blurred by the histogram's buckets.
    squares: u128,
    /// The shortest of those that are lower bounds, or `u64::MAX`.
    at_least: u64,
}

impl Default for Timing {
    fn default() -> Self {
        let buckets = LogLinearBuckets::default();
        Timing { buckets, min: u64::MAX, max: 0, sum: 0, squares: 0, at_least: u64::MAX }
    }
}

impl Timing {
    /// Counts one duration.
    #[inline]
    pub fn record(&mut self, nanos: u64) {
        self.min = self.min.min(nanos);
        self.max = self.max.max(nanos);
        self.sum += u128::from(nanos);
        self.squares = self.squares.saturating_add(square(nanos));
        // Last, so that nothing has to be kept for after the call that makes room.
        self.buckets.record(nanos);
    }

    /// Counts a duration of which only a lower bound is known, since it was cut off (right-censored).
    pub fn record_at_least(&mut self, nanos: u64) {
        self.record(nanos);
        self.at_least = self.at_least.min(nanos);
    }

    /// Counts one duration `times` times.
    pub fn record_many(&mut self, nanos: u64, times: u64) {
        if times == 0 {
            return;
        }
        self.buckets.record_many(nanos, times);
        self.min = self.min.min(nanos);
        self.max = self.max.max(nanos);
        self.sum += u128::from(nanos) * u128::from(times);
        let squares = square(nanos).saturating_mul(times.into());
        self.squares = self.squares.saturating_add(squares);
    }

    /// How many were counted.
    pub fn count(&self) -> u64 {
        self.buckets.total()
    }

    /// The shortest, in nanoseconds.
    pub fn min(&self) -> Option<u64> {
        (self.count() > 0).then_some(self.min)
    }

    /// The longest, in nanoseconds.
    pub fn max(&self) -> Option<u64> {
        (self.count() > 0).then_some(self.max)
    }

    /// The duration in nanoseconds that a share `q` (0 to 1) of all durations does not exceed, right
    /// to three digits and never above the maximum nor below the minimum. None of nothing.
    pub fn quantile(&self, q: f64) -> Option<u64> {
        if q >= 1.0 {
            return (self.count() > 0).then_some(self.max);
        }
        Some(self.buckets.value_at(q)?.clamp(self.min, self.max))
    }

    /// All durations in ascending order, in nanoseconds and right to three digits as the quantiles
    /// are, with how often each occurs.
    pub fn recorded(&self) -> impl Iterator<Item = (u64, u64)> {
        let exact = |(value, count): (u64, u64)| (value.clamp(self.min, self.max), count);
        self.buckets.recorded().map(exact)
    }

    /// The arithmetic mean in nanoseconds.
    pub fn mean(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.sum as f64 / self.count() as f64)
    }

    /// The sample standard deviation in nanoseconds; 0 of a single duration.
    pub fn stddev(&self) -> Option<f64> {
        let n = self.count() as f64;
        let mean = self.mean()?;
        let spread = (self.squares as f64 - n * mean * mean).max(0.0);
        Some((spread / (n - 1.0).max(1.0)).sqrt())
    }

    /// The figures of a result document.
    pub fn summary(&self) -> Summary {
        let us = |nanos: f64| nanos / 1e3;
        let some = self.count() > 0;
        let quantiles = self.buckets.values_at([0.5, 0.9, 0.95, 0.99, 0.999]);
        let exact = |nanos: u64| us(nanos.clamp(self.min, self.max) as f64);
        let quantile = |at: usize| quantiles.map(|found| exact(found[at]));
        Summary {
            count: self.count(),
            min: some.then(|| us(self.min as f64)),
            mean: self.mean().map(us),
            stddev: self.stddev().map(us),
            p50: quantile(0),
            p90: quantile(1),
            p95: quantile(2),
            p99: quantile(3),
            p999: quantile(4),
            max: some.then(|| us(self.max as f64)),
            at_least: (self.at_least < u64::MAX).then(|| us(self.at_least as f64)),
            hdr: self.encode(),
        }
    }

    /// HdrHistogram's V2 log encoding: deflated, base64, values in nanoseconds.
    fn encode(&self) -> String {
        let mut bytes = Vec::new();
        match V2DeflateSerializer::new().serialize(&self.histogram(), &mut bytes) {
            Ok(_) => STANDARD.encode(bytes),
            Err(error) => unreachable!("writing to memory does not fail: {error}"),
        }
    }

    /// The same as the library has it, with room for what there is. Where a value is beyond what it can
    /// count, some 2^63 ns, the exact maximum still gives it.
    fn histogram(&self) -> Histogram<u64> {
        let room = self.buckets.highest_recorded().unwrap_or(0).clamp(2, MOST);
        let empty = Histogram::new_with_bounds(1, room, DIGITS);
        let mut histogram = empty.unwrap_or_else(|why| unreachable!("{room} is in bounds: {why}"));
        for (value, count) in self.buckets.recorded() {
            if histogram.record_n(value, count).is_err() {
                histogram.saturating_record_n(value, count);
            }
        }
        histogram
    }
}

impl AddAssign<&Timing> for Timing {
    fn add_assign(&mut self, other: &Timing) {
        self.buckets.add(&other.buckets);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.sum += other.sum;
        self.squares = self.squares.saturating_add(other.squares);
        self.at_least = self.at_least.min(other.at_least);
    }
}

/// Two of five centuries each are more than a sum of them has room for, which then stays the largest.
#[inline]
fn square(nanos: u64) -> u128 {
    u128::from(nanos) * u128::from(nanos)
}

/// The names of the values of a [`Summary`].
#[cfg(feature = "schema")]
const VALUES: &str = "^(min|mean|stddev|max|p[0-9]+)$";

/// Durations of one kind in microseconds. Quantiles are right to three digits, min, mean and max
/// exact; all are null where count is 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend(
    "if" = { "properties": { "count": { "const": 0 } } },
    "then" = { "patternProperties": { VALUES: { "type": "null" } } },
    "else" = { "patternProperties": { VALUES: { "type": "number" } } },
)))]
pub struct Summary {
    /// How many durations there are.
    pub count: u64,
    /// The shortest, exact.
    pub min: Option<f64>,
    /// The arithmetic mean, exact.
    pub mean: Option<f64>,
    /// The sample standard deviation.
    pub stddev: Option<f64>,
    /// The median, right to three digits, as the other quantiles.
    pub p50: Option<f64>,
    /// 90 % are not longer.
    pub p90: Option<f64>,
    /// 95 % are not longer; missing in documents of versions that did not have it.
    #[serde(default)]
    pub p95: Option<f64>,
    /// 99 % are not longer.
    pub p99: Option<f64>,
    /// 99.9 % are not longer.
    pub p999: Option<f64>,
    /// The longest, exact.
    pub max: Option<f64>,
    /// Figures from here on are lower bounds: they are ages of exchanges that were unanswered when
    /// the load ended. Absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
    /// The whole histogram: HdrHistogram's V2 encoding, deflated, in base64. Its values are
    /// nanoseconds.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = "^HISTF[A-Za-z0-9+/]{8,}={0,2}$")))]
    pub hdr: String,
}

impl Summary {
    /// Returns true if `us`, a figure of this summary, is only known as a lower bound.
    pub fn is_lower_bound(&self, us: f64) -> bool {
        // A quantile has three digits, the bound is exact.
        self.at_least.is_some_and(|bound| us >= bound * 0.999)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: impl IntoIterator<Item = u64>) -> Timing {
        let mut timing = Timing::default();
        values.into_iter().for_each(|value| timing.record(value));
        timing
    }

    #[test]
    fn nothing_counted_has_no_figures() {
        let summary = Timing::default().summary();
        assert_eq!((summary.count, summary.min, summary.p50, summary.max), (0, None, None, None));
        assert!(summary.hdr.starts_with("HISTFAAAA"), "{}", summary.hdr);
    }

    #[test]
    fn quantiles_are_right_to_three_digits_and_stay_within_the_extremes() {
        let timing = of(1..=100_000);
        for (q, exact) in [(0.0, 1.0), (0.5, 50_000.0), (0.9, 90_000.0), (0.999, 99_900.0)] {
            let found = timing.quantile(q).unwrap() as f64;
            assert!((found - exact).abs() <= exact * 1e-3, "{q}: {found} is not {exact}");
        }
        let one = of([1_234_567_891]);
        assert_eq!(one.quantile(0.99), Some(1_234_567_891));
        assert_eq!(one.summary().p999, one.summary().max);
    }

    #[test]
    fn mean_and_deviation_are_those_of_the_values() {
        let timing = of([2_000, 4_000, 4_000, 4_000, 5_000, 5_000, 7_000, 9_000]);
        assert_eq!(timing.mean(), Some(5_000.0));
        let expected = (32.0_f64 / 7.0).sqrt() * 1_000.0;
        assert!((timing.stddev().unwrap() - expected).abs() < 1e-6);
    }

    #[test]
    fn what_was_recorded_has_the_quantiles_of_the_whole() {
        let timing = of((1..2_000).map(|v| v * v));
        let all: Vec<u64> =
            timing.recorded().flat_map(|(value, n)| (0..n).map(move |_| value)).collect();
        assert_eq!((all.len() as u64, all.is_sorted()), (timing.count(), true));
        for at in [0, 7, 999, 1_800, 1_998] {
            let q = (at as f64 + 0.5) / all.len() as f64;
            assert_eq!(timing.quantile(q), Some(all[at]), "{at}");
        }
        assert_eq!(Timing::default().recorded().count(), 0);
    }

    #[test]
    fn merging_is_counting_together_in_any_order() {
        let (low, high) = (of(1..500), of((1..100).map(|v| v * 10_000_000_000)));
        let mut one = low.clone();
        one += &high;
        let mut other = high.clone();
        other += &low;
        // Not the encoded text: it names the largest value it has room for, which may differ.
        let figures = |timing: &Timing| Summary { hdr: String::new(), ..timing.summary() };
        assert_eq!((figures(&one), &one), (figures(&other), &other));
        assert_eq!(one.count(), low.count() + high.count());
        let mut same = low.clone();
        same += &Timing::default();
        assert_eq!(same.summary(), low.summary());
    }

    #[test]
    fn the_longest_duration_there_is_does_no_harm() {
        let timing = of([0, u64::MAX]);
        assert_eq!(timing.count(), 2);
        assert_eq!(timing.quantile(1.0), Some(u64::MAX));
    }
}
