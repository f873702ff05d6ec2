//! The variation of one-way delays, measured with clocks that need not agree.

use sixmark_document::timing::Timing;

/// The number of delays that are stored individually before the shortest of them becomes the base
/// of the histograms.
const EARLY: usize = 1_024;

/// The one-way delays of a flow, measured with two clocks. Only their differences are meaningful.
///
/// The packet delay variation of RFC 5481 is a delay minus the shortest delay, which is known only
/// at the end. Delays are therefore recorded relative to an estimate of the shortest delay, in one
/// histogram above and one below it, and shifted at the end.
#[derive(Clone, Debug, Default)]
pub struct Variation {
    early: Vec<i64>,
    base: i64,
    above: Timing,
    below: Timing,
    least: Option<i64>,
}

impl Variation {
    /// Records a delay in nanoseconds.
    pub fn record(&mut self, delay: i64) {
        self.least = Some(self.least.map_or(delay, |least| least.min(delay)));
        if self.counted() {
            self.count(delay);
            return;
        }
        self.early.push(delay);
        if self.early.len() == EARLY {
            self.settle();
        }
    }

    /// Returns the shortest delay in nanoseconds, or `None` if none was recorded. It may be
    /// negative, because the clocks may differ.
    pub fn least(&self) -> Option<i64> {
        self.least
    }

    /// Returns all delays minus the shortest.
    pub fn timing(mut self) -> Timing {
        if !self.counted() {
            self.settle();
        }
        let shift = self.least.map_or(0, |least| self.base.saturating_sub(least)).max(0) as u64;
        let mut timing = Timing::default();
        for (value, times) in self.above.recorded() {
            timing.record_many(value.saturating_add(shift), times);
        }
        for (value, times) in self.below.recorded() {
            timing.record_many(shift.saturating_sub(value), times);
        }
        timing
    }

    fn counted(&self) -> bool {
        self.above.count() + self.below.count() > 0
    }

    fn settle(&mut self) {
        let early = std::mem::take(&mut self.early);
        self.base = early.iter().copied().min().unwrap_or(0);
        early.into_iter().for_each(|delay| self.count(delay));
    }

    fn count(&mut self, delay: i64) {
        let apart = delay.abs_diff(self.base);
        if delay >= self.base { self.above.record(apart) } else { self.below.record(apart) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(delays: impl IntoIterator<Item = i64>) -> Variation {
        let mut variation = Variation::default();
        delays.into_iter().for_each(|delay| variation.record(delay));
        variation
    }

    #[test]
    fn the_shortest_delay_has_zero_variation_even_if_it_comes_last() {
        for offset in [-5_000_000_000_000, 0, 5_000_000_000_000] {
            // Falling, so that each delay is the shortest so far.
            let variation = of((0..5_000).rev().map(|n| offset + n * 1_000));
            assert_eq!(variation.least(), Some(offset));
            let timing = variation.timing();
            assert_eq!((timing.count(), timing.min()), (5_000, Some(0)));
            let median = timing.quantile(0.5).unwrap() as f64;
            assert!((median - 2.5e6).abs() < 1e4, "{median}");
        }
    }

    #[test]
    fn handles_few_extreme_and_no_delays() {
        let timing = of([7, 5, 9]).timing();
        assert_eq!((timing.min(), timing.quantile(1.0), timing.count()), (Some(0), Some(4), 3));
        assert_eq!(of([]).timing().count(), 0);
        assert_eq!(of([i64::MIN, i64::MAX]).timing().count(), 2);
    }
}
