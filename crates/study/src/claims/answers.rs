//! The answers to all claims of a study, with the correction for their number.

use super::tested::{TestOutcome, TestedClaim};
use crate::study_result::{ClaimAnswer, ClaimEvidence};
use sixmark_stats::holm;

/// The probability of any wrong answer among the claims of a study.
pub(super) const LEVEL: f64 = 0.05;

/// Answers all claims. `noun` is what their blocks are.
pub(super) fn answer_all(tested: Vec<TestedClaim>, noun: &str) -> Vec<ClaimEvidence> {
    let ps: Vec<Option<f64>> = tested.iter().map(p_of).collect();
    let adjusted = holm(&ps);
    let all = tested.into_iter().zip(ps.into_iter().zip(adjusted));
    all.map(|(tested, ps)| answer(tested, ps, noun)).collect()
}

fn p_of(tested: &TestedClaim) -> Option<f64> {
    match tested.outcome {
        TestOutcome::Tails(tails) => Some(tails.p()),
        _ => None,
    }
}

fn answer(
    tested: TestedClaim,
    (p, p_adjusted): (Option<f64>, Option<f64>),
    noun: &str,
) -> ClaimEvidence {
    let TestedClaim { outcome, figures, blocks, estimate, count, agrees } = tested;
    let (answer, why) = match outcome {
        TestOutcome::Counted(true) => (ClaimAnswer::Holds, None),
        TestOutcome::Counted(false) => (ClaimAnswer::DoesNotHold, None),
        TestOutcome::Unlike(why) => (ClaimAnswer::NotComparable, Some(why)),
        TestOutcome::Undecided(why) => (ClaimAnswer::CannotTell, Some(why)),
        TestOutcome::Tails(tails) => match p_adjusted.is_some_and(|p| p <= LEVEL) {
            true if tails.holds < tails.fails => (ClaimAnswer::Holds, None),
            true => (ClaimAnswer::DoesNotHold, tails.no_difference.map(no_difference)),
            false => (ClaimAnswer::CannotTell, Some(undecided(blocks, p_adjusted, noun))),
        },
    };
    ClaimEvidence { answer, why, figures, blocks, estimate, count, p, p_adjusted, agrees }
}

fn no_difference(margin: f64) -> String {
    format!("no difference beyond {margin} %")
}

fn undecided(blocks: u32, p: Option<f64>, noun: &str) -> String {
    let p = p.map_or(String::new(), |p| format!(" (p = {p:.2} after Holm's correction)"));
    match blocks {
        1 => format!("1 {noun} does not decide it{p}"),
        n => format!("{n} {noun}s do not decide it{p}"),
    }
}
