//! Comparisons of synthetic exchanges in all metrics together.

use std::ops::AddAssign;

use sixmark_compare::judge::compare;
use sixmark_compare::{BlockPair, Comparison, Settings, Stretch};
use sixmark_document::verdict::Verdict;
use sixmark_tally::metric::{Metric, Quantity};
use sixmark_tally::timed_phase::{TimePoint, TimedPhase};
use sixmark_units::random::Random;

use crate::design::Design;
use crate::noise::{Noise, normal, uniform};
use crate::trials::{Outcome, repeated};

/// The approximate number of exchanges in a block: enough for p99 with 12 pairs.
const EXCHANGES: f64 = 1_000.0;

/// The quantiles that are examined. Different rules apply to them.
pub(crate) const POINTS: [TimePoint; 3] = [TimePoint::P50, TimePoint::P90, TimePoint::P99];

/// The comparison that is repeated. Side A's times are `effect` (a logarithm) above side B's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Whole {
    /// The noise of the blocks.
    pub(crate) noise: Noise,
    /// The spread of the noise.
    pub(crate) spread: f64,
    /// The order of the blocks.
    pub(crate) design: Design,
    /// The number of pairs of blocks.
    pub(crate) pairs: usize,
    /// The true difference, as a logarithm.
    pub(crate) effect: f64,
}

/// Counts of the outcomes of comparisons.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Outcomes {
    /// All comparisons.
    pub(crate) trials: u64,
    /// Comparisons in which any metric was called better or worse.
    pub(crate) any: u64,
    /// The response time at each of [`POINTS`], judged by itself.
    pub(crate) points: [Outcome; 3],
    /// How often each of them was called worse, judged among all metrics.
    pub(crate) worse: [u64; 3],
    /// The share of failures, judged by itself. The true shares of both sides are equal.
    pub(crate) failures: Outcome,
}

impl AddAssign for Outcomes {
    fn add_assign(&mut self, other: Outcomes) {
        self.trials += other.trials;
        self.any += other.any;
        self.failures += other.failures;
        self.points.iter_mut().zip(other.points).for_each(|(sum, more)| *sum += more);
        self.worse.iter_mut().zip(other.worse).for_each(|(sum, more)| *sum += more);
    }
}

impl Whole {
    /// Repeats the comparison with `trials` seeds, and counts the outcomes.
    pub(crate) fn repeated(self, trials: u64) -> Outcomes {
        repeated(trials, |seed| self.once(seed))
    }

    fn once(self, seed: u64) -> Outcomes {
        let mut random = Random::new(seed, 2_000);
        let noise = self.design.pairs(self.noise, self.pairs, self.spread, &mut random);
        let mut side = |level: f64| stretch(level, &mut random);
        let pair = |&(a, b): &(f64, f64)| BlockPair { a: side(a + self.effect), b: side(b) };
        let pairs: Vec<BlockPair> = noise.iter().map(pair).collect();
        let settings = Settings { resamples: 2_000, ..Settings::usual(seed) };
        self.outcomes(&compare(("a", "b"), &pairs, 0, &settings))
    }

    fn outcomes(self, found: &Comparison) -> Outcomes {
        let of = |metric| found.metrics.iter().find(|of| of.metric == metric);
        let response = |point| of(Metric::Time(TimedPhase::Response, point));
        let outcome = |point| response(point).map(|one| Outcome::of(one, self.effect));
        let worse = |point| response(point).is_some_and(|one| one.verdict == Verdict::Worse);
        let different = |verdict| matches!(verdict, Verdict::Better | Verdict::Worse);
        let failures =
            of(Metric::Quantity(Quantity::Failures)).filter(|one| one.p.is_some_and(|p| p <= 0.05));
        Outcomes {
            trials: 1,
            any: u64::from(found.metrics.iter().any(|one| different(one.verdict))),
            points: POINTS.map(|point| outcome(point).unwrap_or_default()),
            worse: POINTS.map(|point| u64::from(worse(point))),
            failures: Outcome {
                trials: 1,
                different: u64::from(failures.is_some()),
                ..Outcome::default()
            },
        }
    }
}

/// Returns a block of a closed loop: if everything takes longer, it has fewer exchanges. One
/// exchange in fifty has to wait five times as long, and exchanges fail in one block in ten.
fn stretch(level: f64, random: &mut Random) -> Stretch {
    let completed = (EXCHANGES * (-level).exp()).round().max(1.0) as u64;
    let failed = if random.below(10) == 0 { random.below(40) } else { 0 };
    let sent = completed + failed;
    let body_bytes = completed * 10_000;
    let mut stretch =
        Stretch { elapsed_s: 1.0, sent, completed, failed, body_bytes, ..Stretch::default() };
    for _ in 0..completed {
        exchange(level, &mut stretch, random);
    }
    stretch
}

fn exchange(level: f64, stretch: &mut Stretch, random: &mut Random) {
    let slow = if random.below(50) == 0 { 5.0 } else { 1.0 };
    let wait = 200e3 * (level + 0.5 * normal(random)).exp() * slow;
    let transfer = -50e3 * uniform(random).ln() * level.exp();
    stretch.phases.wait.record(wait as u64);
    stretch.phases.transfer.record(transfer as u64);
    stretch.phases.response.record((wait + transfer) as u64);
}
