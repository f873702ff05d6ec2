//! Metrics that have one figure for each block: medians and rates.

use super::anytime::{estimate_series, judge_series};
use super::figures::{PhaseTimes, effects, effects_in_pairs, formed};
use super::{Evidence, JudgedEffect, Rules, least_p, make_estimate};
use crate::{BlockPair, EffectMethod, Stretch};
use sixmark_document::verdict::Estimate;
use sixmark_stats::{Refused, equivalence, hodges_lehmann, signed_rank, walsh_interval};
use sixmark_tally::metric::{Metric, Quantity};
use sixmark_tally::timed_phase::Quantile;

/// Judges a quantile of a phase, block by block.
pub(super) fn judge_time(
    times: &PhaseTimes,
    point: Quantile,
    rules: &Rules<'_>,
) -> Option<Evidence> {
    let overall = times.overall(point)?;
    let judged = blocks(times.metric(point), overall, &times.by_pair(point), rules);
    Some(match times.check_tail(point) {
        Err(refused) => Evidence { found: Err(refused), ..judged },
        Ok(()) => judged,
    })
}

/// Judges complete responses per second, and content bytes per second if there is content.
pub(super) fn rates(pairs: &[BlockPair], rules: &Rules<'_>) -> Vec<Evidence> {
    let counted: [(Metric, Counted); 2] = [
        (Metric::Quantity(Quantity::RequestsPerS), |stretch| stretch.completed),
        (Metric::Quantity(Quantity::Goodput), |stretch| stretch.body_bytes),
    ];
    counted.iter().filter_map(|&(metric, count)| judge_rate(metric, count, pairs, rules)).collect()
}

/// Judges the server's processor time per complete response, if it is known for both sides.
pub(super) fn cpu(pairs: &[BlockPair], rules: &Rules<'_>) -> Option<Evidence> {
    let of = |stretch: &Stretch| {
        let requests = Some(stretch.completed as f64).filter(|requests| *requests > 0.0);
        Some(stretch.server_cpu_us? / requests?)
    };
    let all = |side: fn(&BlockPair) -> &Stretch| {
        let us = pairs.iter().map(|pair| side(pair).server_cpu_us).sum::<Option<f64>>()?;
        let requests: u64 = pairs.iter().map(|pair| side(pair).completed).sum();
        (requests > 0).then(|| us / requests as f64)
    };
    let overall = (all(|pair| &pair.a)?, all(|pair| &pair.b)?);
    let figures: Vec<_> = pairs.iter().map(|pair| of(&pair.a).zip(of(&pair.b))).collect();
    (overall != (0.0, 0.0))
        .then(|| blocks(Metric::Quantity(Quantity::CpuPerRequest), overall, &figures, rules))
}

/// Returns the count that a rate is computed from.
type Counted = fn(&Stretch) -> u64;

fn judge_rate(
    metric: Metric,
    count: Counted,
    pairs: &[BlockPair],
    rules: &Rules<'_>,
) -> Option<Evidence> {
    let all = |side: fn(&BlockPair) -> &Stretch| {
        let (count, seconds) = pairs.iter().map(side).fold((0, 0.0), |(sum, seconds), stretch| {
            (sum + count(stretch), seconds + stretch.elapsed_s)
        });
        (seconds > 0.0).then(|| count as f64 / seconds)
    };
    let overall = (all(|pair| &pair.a)?, all(|pair| &pair.b)?);
    let of = |stretch: &Stretch| count(stretch) as f64 / stretch.elapsed_s;
    let figures: Vec<_> = pairs.iter().map(|pair| Some((of(&pair.a), of(&pair.b)))).collect();
    (overall != (0.0, 0.0)).then(|| blocks(metric, overall, &figures, rules))
}

fn blocks(
    metric: Metric,
    overall: (f64, f64),
    figures: &[Option<(f64, f64)>],
    rules: &Rules<'_>,
) -> Evidence {
    let formed = formed(figures);
    let effects = effects(&formed);
    let (a, b) = typical(&formed, &effects).unwrap_or(overall);
    Evidence {
        metric,
        a: Some(a),
        b: Some(b),
        method: if rules.is_anytime() { EffectMethod::Anytime } else { EffectMethod::Blocks },
        in_pairs: if rules.is_anytime() { effects_in_pairs(figures) } else { Vec::new() },
        unformed: figures.len() - formed.len(),
        least_p: least_p(formed.len()),
        found: judge_effects(&formed, &effects, rules),
        effects,
    }
}

/// Returns the sides of a typical pair: centred on the median level of all pairs, and as far apart
/// as the estimate of the effect. The figures over all blocks may differ in the other direction,
/// because they weight each block by its exchanges.
fn typical(figures: &[(f64, f64)], effects: &[f64]) -> Option<(f64, f64)> {
    let half = hodges_lehmann(effects).ok()? / 2.0;
    let levels = figures.iter().map(|(a, b)| (a.ln() + b.ln()) / 2.0);
    let level = median(levels.collect())?;
    Some(((level + half).exp(), (level - half).exp()))
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let (low, high) =
        (values.get(values.len().checked_sub(1)? / 2)?, values.get(values.len() / 2)?);
    Some((low + high) / 2.0)
}

fn judge_effects(
    figures: &[(f64, f64)],
    effects: &[f64],
    rules: &Rules<'_>,
) -> Result<JudgedEffect, Refused> {
    let apart: Vec<f64> = figures.iter().map(|(a, b)| a - b).collect();
    of_effects(effects, centre(&apart, rules)?, rules)
}

/// Judges effects whose difference is already estimated.
pub(super) fn of_effects(
    effects: &[f64],
    difference: Estimate,
    rules: &Rules<'_>,
) -> Result<JudgedEffect, Refused> {
    let margin = rules.settings.margin.ln_1p();
    if rules.is_anytime() {
        return judge_series(effects, difference, (margin, true), rules);
    }
    let near = equivalence(effects, margin, rules.alpha())?;
    let logs = centre(effects, rules)?;
    let (value, low, high) = (logs.value.exp(), logs.low.exp(), logs.high.exp());
    Ok(JudgedEffect {
        ratio: Some(Estimate { value, low, high }),
        difference,
        p: signed_rank(effects)?.two_sided,
        p_equivalence: near.p,
        near: near.interval,
        margin,
    })
}

fn centre(values: &[f64], rules: &Rules<'_>) -> Result<Estimate, Refused> {
    if rules.is_anytime() {
        return estimate_series(values, rules);
    }
    let confidence = rules.settings.confidence;
    Ok(make_estimate(hodges_lehmann(values)?, walsh_interval(values, confidence)?))
}
