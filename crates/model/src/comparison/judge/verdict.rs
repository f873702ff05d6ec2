//! The rule: equivalent, better, worse, or nothing.

use super::{Evidence, JudgedEffect, Rules, pairs_needed};
use crate::comparison::Verdict;
use crate::metric::Metric;

/// - **Equivalent** where both one-sided tests at the margin pass and the interval that belongs to
///   them lies within it. That wins over a difference that is there and smaller than the margin: how
///   much matters was said beforehand. Where a side had nothing in a block, nothing is equivalent.
/// - **Better** or **worse** where p after Holm's correction is no larger than 1 less the confidence
///   and the interval does not hold equality.
/// - Else **inconclusive**, with a reason.
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

/// Better or worse, where the interval leaves equality out.
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
        return format!("a side has nothing to compare in {} of the pairs", evidence.unformed);
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
