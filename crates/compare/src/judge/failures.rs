//! The share of exchanges that failed.
//!
//! Newcombe's interval and Fisher's test assume independent exchanges, which they are not: a server
//! that is down for a second fails thousands at once. The p-value is therefore the larger one of
//! Fisher's test and of a test that swaps the sides within pairs, which only assumes that blocks
//! are independent. The interval uses an effective number of exchanges, namely as many independent
//! ones as would scatter as much as the blocks do.

use super::anytime::{estimate_series, judge_series};
use super::{Evidence, JudgedEffect, Rules, least_p, make_estimate};
use crate::{BlockPair, EffectMethod, Stretch};
use sixmark_stats::{
    Count, Interval, Refused, equivalence, fisher, newcombe, newcombe_beyond, normal_quantile,
    swap_test, t_quantile,
};
use sixmark_tally::metric::{Metric, Quantity};
use sixmark_units::random::Random;

/// The number of the random stream. The phases use the streams from 0 on.
const STREAM: u64 = 64;

/// Judges the share of failures. Returns `None` unless both sides have exchanges that ended.
pub(super) fn failures(pairs: &[BlockPair], rules: &Rules<'_>) -> Option<Evidence> {
    let counted: Vec<(Count, Count)> =
        pairs.iter().map(|pair| (count_failures(&pair.a), count_failures(&pair.b))).collect();
    let used: Vec<_> = counted.into_iter().filter(|(a, b)| a.whole > 0 && b.whole > 0).collect();
    let (a, b) = sums(&used);
    let shares = (a.share()?, b.share()?);
    Some(Evidence {
        metric: Metric::Quantity(Quantity::Failures),
        a: Some(shares.0),
        b: Some(shares.1),
        method: EffectMethod::Proportions,
        effects: Vec::new(),
        in_pairs: if rules.is_anytime() { differences_in_pairs(pairs) } else { Vec::new() },
        unformed: pairs.len() - used.len(),
        least_p: least_p(used.len()),
        found: judge_failures(&used, rules),
    })
}

fn count_failures(stretch: &Stretch) -> Count {
    let whole = stretch.completed + stretch.failed - stretch.unaccepted;
    Count { part: stretch.failed, whole }
}

fn judge_failures(pairs: &[(Count, Count)], rules: &Rules<'_>) -> Result<JudgedEffect, Refused> {
    let (a, b) = sums(pairs);
    let margin = rules.settings.margin_of(Metric::Quantity(Quantity::Failures));
    let sides = FailureShares::new(pairs)?;
    let interval = sides.interval(rules.settings.confidence)?;
    let beyond = sides.beyond(margin)?;
    if rules.is_anytime() {
        return judge_shares_anytime(pairs, (margin, beyond), rules);
    }
    let near = sides.interval(1.0 - 2.0 * rules.alpha())?;
    Ok(JudgedEffect {
        ratio: None,
        difference: make_estimate(sides.difference(), interval),
        p: fisher(a, b)?.max(exchanged(pairs, rules)),
        p_equivalence: beyond.max(blocks_beyond(pairs, margin, rules)?),
        near,
        margin,
    })
}

/// Judges the differences of the shares after each pair. Signs alone mislead where failures are
/// rare and one side has fewer exchanges: most of its blocks have none. So the pooled counts must
/// agree: Fisher's test on a difference, Newcombe's interval on a difference below the margin.
fn judge_shares_anytime(
    pairs: &[(Count, Count)],
    (margin, beyond): (f64, f64),
    rules: &Rules<'_>,
) -> Result<JudgedEffect, Refused> {
    let apart = share_differences(pairs);
    let (a, b) = sums(pairs);
    let pooled = a.share().zip(b.share()).map_or(0.0, |(a, b)| a - b);
    let found = estimate_series(&apart, rules)?;
    let interval = Interval { low: found.low, high: found.high };
    let judged = judge_series(&apart, make_estimate(pooled, interval), (margin, false), rules)?;
    Ok(JudgedEffect {
        p: fisher(a, b)?.max(judged.p),
        p_equivalence: beyond.max(judged.p_equivalence),
        ..judged
    })
}

/// Returns the difference of the shares of each pair, `None` if a side has no exchange in it.
fn differences_in_pairs(pairs: &[BlockPair]) -> Vec<Option<f64>> {
    let share = |stretch: &Stretch| count_failures(stretch).share();
    pairs.iter().map(|pair| Some(share(&pair.a)? - share(&pair.b)?)).collect()
}

/// Returns the sums of both sides over all pairs.
fn sums(pairs: &[(Count, Count)]) -> (Count, Count) {
    let none = (Count::default(), Count::default());
    pairs.iter().fold(none, |(a, b), pair| (added(a, pair.0), added(b, pair.1)))
}

fn added(to: Count, more: Count) -> Count {
    Count { part: to.part + more.part, whole: to.whole + more.whole }
}

/// Returns the p-value of swapping the sides within pairs. A pair is weighted by the exchanges of
/// both its sides, so that a swap changes only its sign: a single bad block is never significant,
/// whatever the rates of the sides.
fn exchanged(pairs: &[(Count, Count)], rules: &Rules<'_>) -> f64 {
    let weighed = |(a, b): &(Count, Count)| {
        Some((a.share()? - b.share()?) * (a.whole as f64 + b.whole as f64))
    };
    let apart: Vec<f64> = pairs.iter().filter_map(weighed).collect();
    if apart.iter().all(|apart| *apart == 0.0) {
        return 1.0;
    }
    let mut random = Random::new(rules.settings.seed, STREAM);
    let signed = |(apart, &swap): (&f64, &bool)| if swap { -apart } else { *apart };
    let tests = swap_test(apart.len(), rules.settings.resamples, &mut random, 1, |swapped, out| {
        out[0] = apart.iter().zip(swapped).map(signed).sum();
    });
    tests.first().map_or(1.0, |test| test.two_sided)
}

/// Returns the p-value of equivalence from the blocks alone.
fn blocks_beyond(pairs: &[(Count, Count)], margin: f64, rules: &Rules<'_>) -> Result<f64, Refused> {
    Ok(equivalence(&share_differences(pairs), margin, rules.alpha())?.p)
}

fn share_differences(pairs: &[(Count, Count)]) -> Vec<f64> {
    pairs.iter().filter_map(|(a, b)| Some(a.share()? - b.share()?)).collect()
}

/// For each side, the share of failures and the number of independent exchanges that would scatter
/// as the blocks do (Rao, Scott: A simple method for the analysis of clustered binary data,
/// Biometrics 1992, 48: 577).
struct FailureShares {
    a: (f64, f64),
    b: (f64, f64),
}

impl FailureShares {
    fn new(pairs: &[(Count, Count)]) -> Result<FailureShares, Refused> {
        let of_a: Vec<Count> = pairs.iter().map(|(a, _)| *a).collect();
        let of_b: Vec<Count> = pairs.iter().map(|(_, b)| *b).collect();
        // The side with fewer failures has less information on how they cluster, so both use the
        // larger value.
        let inflation = inflation(&of_a).max(inflation(&of_b));
        let (a, b) = sums(pairs);
        let side = |count: Count| Some((count.share()?, count.whole as f64 / inflation));
        Ok(FailureShares { a: side(a).ok_or(Refused::Empty)?, b: side(b).ok_or(Refused::Empty)? })
    }

    fn difference(&self) -> f64 {
        self.a.0 - self.b.0
    }

    fn interval(&self, confidence: f64) -> Result<Interval, Refused> {
        newcombe(self.a, self.b, confidence)
    }

    fn beyond(&self, margin: f64) -> Result<f64, Refused> {
        newcombe_beyond(self.a, self.b, margin)
    }
}

/// Returns the factor by which the blocks' shares scatter more than those of independent exchanges,
/// at least 1. Because it is an estimate from few blocks, Student's quantile replaces the normal
/// one.
fn inflation(blocks: &[Count]) -> f64 {
    let (n, sum) = (blocks.len() as f64, blocks.iter().fold(Count::default(), |a, &b| added(a, b)));
    let Some(share) = sum.share().filter(|share| *share > 0.0 && *share < 1.0) else { return 1.0 };
    let off = |block: &Count| (block.part as f64 - share * block.whole as f64).powi(2);
    let scatter = n / (n - 1.0) * blocks.iter().map(off).sum::<f64>() / sum.whole as f64;
    let times = scatter / (share * (1.0 - share));
    if times > 1.0 { times * wider(n) } else { 1.0 }
}

fn wider(blocks: f64) -> f64 {
    (t_quantile(0.975, blocks - 1.0) / normal_quantile(0.975)).powi(2)
}
