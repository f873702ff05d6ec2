//! The figures of blocks and of whole sides.

use crate::{BlockPair, Stretch, TimedPhase};
use sixmark_document::timing::Timing;
use sixmark_stats::{Counted, Refused, TAIL_SAMPLES, harrell_davis, quantile};
use sixmark_tally::metric::Metric;
use sixmark_tally::timed_phase::Quantile;

/// With fewer durations than this, a quantile of a block is estimated by Harrell and Davis's
/// method.
const FEW: u64 = 1_000;

/// The durations of one phase, pair by pair, in nanoseconds.
pub(super) struct PhaseTimes {
    pub(super) phase: TimedPhase,
    pub(super) pairs: Vec<(Counted, Counted)>,
    a: Timing,
    b: Timing,
}

impl PhaseTimes {
    pub(super) fn of(phase: TimedPhase, pairs: &[BlockPair]) -> PhaseTimes {
        let all = |side: fn(&BlockPair) -> &Stretch| {
            pairs.iter().fold(Timing::default(), |mut sum, pair| {
                sum += side(pair).timing(phase);
                sum
            })
        };
        let both =
            |pair: &BlockPair| (counted(pair.a.timing(phase)), counted(pair.b.timing(phase)));
        let (a, b) = (all(|pair| &pair.a), all(|pair| &pair.b));
        PhaseTimes { phase, pairs: pairs.iter().map(both).collect(), a, b }
    }

    pub(super) fn metric(&self, point: Quantile) -> Metric {
        Metric::Time(self.phase, point.into())
    }

    /// Returns the quantile of each side over all its blocks, in microseconds, or `None` if a side
    /// has no duration or both quantiles are 0, below the resolution of the clock.
    pub(super) fn overall(&self, point: Quantile) -> Option<(f64, f64)> {
        let of = |timing: &Timing| timing.quantile(point.share()).map(|nanos| nanos as f64 / 1e3);
        let both = (of(&self.a)?, of(&self.b)?);
        (both != (0.0, 0.0)).then_some(both)
    }

    /// Returns an error if too few durations of a side lie beyond a tail quantile.
    pub(super) fn check_tail(&self, point: Quantile) -> Result<(), Refused> {
        let fewest = self.a.count().min(self.b.count());
        let have = (fewest as f64 * (1.0 - point.share()) + 1e-6).floor() as u64;
        if point == Quantile::ALL[0] || have >= TAIL_SAMPLES {
            Ok(())
        } else {
            Err(Refused::ThinTail { have, need: TAIL_SAMPLES })
        }
    }

    /// Returns the quantile of each side in each pair, in microseconds, or `None` if a side has no
    /// duration.
    pub(super) fn by_pair(&self, point: Quantile) -> Vec<Option<(f64, f64)>> {
        let of = |counted: &Counted| block_figure(counted, point).map(|nanos| nanos / 1e3);
        self.pairs.iter().map(|(a, b)| Some((of(a)?, of(b)?))).collect()
    }
}

/// Returns the pairs from which an effect can be formed: those with figures above 0 on both sides.
pub(super) fn formed(figures: &[Option<(f64, f64)>]) -> Vec<(f64, f64)> {
    figures.iter().flatten().copied().filter(is_usable).collect()
}

fn is_usable(&(a, b): &(f64, f64)) -> bool {
    (a / b).is_finite() && a / b > 0.0
}

/// Returns the logarithm of A's figure over B's for each pair, `None` if it can't be formed.
pub(super) fn effects_in_pairs(figures: &[Option<(f64, f64)>]) -> Vec<Option<f64>> {
    figures.iter().map(|figures| figures.filter(is_usable).map(|(a, b)| (a / b).ln())).collect()
}

/// Returns the logarithm of A's figure over B's for each pair.
pub(super) fn effects(figures: &[(f64, f64)]) -> Vec<f64> {
    figures.iter().map(|(a, b)| (a / b).ln()).collect()
}

fn counted(timing: &Timing) -> Counted {
    timing.recorded().map(|(nanos, count)| (nanos as f64, count)).collect()
}

fn block_figure(counted: &Counted, point: Quantile) -> Option<f64> {
    let samples: u64 = counted.iter().map(|(_, count)| count).sum();
    let estimate = if samples < FEW { harrell_davis } else { quantile };
    estimate(counted, point.share()).ok()
}
