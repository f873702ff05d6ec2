//! The rule for verdicts: equivalent, better, worse or inconclusive.

use super::family::{TestFamily, pairs_needed};
use super::{Evidence, JudgedEffect, Rules};
use sixmark_document::verdict::Verdict;
use sixmark_record::metric::Metric;

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
    family: &TestFamily,
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
        _ => {
            let is_tested = p_holm.is_some();
            (Verdict::Inconclusive, Some(reason(evidence, found, family, is_tested, rules)))
        }
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

fn reason(
    evidence: &Evidence,
    found: &JudgedEffect,
    family: &TestFamily,
    is_tested: bool,
    rules: &Rules<'_>,
) -> String {
    let alpha = rules.alpha();
    let settings = rules.settings;
    if evidence.unformed > 0 {
        return format!("a side has no figure in {} of the pairs", evidence.unformed);
    }
    if evidence.least_p > alpha {
        return format!(
            "too few pairs to show a difference: {} are needed",
            pairs_needed(1, settings)
        );
    }
    if !is_tested {
        return format!(
            "not tested: {} pairs can decide {} of {} metrics; {} decide all",
            family.pairs,
            family.len(),
            family.candidates,
            pairs_needed(family.candidates, settings)
        );
    }
    if found.p <= alpha && different(evidence.metric, found).is_some() {
        return format!("one of {} metrics may differ this much by chance", family.len());
    }
    "too noisy (the interval includes no difference and one beyond the margin)".to_owned()
}
