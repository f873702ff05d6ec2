//! Durations of one kind: a histogram with an exact minimum, maximum and sum.

mod wire_form;

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use crate::buckets::LogLinearBuckets;
use crate::hdr;

/// Durations in nanoseconds. Memory use depends on the largest value, not on the number of values.
/// Sums stop at `u128::MAX`, which only the sums of a peer can reach.
#[derive(Clone, Debug, PartialEq)]
pub struct Timing {
    buckets: LogLinearBuckets,
    min: u64,
    max: u64,
    sum: u128,
    /// The sum of squares, for a standard deviation that does not depend on the bucket widths.
    squares: u128,
    /// The shortest duration that is only a lower bound, or `u64::MAX` if there is none.
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
        self.sum = self.sum.saturating_add(nanos.into());
        self.squares = self.squares.saturating_add(square(nanos));
        // Comes last, so that no value has to be preserved across a call that allocates.
        self.buckets.record(nanos);
    }

    /// Counts a duration of which only a lower bound is known, because its measurement was cut off
    /// (right-censored).
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
        self.sum = self.sum.saturating_add(u128::from(nanos) * u128::from(times));
        let squares = square(nanos).saturating_mul(times.into());
        self.squares = self.squares.saturating_add(squares);
    }

    /// Returns what was counted since these durations were `earlier`. Adding it to `earlier`
    /// results in the same durations again.
    ///
    /// A new minimum or maximum is exact. Otherwise that of the difference is a bound, as narrow as
    /// the buckets allow. The shortest lower bound is known only if it is new.
    #[must_use]
    pub fn since(&self, earlier: &Timing) -> Timing {
        let buckets = self.buckets.since(&earlier.buckets);
        let Some([first, last]) = buckets.ends() else { return Timing::default() };
        let new = |now: u64, before: u64, bound: u64| if now == before { bound } else { now };
        Timing {
            min: new(self.min, earlier.min, self.min.max(*first.start())),
            max: new(self.max, earlier.max, self.max.min(*last.end())),
            sum: self.sum.saturating_sub(earlier.sum),
            squares: self.squares.saturating_sub(earlier.squares),
            at_least: new(self.at_least, earlier.at_least, u64::MAX),
            buckets,
        }
    }

    /// Returns the number of durations counted.
    pub fn count(&self) -> u64 {
        self.buckets.total()
    }

    /// Returns the shortest duration in nanoseconds, or `None` if nothing was counted.
    pub fn min(&self) -> Option<u64> {
        (self.count() > 0).then_some(self.min)
    }

    /// Returns the longest duration in nanoseconds, or `None` if nothing was counted.
    pub fn max(&self) -> Option<u64> {
        (self.count() > 0).then_some(self.max)
    }

    /// Returns the duration in nanoseconds that a share `q` (0 to 1) of all durations does not
    /// exceed, accurate to three digits and between the minimum and the maximum. Returns `None` if
    /// nothing was counted.
    pub fn quantile(&self, q: f64) -> Option<u64> {
        if q >= 1.0 {
            return (self.count() > 0).then_some(self.max);
        }
        Some(self.buckets.value_at(q)?.clamp(self.min, self.max))
    }

    /// Returns all durations in ascending order, in nanoseconds and accurate to three digits like
    /// the quantiles, with the number of times that each occurs.
    pub fn recorded(&self) -> impl Iterator<Item = (u64, u64)> {
        let exact = |(value, count): (u64, u64)| (value.clamp(self.min, self.max), count);
        self.buckets.recorded().map(exact)
    }

    /// Returns the arithmetic mean in nanoseconds, or `None` if nothing was counted.
    pub fn mean(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.sum as f64 / self.count() as f64)
    }

    /// Returns the sample standard deviation in nanoseconds: 0 for a single duration, `None` if
    /// nothing was counted.
    pub fn stddev(&self) -> Option<f64> {
        let n = self.count() as f64;
        let mean = self.mean()?;
        let spread = (self.squares as f64 - n * mean * mean).max(0.0);
        Some((spread / (n - 1.0).max(1.0)).sqrt())
    }

    /// Returns the figures as a result document states them, in microseconds.
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
            hdr: hdr::encode(self.buckets.recorded()),
        }
    }
}

impl AddAssign<&Timing> for Timing {
    fn add_assign(&mut self, other: &Timing) {
        self.buckets.add(&other.buckets);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.sum = self.sum.saturating_add(other.sum);
        self.squares = self.squares.saturating_add(other.squares);
        self.at_least = self.at_least.min(other.at_least);
    }
}

/// Returns the square, which always fits. The sum of two squares may not: for durations of five
/// centuries it saturates.
#[inline]
fn square(nanos: u64) -> u128 {
    u128::from(nanos) * u128::from(nanos)
}

/// The pattern of the names of the values of a [`Summary`].
#[cfg(feature = "schema")]
const VALUES: &str = "^(min|mean|stddev|max|p[0-9]+)$";

/// Durations of one kind in microseconds. Quantiles are accurate to three digits; min, mean and max
/// are exact. All of them are null if count is 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend(
    "if" = { "properties": { "count": { "const": 0 } } },
    "then" = { "patternProperties": { VALUES: { "type": "null" } } },
    "else" = { "patternProperties": { VALUES: { "type": "number" } } },
)))]
pub struct Summary {
    /// The number of durations.
    pub count: u64,
    /// The shortest duration, exact.
    pub min: Option<f64>,
    /// The arithmetic mean, exact.
    pub mean: Option<f64>,
    /// The sample standard deviation.
    pub stddev: Option<f64>,
    /// The median, accurate to three digits like the other quantiles.
    pub p50: Option<f64>,
    /// The duration that 90 % of all durations do not exceed.
    pub p90: Option<f64>,
    /// The duration that 95 % do not exceed; missing in documents of versions that did not state
    /// it.
    #[serde(default)]
    pub p95: Option<f64>,
    /// The duration that 99 % do not exceed.
    pub p99: Option<f64>,
    /// The duration that 99.9 % do not exceed.
    pub p999: Option<f64>,
    /// The longest duration, exact.
    pub max: Option<f64>,
    /// The duration from which on all figures are lower bounds, because they are the ages of
    /// exchanges that were unanswered when the load ended. Absent if there was no such exchange.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
    /// The whole histogram: HdrHistogram's V2 encoding, deflated, in base64. Its values are
    /// nanoseconds.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = "^HISTF[A-Za-z0-9+/]{8,}={0,2}$")))]
    pub hdr: String,
}

/// The figures of no durations.
impl Default for Summary {
    fn default() -> Summary {
        Timing::default().summary()
    }
}

impl Summary {
    /// Returns true if `us`, a figure of this summary, is only known as a lower bound.
    pub fn is_lower_bound(&self, us: f64) -> bool {
        // A quantile is accurate to three digits, whereas the bound is exact.
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
    fn an_empty_timing_has_no_figures() {
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
    fn computes_the_exact_mean_and_standard_deviation() {
        let timing = of([2_000, 4_000, 4_000, 4_000, 5_000, 5_000, 7_000, 9_000]);
        assert_eq!(timing.mean(), Some(5_000.0));
        let expected = (32.0_f64 / 7.0).sqrt() * 1_000.0;
        assert!((timing.stddev().unwrap() - expected).abs() < 1e-6);
    }

    #[test]
    fn recorded_values_reproduce_the_quantiles() {
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
    fn merging_adds_counts_in_any_order() {
        let (low, high) = (of(1..500), of((1..100).map(|v| v * 10_000_000_000)));
        let mut one = low.clone();
        one += &high;
        let mut other = high.clone();
        other += &low;
        // The encoded text is not compared: it states the largest value that it can store, which
        // may differ.
        let figures = |timing: &Timing| Summary { hdr: String::new(), ..timing.summary() };
        assert_eq!((figures(&one), &one), (figures(&other), &other));
        assert_eq!(one.count(), low.count() + high.count());
        let mut same = low.clone();
        same += &Timing::default();
        assert_eq!(same.summary(), low.summary());
    }

    #[test]
    fn handles_the_longest_possible_duration() {
        let timing = of([0, u64::MAX]);
        assert_eq!(timing.count(), 2);
        assert_eq!(timing.quantile(1.0), Some(u64::MAX));
    }
}
