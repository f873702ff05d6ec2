//! The rule for verdicts: equivalent, better, worse or inconclusive.

use super::family::{TestFamily, pairs_needed};
use super::{Evidence, JudgedEffect, Rules};
use crate::undecided::{Undecided, UndecidedCause};
use sixmark_document::verdict::Verdict;
use sixmark_tally::metric::Metric;

/// Returns the verdict on one metric, and the reason if it is inconclusive.
///
/// - **Equivalent** if both one-sided tests at the margin pass and the corresponding interval lies
///   within it. This takes precedence over a significant difference smaller than the margin,
///   because the margin was chosen beforehand. A metric is never equivalent if a side had no figure
///   in a block.
/// - **Better** or **worse** if p after Holm's correction is at most the level of the tests for a
///   difference and the interval does not include equality.
/// - Otherwise **inconclusive**, with a reason.
pub(super) fn judge_verdict(
    evidence: &Evidence,
    p_holm: Option<f64>,
    family: &TestFamily,
    rules: &Rules<'_>,
) -> (Verdict, Option<Undecided>) {
    let found = match &evidence.found {
        Ok(found) => found,
        Err(refused) => return (Verdict::Inconclusive, Some(refused.into())),
    };
    let alpha = rules.alpha();
    let side = different(evidence.metric, found);
    if evidence.unformed == 0 && found.within() && found.p_equivalence <= alpha {
        return (Verdict::Equivalent, None);
    }
    match side {
        Some(verdict) if p_holm.is_some_and(|p| p <= rules.settings.level_of_difference()) => {
            (verdict, None)
        }
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
) -> Undecided {
    let settings = rules.settings;
    let level = settings.level_of_difference();
    let (cause, reason) = if evidence.unformed > 0 {
        let pairs = evidence.unformed;
        (UndecidedCause::NoFigure, format!("a side has no figure in {pairs} of the pairs"))
    } else if rules.is_anytime() && !is_tested {
        (UndecidedCause::NotTested, "not tested: --until does not name it".to_owned())
    } else if !rules.is_anytime() && evidence.least_p > level {
        let needed = pairs_needed(1, settings);
        let reason = format!("too few pairs to show a difference: {needed} are needed");
        (UndecidedCause::FewPairs, reason)
    } else if !is_tested {
        let reason = format!(
            "not tested: {} pairs can decide {} of {} metrics; {} decide all",
            family.pairs,
            family.len(),
            family.candidates,
            pairs_needed(family.candidates, settings)
        );
        (UndecidedCause::NotTested, reason)
    } else if found.p <= level && different(evidence.metric, found).is_some() {
        let reason = format!("one of {} metrics may differ this much by chance", family.len());
        (UndecidedCause::Chance, reason)
    } else {
        let reason = "too noisy (the interval includes no difference and one beyond the margin)";
        (UndecidedCause::Noise, reason.to_owned())
    };
    Undecided::new(cause, reason)
}
