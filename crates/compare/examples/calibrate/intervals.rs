//! Compares the interval that is used for medians and rates with three alternatives.

use std::ops::AddAssign;

use sixmark_stats::{
    Interval, Refused, bca, draws, expanded, hodges_lehmann, percentile, walsh_interval,
};
use sixmark_units::random::Random;

use crate::design::Design;
use crate::noise::Noise;
use crate::trials::repeated;

/// The number of resamples for an interval.
const RESAMPLES: u32 = 1_000;

/// How often each interval included the true value: Wilcoxon's, percentile, BCa, expanded
/// percentile.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Held(pub(crate) [u64; 4]);

impl AddAssign for Held {
    fn add_assign(&mut self, other: Held) {
        self.0.iter_mut().zip(other.0).for_each(|(sum, more)| *sum += more);
    }
}

/// Returns how often each interval included the true value in `trials` comparisons of equal sides.
pub(crate) fn held(noise: Noise, pairs: usize, trials: u64) -> Held {
    repeated(trials, |seed| once(noise, pairs, seed).unwrap_or_default())
}

fn once(noise: Noise, pairs: usize, seed: u64) -> Result<Held, Refused> {
    let mut random = Random::new(seed, 3_000);
    let sides = Design::Random.pairs(noise, pairs, 0.03, &mut random);
    let effects: Vec<f64> = sides.iter().map(|(a, b)| a - b).collect();
    let drawn =
        draws(pairs, RESAMPLES, &mut random, |times| hodges_lehmann(&chosen(&effects, times)).ok());
    let left_out = |i| [&effects[..i], &effects[i + 1..]].concat();
    let jackknife: Vec<f64> =
        (0..pairs).filter_map(|i| hodges_lehmann(&left_out(i)).ok()).collect();
    let all: [Interval; 4] = [
        walsh_interval(&effects, 0.95)?,
        percentile(&drawn, 0.95)?,
        bca(hodges_lehmann(&effects)?, &drawn, &jackknife, 0.95)?,
        percentile(&drawn, expanded(pairs, 0.95)?)?,
    ];
    Ok(Held(all.map(|interval| u64::from(interval.holds(0.0)))))
}

fn chosen(values: &[f64], times: &[u32]) -> Vec<f64> {
    let copies = |(value, &times): (&f64, &u32)| std::iter::repeat_n(*value, times as usize);
    values.iter().zip(times).flat_map(copies).collect()
}
