//! Blocks that follow one another without a pause, and resemble each other.
//!
//! Where sides take turns, the order within pairs makes effects independent, or nearly so, of
//! whatever goes on in time. Where both are loaded at once there is no such order: what one side has
//! to bear, and the other has not, may last for many blocks.

use super::{Evidence, Finding, Rules};
use crate::comparison::{Estimate, Kind};
use crate::stats::{Interval, Refused, fewest, inflation, normal_cdf, normal_quantile};

/// Of a mixed comparison: widens the intervals and weakens the tests by as much as the blocks
/// resemble their neighbours.
pub(super) fn widened(mut evidence: Evidence, rules: &Rules<'_>) -> Evidence {
    let series = &evidence.series;
    evidence.found = evidence.found.and_then(|found| by_kind(found, series, rules));
    evidence
}

/// The same of what one series of blocks says.
pub(super) fn by_kind(
    found: Finding,
    series: &[f64],
    rules: &Rules<'_>,
) -> Result<Finding, Refused> {
    match rules.kind {
        Kind::Isolated => Ok(found),
        Kind::Mixed => by_series(found, series, rules),
    }
}

fn by_series(found: Finding, series: &[f64], rules: &Rules<'_>) -> Result<Finding, Refused> {
    let times = inflation(series)?;
    let (have, need) = ((series.len() as f64 / times) as usize, fewest(rules.alpha()));
    if have < need {
        return Err(Refused::Correlated { have, need });
    }
    Ok(by_factor(found, times.sqrt()))
}

fn by_factor(found: Finding, factor: f64) -> Finding {
    let middle = (found.near.low + found.near.high) / 2.0;
    Finding {
        ratio: found.ratio.map(|ratio| wider_ratio(ratio, factor)),
        difference: wider(found.difference, factor),
        p: 2.0 * weaker(found.p / 2.0, factor),
        p_equivalence: weaker(found.p_equivalence, factor),
        near: Interval {
            low: middle + (found.near.low - middle) * factor,
            high: middle + (found.near.high - middle) * factor,
        },
        margin: found.margin,
    }
}

fn wider_ratio(ratio: Estimate, factor: f64) -> Estimate {
    let Estimate { value, low, high } = ratio;
    let logs = wider(Estimate { value: value.ln(), low: low.ln(), high: high.ln() }, factor);
    Estimate { value, low: logs.low.exp(), high: logs.high.exp() }
}

fn wider(of: Estimate, factor: f64) -> Estimate {
    let end = |end: f64| of.value + (end - of.value) * factor;
    Estimate { value: of.value, low: end(of.low), high: end(of.high) }
}

/// A tail of the normal distribution, where what is so far out is so much nearer.
fn weaker(p: f64, factor: f64) -> f64 {
    if p >= 0.5 { p } else { normal_cdf(normal_quantile(p) / factor) }
}
