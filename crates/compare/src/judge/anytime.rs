//! Judgement after each pair: evidence that stays valid however often one looks.
//!
//! Each metric has one effect for each pair, tail quantiles and shares of failures too. The formulas
//! are in `sixmark-stats`: money won by bets on the signs of these effects.

use super::family::TestFamily;
use super::{Evidence, JudgedEffect, Rules, make_estimate};
use crate::until::UntilDecided;
use sixmark_document::verdict::Estimate;
use sixmark_stats::{
    BetOn, Interval, Refused, Wager, confidence_sequence, hodges_lehmann, merge_by_averages,
    peak_evidence,
};

/// Judges the effects of pairs, whose difference is already estimated, for equality and for a
/// margin. `ratio` is true if the effects are logarithms of ratios.
pub(super) fn judge_series(
    effects: &[f64],
    difference: Estimate,
    (margin, ratio): (f64, bool),
    rules: &Rules<'_>,
) -> Result<JudgedEffect, Refused> {
    let value = hodges_lehmann(effects)?;
    let near = confidence_sequence(effects, rules.alpha())?;
    let logs = estimate_series(effects, rules)?;
    let against = |on, bound| peak_evidence(effects, on, bound);
    let within = against(BetOn::Above, -margin)?.min(against(BetOn::Below, margin)?);
    let [low, high] = [logs.low.exp(), logs.high.exp()];
    Ok(JudgedEffect {
        ratio: ratio.then(|| Estimate { value: logs.value.exp(), low, high }),
        difference,
        p: p_of_evidence(peak_of_both(effects)),
        p_equivalence: p_of_evidence(within),
        near: Interval { low: near.low.min(value), high: near.high.max(value) },
        margin,
    })
}

/// Returns the Hodges-Lehmann estimate of effects, with a confidence sequence as its interval.
pub(super) fn estimate_series(effects: &[f64], rules: &Rules<'_>) -> Result<Estimate, Refused> {
    let each_side = (1.0 - rules.settings.confidence) / 2.0;
    let interval = confidence_sequence(effects, each_side)?;
    Ok(make_estimate(hodges_lehmann(effects)?, interval))
}

/// Returns the p-value of each tested metric after the correction for all that are named: evidence
/// for sets of metrics is the average of theirs. It is the least at any look so far.
pub(super) fn corrected_ps(
    evidence: &[Evidence],
    family: &TestFamily,
    until: &UntilDecided,
) -> Vec<Option<f64>> {
    let tested: Vec<usize> =
        (0..evidence.len()).filter(|&at| family.tested[at].is_some()).collect();
    let mut bets: Vec<BothWays> = tested.iter().map(|_| BothWays::default()).collect();
    let mut peaks = vec![1.0_f64; tested.len()];
    let looks = tested.iter().map(|&at| evidence[at].in_pairs.len()).max().unwrap_or(0);
    for look in 0..looks {
        for (bet, &at) in bets.iter_mut().zip(&tested) {
            let effect = evidence[at].in_pairs.get(look).copied().flatten();
            effect.into_iter().for_each(|effect| bet.add(effect));
        }
        // A named metric that has no figure has no evidence either.
        let mut now: Vec<f64> = bets.iter().map(BothWays::evidence).collect();
        now.resize(now.len().max(until.metrics.len()), 1.0);
        let merged = merge_by_averages(&now);
        peaks.iter_mut().zip(merged).for_each(|(peak, merged)| *peak = peak.max(merged));
    }
    let mut corrected = vec![None; evidence.len()];
    for (&at, peak) in tested.iter().zip(peaks) {
        // Other tests of the same metric, such as Fisher's, may be stricter.
        corrected[at] = evidence[at].p().map(|p| p_of_evidence(peak).max(p));
    }
    corrected
}

/// Money divided between bets on both directions.
struct BothWays {
    above: Wager,
    below: Wager,
}

impl Default for BothWays {
    fn default() -> BothWays {
        let bet = |on| Wager::new(on, 0.0);
        BothWays { above: bet(BetOn::Above), below: bet(BetOn::Below) }
    }
}

impl BothWays {
    fn add(&mut self, effect: f64) {
        self.above.add(effect);
        self.below.add(effect);
    }

    fn evidence(&self) -> f64 {
        f64::midpoint(self.above.evidence(), self.below.evidence())
    }
}

fn peak_of_both(effects: &[f64]) -> f64 {
    let mut bets = BothWays::default();
    effects.iter().fold(1.0, |peak, effect| {
        bets.add(*effect);
        peak.max(bets.evidence())
    })
}

/// Returns the p-value of values that differ from 0 in either direction.
pub(super) fn p_of_series(values: &[f64]) -> f64 {
    p_of_evidence(peak_of_both(values))
}

/// Returns the probability with which evidence that does not exist ever appears to be so large.
fn p_of_evidence(peak: f64) -> f64 {
    peak.max(1.0).recip()
}
