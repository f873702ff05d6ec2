//! Repeated comparisons of one kind, and the counts of their outcomes.

use std::ops::AddAssign;
use std::thread;

use sixmark_compare::judge::compare;
use sixmark_compare::{BlockPair, Compared, Settings, Stretch};
use sixmark_document::verdict::Verdict;
use sixmark_units::random::Random;

use crate::design::Design;
use crate::noise::Noise;

/// The comparison that is repeated. Side A's times are `effect` (a logarithm) above side B's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trial {
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
pub(crate) struct Outcome {
    /// All comparisons.
    pub(crate) trials: u64,
    /// Comparisons with a p-value of at most 5 % and an interval without equality.
    pub(crate) different: u64,
    /// Comparisons with the verdict `equivalent`.
    pub(crate) equivalent: u64,
    /// Comparisons whose interval includes the true difference.
    pub(crate) covered: u64,
    /// Comparisons that have an interval.
    pub(crate) answered: u64,
}

impl AddAssign for Outcome {
    fn add_assign(&mut self, other: Outcome) {
        self.trials += other.trials;
        self.different += other.different;
        self.equivalent += other.equivalent;
        self.covered += other.covered;
        self.answered += other.answered;
    }
}

impl Outcome {
    /// Returns the outcome of one metric, judged as if it were the only one.
    pub(crate) fn of(compared: &Compared, effect: f64) -> Outcome {
        let ratio = compared.ratio;
        let holds = |value: f64| ratio.is_some_and(|r| r.low <= value && value <= r.high);
        let shown = compared.p.is_some_and(|p| p <= 0.05 + 1e-12) && !holds(1.0);
        Outcome {
            trials: 1,
            different: u64::from(shown),
            equivalent: u64::from(compared.verdict == Verdict::Equivalent),
            covered: u64::from(holds(effect.exp())),
            answered: u64::from(ratio.is_some()),
        }
    }
}

/// Calls `one` with `trials` seeds, on all processors, and adds up the results. The sum does not
/// depend on the number of processors.
pub(crate) fn repeated<T: Default + AddAssign + Send>(
    trials: u64,
    one: impl Fn(u64) -> T + Sync,
) -> T {
    let threads = thread::available_parallelism().map_or(1, |n| n.get() as u64);
    let part = |from: u64| {
        let seeds = (from..trials).step_by(threads as usize);
        seeds.fold(T::default(), |mut sum, seed| {
            sum += one(seed);
            sum
        })
    };
    thread::scope(|scope| {
        let part = &part;
        let workers: Vec<_> = (0..threads).map(|from| scope.spawn(move || part(from))).collect();
        let parts = workers.into_iter().filter_map(|worker| worker.join().ok());
        parts.fold(T::default(), |mut sum, part| {
            sum += part;
            sum
        })
    })
}

impl Trial {
    /// Repeats the comparison with `trials` seeds, and counts the outcomes.
    pub(crate) fn repeated(self, trials: u64) -> Outcome {
        repeated(trials, |seed| self.once(seed))
    }

    fn once(self, seed: u64) -> Outcome {
        let mut random = Random::new(seed, 1_000);
        let noise = self.design.pairs(self.noise, self.pairs, self.spread, &mut random);
        let pair = |&(a, b): &(f64, f64)| BlockPair { a: side(a + self.effect), b: side(b) };
        let pairs: Vec<BlockPair> = noise.iter().map(pair).collect();
        let settings = Settings { resamples: 1, ..Settings::usual(seed) };
        let found = compare(("a", "b"), &pairs, 0, &settings);
        // The first is the primary one: the median response time.
        found.metrics.first().map(|of| Outcome::of(of, self.effect)).unwrap_or_default()
    }
}

/// Returns a block with a known median: one exchange of about 100 us, which the histogram stores
/// with a resolution of 10 ns.
fn side(log: f64) -> Stretch {
    let mut stretch = Stretch::default();
    stretch.phases.response.record((100e3 * log.exp()) as u64);
    stretch
}
