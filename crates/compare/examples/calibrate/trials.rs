//! Many comparisons of the same kind, counted.

use std::ops::AddAssign;
use std::thread;

use sixmark_compare::judge::compare;
use sixmark_compare::{BlockPair, Compared, Settings, Stretch};
use sixmark_document::verdict::Verdict;
use sixmark_units::random::Random;

use crate::design::Design;
use crate::noise::Noise;

/// What is repeated: side A's times are `effect` (a logarithm) above side B's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trial {
    /// How blocks scatter.
    pub(crate) noise: Noise,
    /// By how much.
    pub(crate) spread: f64,
    /// How the sides share the time.
    pub(crate) design: Design,
    /// Pairs of blocks.
    pub(crate) pairs: usize,
    /// The true difference.
    pub(crate) effect: f64,
}

/// What became of the comparisons.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Outcome {
    /// Comparisons.
    pub(crate) trials: u64,
    /// Of them, with a p of no more than 5 % and an interval without equality.
    pub(crate) different: u64,
    /// Whose verdict is `equivalent`.
    pub(crate) equivalent: u64,
    /// Whose interval holds the true difference.
    pub(crate) covered: u64,
    /// That had an interval.
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
    /// A comparison of one metric, which is judged as if it were the only one.
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

/// Adds up what `one` makes of `trials` seeds, on all processors; the answer does not depend on how
/// many there are.
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
    /// Repeats it.
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

/// A block whose median is known: one exchange of some 100 us, which the histogram holds to 10 ns.
fn side(log: f64) -> Stretch {
    let mut stretch = Stretch::default();
    stretch.phases.response.record((100e3 * log.exp()) as u64);
    stretch
}
