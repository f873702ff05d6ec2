//! The rule for verdicts: equivalent, better, worse or inconclusive.

use super::{Evidence, JudgedEffect, Rules, pairs_needed};
use crate::comparison::Verdict;
use crate::metric::Metric;

/// Returns the verdict on one metric, and the reason if it is inconclusive.
///
/// - **Equivalent** if both one-sided tests at the margin pass and the corresponding interval lies
///   within it. This takes precedence over a significant difference smaller than the margin,
///   because the margin was chosen beforehand. A metric is never equivalent if a side had no figure
///   in a block.
/// - **Better** or **worse** if p after Holm's correction is at most 1 minus the confidence and the
///   interval does not include equality.
/// - Otherwise **inconclusive**, with a reason.
pub(super) fn judge_verdict(
    evidence: &Evidence,
    p_holm: Option<f64>,
    family: usize,
    rules: &Rules<'_>,
) -> (Verdict, Option<String>) {
    let found = match &evidence.found {
        Ok(found) => found,
        Err(refused) => return (Verdict::Inconclusive, Some(refused.to_string())),
    };
    let alpha = rules.alpha();
    let side = different(evidence.metric, found);
    if evidence.unformed == 0 && found.within() && found.p_equivalence <= alpha {
        return (Verdict::Equivalent, None);
    }
    match side {
        Some(verdict) if p_holm.is_some_and(|p| p <= alpha) => (verdict, None),
        _ => (Verdict::Inconclusive, Some(reason(evidence, found, family, rules))),
    }
}

/// Returns better or worse if the interval excludes equality.
fn different(metric: Metric, found: &JudgedEffect) -> Option<Verdict> {
    let (interval, equal) = found.ratio.map_or((found.difference, 0.0), |ratio| (ratio, 1.0));
    if interval.low <= equal && equal <= interval.high {
        return None;
    }
    let higher = interval.low > equal;
    Some(if Some(higher) != metric.higher_is_better() { Verdict::Worse } else { Verdict::Better })
}

fn reason(evidence: &Evidence, found: &JudgedEffect, family: usize, rules: &Rules<'_>) -> String {
    let alpha = rules.alpha();
    if evidence.unformed > 0 {
        return format!("a side has no figure in {} of the pairs", evidence.unformed);
    }
    if evidence.least_p * family as f64 > alpha {
        let needed = pairs_needed(family, rules.settings);
        return format!("too few pairs for {family} metrics: {needed} are needed");
    }
    if found.p <= alpha && different(evidence.metric, found).is_some() {
        return format!("one of {family} metrics may differ this much by chance");
    }
    "too noisy (the interval includes no difference and one beyond the margin)".to_owned()
}
