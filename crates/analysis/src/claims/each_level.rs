//! Claims that must hold at every level of a factor (an intersection-union test: Berger 1982). A
//! mean over the levels would hide one that is against the claim.

use super::judged::PossibleAnswer;
use super::sample::ClaimSample;
use sixmark_design::study_result::ClaimAnswer;

/// The answers that a test can give at one level, and the sample on which they rest.
pub(super) struct JudgedLevel {
    pub(super) level: String,
    pub(super) sample: ClaimSample,
    pub(super) possible: Vec<PossibleAnswer>,
}

impl JudgedLevel {
    /// Returns the least p-value of the answers that `wanted` selects.
    fn p_of(&self, wanted: impl Fn(ClaimAnswer) -> bool) -> f64 {
        let of = self.possible.iter().filter(|one| wanted(one.answer));
        of.map(|one| one.p).fold(1.0, f64::min)
    }
}

/// Judges a claim by its levels. An answer about all of them needs each of them to give it. That
/// some level contradicts the claim, or that some shows it, needs one level, whose p-value is
/// multiplied by the number of levels; that it holds in part needs besides that two such levels differ:
/// where all levels are alike, a difference below the margin may be shown at one of them as a
/// direction, at another as none that matters. Unless the levels are the `whole`, nothing is shown of all.
pub(super) fn judge_levels(levels: &[JudgedLevel], whole: bool) -> Vec<PossibleAnswer> {
    let of_all = |answer: ClaimAnswer| {
        let p = levels.iter().map(|level| level.p_of(|one| one == answer)).fold(0.0, f64::max);
        let p = if whole { p } else { 1.0 };
        let why = levels
            .first()
            .and_then(|level| level.possible.iter().find(|one| one.answer == answer)?.why.clone());
        PossibleAnswer { why, ..PossibleAnswer::new(answer, p) }
    };
    let count = levels.len() as f64;
    let holds = |answer| answer == ClaimAnswer::Holds;
    let contrary = |answer| answer != ClaimAnswer::Holds;
    let least = |wanted: &dyn Fn(ClaimAnswer) -> bool| {
        count * levels.iter().map(|level| level.p_of(wanted)).fold(1.0, f64::min)
    };
    let (shown, denied) = (least(&holds), least(&contrary));
    let at = |wanted: &dyn Fn(ClaimAnswer) -> bool| {
        let shown =
            levels.iter().filter(|level| count * level.p_of(wanted) <= super::answers::LEVEL);
        shown.map(|level| level.level.as_str()).collect::<Vec<_>>().join(", ")
    };
    let (held, against) = (at(&holds), at(&contrary));
    let differ = show_unlike(levels, &holds, &contrary);
    let in_part = PossibleAnswer::new(ClaimAnswer::HoldsInPart, shown.max(denied).max(differ))
        .because(format!("it holds at {held}, not at {against}"));
    let not_all = PossibleAnswer::new(ClaimAnswer::DoesNotHold, denied)
        .because(format!("it does not hold at {against}"));
    [
        ClaimAnswer::NoDifference,
        ClaimAnswer::Holds,
        ClaimAnswer::HoldsInDirection,
        ClaimAnswer::Opposite,
    ]
    .map(of_all)
    .into_iter()
    .chain([in_part, not_all])
    .collect()
}

/// Returns the p-value that a level at which the claim is shown differs from one that contradicts it: the
/// least of all pairs, multiplied by their number.
fn show_unlike(
    levels: &[JudgedLevel],
    holds: &dyn Fn(ClaimAnswer) -> bool,
    contrary: &dyn Fn(ClaimAnswer) -> bool,
) -> f64 {
    let count = levels.len() as f64;
    let is = |level: &JudgedLevel, wanted: &dyn Fn(ClaimAnswer) -> bool| {
        count * level.p_of(wanted) <= super::answers::LEVEL
    };
    let held = levels.iter().filter(|level| is(level, holds));
    let pairs = held.flat_map(|held| {
        let against = levels.iter().filter(|level| is(level, contrary));
        against.map(|against| {
            let (a, b) = (&held.sample, &against.sample);
            2.0 * a.above_other(b).min(b.above_other(a))
        })
    });
    (count * (count - 1.0) / 2.0).max(1.0) * pairs.fold(1.0, f64::min)
}
