//! Comparisons that are judged after each pair: how often they are ever wrong, and how many pairs
//! they need.

use std::ops::AddAssign;

use sixmark_compare::Settings;
use sixmark_stats::{BetOn, Wager, merge_by_averages};
use sixmark_units::random::Random;

use crate::design::Design;
use crate::noise::Noise;
use crate::trials::repeated;

/// The most pairs of a comparison: those of `compare --until decided`.
pub(crate) const MOST: usize = 400;

/// A comparison that is looked at after each pair.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Looked {
    /// The noise of the blocks.
    pub(crate) noise: Noise,
    /// Its spread.
    pub(crate) spread: f64,
    /// The true difference, as a logarithm.
    pub(crate) effect: f64,
    /// The most pairs.
    pub(crate) most: usize,
}

/// After how many pairs each answer was reached first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Looks {
    /// All comparisons.
    pub(crate) trials: u64,
    /// Those whose interval ever excluded the true difference.
    pub(crate) missed: u64,
    /// For each that was ever called different, the pairs it took.
    pub(crate) different: Vec<usize>,
    /// The same of the wrong direction, of sides that differ.
    pub(crate) opposite: u64,
    /// For each that was ever called equivalent, the pairs it took.
    pub(crate) equivalent: Vec<usize>,
    /// For each that was decided either way, the pairs it took.
    pub(crate) decided: Vec<usize>,
}

impl AddAssign for Looks {
    fn add_assign(&mut self, other: Looks) {
        self.trials += other.trials;
        self.missed += other.missed;
        self.opposite += other.opposite;
        self.different.extend(other.different);
        self.equivalent.extend(other.equivalent);
        self.decided.extend(other.decided);
    }
}

impl Looked {
    /// Repeats the comparison with `trials` seeds.
    pub(crate) fn repeated(self, trials: u64) -> Looks {
        repeated(trials, |seed| self.once(seed))
    }

    fn once(self, seed: u64) -> Looks {
        let settings = Settings::usual(1);
        let (margin, level) = (settings.margin.ln_1p(), 1.0 / settings.level_of_difference());
        let alpha = 1.0 - settings.confidence;
        let mut random = Random::new(seed, 2_000);
        let noise = Design::Random.pairs(self.noise, self.most, self.spread, &mut random);
        let bet = |on, bound| Wager::new(on, bound);
        let mut equal = [bet(BetOn::Above, 0.0), bet(BetOn::Below, 0.0)];
        let mut truth = [bet(BetOn::Above, self.effect), bet(BetOn::Below, self.effect)];
        let mut within = [bet(BetOn::Above, -margin), bet(BetOn::Below, margin)];
        let mut found = Looks { trials: 1, ..Looks::default() };
        for (pair, (a, b)) in noise.iter().enumerate() {
            let effect = a + self.effect - b;
            equal.iter_mut().chain(&mut truth).chain(&mut within).for_each(|bet| bet.add(effect));
            let above = equal[0].evidence() > equal[1].evidence();
            let evidence = f64::midpoint(equal[0].evidence(), equal[1].evidence());
            if found.different.is_empty() && evidence >= level {
                found.different.push(pair + 1);
                found.opposite = u64::from(self.effect != 0.0 && above != (self.effect > 0.0));
            }
            let near = within.iter().map(Wager::peak).fold(f64::INFINITY, f64::min);
            if found.equivalent.is_empty() && near >= 1.0 / alpha {
                found.equivalent.push(pair + 1);
            }
        }
        let excluded = truth.iter().any(|bet| bet.peak() >= 2.0 / alpha);
        found.missed = u64::from(excluded);
        found.decided.extend(found.different.iter().chain(&found.equivalent).min());
        found
    }
}

/// Returns of how many comparisons with `metrics` metrics, each with noise of its own that they
/// share for a half, any was ever called different although the sides are equal.
pub(crate) fn any_of_several(noise: Noise, metrics: usize, trials: u64) -> u64 {
    repeated(trials, |seed| {
        let level = 1.0 / Settings::usual(1).level_of_difference();
        let mut random = Random::new(seed, 3_000);
        let mut series = |_| Design::Random.pairs(noise, MOST, 0.03, &mut random);
        let (shared, own): (_, Vec<_>) = (series(0), (0..metrics).map(&mut series).collect());
        let mut bets: Vec<[Wager; 2]> = (0..metrics)
            .map(|_| [BetOn::Above, BetOn::Below].map(|on| Wager::new(on, 0.0)))
            .collect();
        let ever = (0..MOST).any(|pair| {
            for (bets, own) in bets.iter_mut().zip(&own) {
                let (a, b) = (own[pair].0 + shared[pair].0, own[pair].1 + shared[pair].1);
                bets.iter_mut().for_each(|bet| bet.add(a - b));
            }
            let of = |bets: &[Wager; 2]| f64::midpoint(bets[0].evidence(), bets[1].evidence());
            let now: Vec<f64> = bets.iter().map(of).collect();
            merge_by_averages(&now).iter().any(|merged| *merged >= level)
        });
        u64::from(ever)
    })
}

/// Returns how many of these were reached by `pairs` pairs.
pub(crate) fn reached_by(reached: &[usize], pairs: usize) -> u64 {
    reached.iter().filter(|at| **at <= pairs).count() as u64
}

/// Returns the pairs by which a share of `trials` had reached it, if it had.
pub(crate) fn quantile_of(reached: &[usize], share: f64, trials: u64) -> Option<usize> {
    let mut reached = reached.to_vec();
    reached.sort_unstable();
    reached.get(((share * trials as f64).ceil() as usize).saturating_sub(1)).copied()
}
