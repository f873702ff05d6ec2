//! The answers that the tests of a claim can give, each with the p-value that it needs.
//!
//! Each p-value is the probability of such figures if the answer were wrong. The answers stand in
//! the order in which they are preferred: as in `compare`, "no difference that matters" comes
//! first, by its own two one-sided tests, even if the difference is significant. At any truth, the
//! answers that would be wrong together have the probability that their p-values state: beyond the
//! margin, all of them need the figures to be within it; at 0, each direction has half of the level.

use super::sample::ClaimSample;
use sixmark_design::spec::{ClaimBounds, Relation};
use sixmark_design::study_result::{ClaimAnswer, MARGIN_PERCENT};

/// An answer that a test can give.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PossibleAnswer {
    pub(super) answer: ClaimAnswer,
    /// The p-value, before a correction for the number of claims.
    pub(super) p: f64,
    /// What it rests on, in a clause; `None` if the answer itself says it.
    pub(super) why: Option<String>,
}

impl PossibleAnswer {
    pub(super) fn new(answer: ClaimAnswer, p: f64) -> PossibleAnswer {
        PossibleAnswer { answer, p: p.min(1.0), why: None }
    }

    pub(super) fn because(self, why: String) -> PossibleAnswer {
        PossibleAnswer { why: Some(why), ..self }
    }
}

/// Returns the logarithm of a ratio that is a margin in percent away from 1.
pub(super) fn log_margin(percent: f64) -> f64 {
    (percent / 100.0).ln_1p()
}

/// Says that there is no difference beyond a margin in percent.
pub(super) fn no_difference(margin: f64) -> String {
    format!("no difference beyond {margin} %")
}

/// Returns the answers of two p-values, one of which is small if the claim holds, the other if it
/// does not.
pub(super) fn judge_contrary(holds: f64, fails: f64) -> Vec<PossibleAnswer> {
    vec![
        PossibleAnswer::new(ClaimAnswer::DoesNotHold, 2.0 * fails),
        PossibleAnswer::new(ClaimAnswer::Holds, 2.0 * holds),
    ]
}

/// Judges a ratio by the claimed relation.
pub(super) fn judge_relation(relation: Relation, of: &ClaimSample) -> Vec<PossibleAnswer> {
    match relation {
        Relation::Higher(margin) => judge_direction(of, Some(margin)),
        Relation::Lower(margin) => judge_direction(&of.turned(), Some(margin)),
        Relation::Equal(margin) => {
            let margin = log_margin(margin);
            judge_contrary(of.within(margin), of.above(margin).min(of.below(-margin)))
        }
        Relation::Within(ClaimBounds { at_least, at_most }) => {
            let bounds = [at_least, at_most].map(|bound| bound.map(f64::ln));
            judge_bounds(of, bounds, Some(MARGIN_PERCENT))
        }
        // A margin in percent says nothing about a difference in the measure's unit.
        Relation::Apart(ClaimBounds { at_least, at_most }) => {
            judge_bounds(of, [at_least, at_most], None)
        }
    }
}

/// Judges whether a value is above 0. The margin in percent is that of a logarithm; a difference
/// has none.
pub(super) fn judge_direction(of: &ClaimSample, margin: Option<f64>) -> Vec<PossibleAnswer> {
    let none = margin.map(|margin| {
        let p = of.within(log_margin(margin));
        PossibleAnswer::new(ClaimAnswer::NoDifference, p).because(no_difference(margin))
    });
    none.into_iter()
        .chain([
            PossibleAnswer::new(ClaimAnswer::Holds, 2.0 * of.above(0.0)),
            PossibleAnswer::new(ClaimAnswer::Opposite, 2.0 * of.below(0.0)),
        ])
        .collect()
}

/// Judges whether a logarithm or a difference is within bounds. Bounds above 0, or below it, claim a
/// direction besides the size. The margin in percent is that of a logarithm; a difference has none.
fn judge_bounds(
    of: &ClaimSample,
    [least, most]: [Option<f64>; 2],
    margin: Option<f64>,
) -> Vec<PossibleAnswer> {
    let holds = [least.map(|l| of.above(l)), most.map(|m| of.below(m))];
    let fails = [least.map(|l| of.below(l)), most.map(|m| of.above(m))];
    let holds = holds.into_iter().flatten().fold(0.0, f64::max);
    let fails = fails.into_iter().flatten().fold(1.0, f64::min);
    let direction = match (least, most) {
        (Some(least), _) if least >= 0.0 => Some(of.clone()),
        (_, Some(most)) if most <= 0.0 => Some(of.turned()),
        _ => None,
    };
    let fine = direction.map_or(Vec::new(), |of| {
        let also = |answer, p: f64| PossibleAnswer::new(answer, 2.0 * fails.max(p));
        let none = margin.map(|margin| {
            let p = of.within(log_margin(margin));
            also(ClaimAnswer::NoDifference, p).because(no_difference(margin))
        });
        let directions = [
            also(ClaimAnswer::HoldsInDirection, of.above(0.0)),
            also(ClaimAnswer::Opposite, of.below(0.0)),
        ];
        none.into_iter().chain(directions).collect()
    });
    fine.into_iter().chain(judge_contrary(holds, fails)).collect()
}
