//! The answers to all claims of a study, with the correction for their number.

use super::judged::PossibleAnswer;
use super::tested::{TestOutcome, TestedClaim, least_p};
use crate::looks::LookParts;
use crate::spec::ClaimSpec;
use crate::study_result::{ClaimAnswer, ClaimEvidence};
use sixmark_stats::holm;

/// The probability of any wrong answer among the claims of a family.
pub(super) const LEVEL: f64 = 0.05;

/// Whose claims are corrected together. The study's own claims never cost the paper's.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ClaimFamily {
    OfPaper,
    Own,
}

impl ClaimFamily {
    pub(super) fn of(spec: &ClaimSpec) -> ClaimFamily {
        match spec.source {
            Some(_) => ClaimFamily::OfPaper,
            None => ClaimFamily::Own,
        }
    }
}

/// Answers all claims, each of which belongs to a family. The claims of a family have the part of
/// [`LEVEL`] together that this look has. `noun` is what their blocks are.
pub(super) fn answer_all(
    tested: Vec<(ClaimFamily, TestedClaim)>,
    noun: BlockNoun,
    parts: LookParts,
) -> Vec<ClaimEvidence> {
    let possible: Vec<Vec<PossibleAnswer>> =
        tested.iter().map(|(_, tested)| possible_answers(tested)).collect();
    let ps_of = |family: ClaimFamily| -> Vec<Option<f64>> {
        let all = tested.iter().zip(&possible);
        all.map(|((of, _), possible)| {
            (*of == family && !possible.is_empty()).then(|| least_p(possible))
        })
        .collect()
    };
    let corrected = [ClaimFamily::OfPaper, ClaimFamily::Own].map(|family| {
        let ps = ps_of(family);
        let for_look = |p: Option<f64>| p.map(|p| (p / parts.now).min(1.0));
        let adjusted: Vec<Option<f64>> = holm(&ps).into_iter().map(for_look).collect();
        let open = adjusted.iter().flatten().filter(|p| **p > LEVEL).count();
        (ps, adjusted, open)
    });
    let all = tested.into_iter().zip(possible).enumerate();
    all.map(|(at, ((family, tested), possible))| {
        let (ps, adjusted, open) = &corrected[usize::from(family == ClaimFamily::Own)];
        let forecast_level = LEVEL * parts.next / (*open).max(1) as f64;
        let ps =
            ps[at].zip(adjusted[at]).map(|(p, adjusted)| Corrected { p, adjusted, forecast_level });
        answer(tested, &possible, ps, noun)
    })
    .collect()
}

/// What the blocks of claims are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockNoun {
    Repetition,
    PublishedFigure,
}

impl BlockNoun {
    fn words(self) -> &'static str {
        match self {
            BlockNoun::Repetition => "repetition",
            BlockNoun::PublishedFigure => "published figure",
        }
    }
}

/// The p-value of a claim, and that after the corrections for the number of claims and of looks.
#[derive(Clone, Copy)]
struct Corrected {
    p: f64,
    adjusted: f64,
    /// The p-value before them that would decide the claim at the next look.
    forecast_level: f64,
}

fn possible_answers(tested: &TestedClaim) -> Vec<PossibleAnswer> {
    match &tested.outcome {
        TestOutcome::Judged(judged) => judged.possible(),
        _ => Vec::new(),
    }
}

fn answer(
    tested: TestedClaim,
    possible: &[PossibleAnswer],
    ps: Option<Corrected>,
    noun: BlockNoun,
) -> ClaimEvidence {
    let TestedClaim { outcome, figures, blocks, estimate, count, agrees } = tested;
    let mut more_blocks = None;
    let (answer, why) = match outcome {
        TestOutcome::Counted(true) => (ClaimAnswer::Holds, None),
        TestOutcome::Counted(false) => (ClaimAnswer::DoesNotHold, None),
        TestOutcome::Unlike(why) => (ClaimAnswer::NotComparable, Some(why)),
        TestOutcome::Undecided(why) => (ClaimAnswer::Undecided, Some(why)),
        TestOutcome::Untested(why) => (ClaimAnswer::NotTested, Some(why)),
        TestOutcome::Judged(judged) => match ps.and_then(|ps| preferred(possible, ps)) {
            Some(found) => (found.answer, found.why.clone()),
            None => {
                let level = ps.map(|ps| ps.forecast_level);
                let level = level.filter(|_| noun == BlockNoun::Repetition);
                more_blocks = level.and_then(|level| judged.more_blocks(blocks, level));
                (ClaimAnswer::Undecided, Some(undecided(blocks, ps, more_blocks, noun)))
            }
        },
    };
    let [p, p_adjusted] = [ps.map(|ps| ps.p), ps.map(|ps| ps.adjusted)];
    ClaimEvidence {
        answer,
        why,
        figures,
        blocks,
        estimate,
        count,
        p,
        p_adjusted,
        more_blocks,
        agrees,
    }
}

/// Returns the first answer whose p-value is small enough after the same correction.
fn preferred(possible: &[PossibleAnswer], ps: Corrected) -> Option<&PossibleAnswer> {
    if ps.adjusted > LEVEL {
        return None;
    }
    let factor = if ps.p > 0.0 { ps.adjusted / ps.p } else { 1.0 };
    possible.iter().find(|one| one.p <= ps.p || one.p * factor <= LEVEL)
}

fn undecided(blocks: u32, ps: Option<Corrected>, more: Option<u32>, noun: BlockNoun) -> String {
    let more = more.map_or(String::new(), |more| format!("; about {more} more would decide it"));
    let p = ps.map_or(String::new(), |Corrected { p, adjusted, .. }| {
        format!(" (p = {p:.2}, {adjusted:.2} after Holm's correction{more})")
    });
    let noun = noun.words();
    match blocks {
        1 => format!("1 {noun} does not decide it{p}"),
        n => format!("{n} {noun}s do not decide it{p}"),
    }
}
