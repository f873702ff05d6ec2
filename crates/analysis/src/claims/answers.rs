//! The answers to all claims of a study, with the correction for their number.

use super::judged::PossibleAnswer;
use super::tested::{TestOutcome, TestedClaim, least_p};
use sixmark_design::looks::LookParts;
use sixmark_design::spec::{ClaimSpec, ClaimTest};
use sixmark_design::study_result::{ClaimAnswer, ClaimEvidence};
use sixmark_stats::{WeightedP, weighted_holm};

/// The probability of any wrong answer among the paper's claims, and among the study's own.
pub(super) const LEVEL: f64 = 0.05;

/// The family of a claim, whose members weigh the same.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ClaimFamily {
    /// The main findings of the paper.
    Main,
    /// The orders among its other claims.
    Orders,
    /// The rest of its claims.
    Rest,
    /// The study's own claims, which are corrected apart so that they never cost the paper's.
    Own,
}

impl ClaimFamily {
    pub(super) fn of(spec: &ClaimSpec) -> ClaimFamily {
        match (&spec.source, spec.main, &spec.test) {
            (None, ..) => ClaimFamily::Own,
            (Some(_), true, _) => ClaimFamily::Main,
            (Some(_), false, ClaimTest::Order(_)) => ClaimFamily::Orders,
            (Some(_), false, _) => ClaimFamily::Rest,
        }
    }

    /// Returns the part of the level that its tested claims have together, in proportion to those
    /// of the other families that are corrected with it and have tested claims.
    fn weight(self) -> f64 {
        match self {
            ClaimFamily::Main => 0.5,
            ClaimFamily::Orders | ClaimFamily::Rest => 0.25,
            ClaimFamily::Own => 1.0,
        }
    }
}

/// Answers all claims, each of which belongs to a family. The paper's claims have the part of [`LEVEL`]
/// together that this look has, and so have the study's own. `noun` is what their blocks are.
pub(super) fn answer_all(
    tested: Vec<(ClaimFamily, TestedClaim)>,
    noun: BlockNoun,
    parts: LookParts,
) -> Vec<ClaimEvidence> {
    let possible: Vec<Vec<PossibleAnswer>> =
        tested.iter().map(|(_, tested)| possible_answers(tested)).collect();
    let ps = tested.iter().zip(&possible).map(|((family, _), possible)| {
        (*family, (!possible.is_empty()).then(|| least_p(possible)))
    });
    let corrected = correct_all(&ps.collect::<Vec<_>>(), parts);
    let all = tested.into_iter().zip(possible).zip(corrected);
    all.map(|(((_, tested), possible), ps)| answer(tested, &possible, ps, noun)).collect()
}

/// Corrects the p-values of all claims at a look: those of the paper together, and the study's own.
fn correct_all(ps: &[(ClaimFamily, Option<f64>)], parts: LookParts) -> Vec<Option<Corrected>> {
    let count = |family: ClaimFamily| {
        ps.iter().filter(|(of, p)| *of == family && p.is_some()).count() as f64
    };
    let weighted = |own: bool| -> Vec<Option<WeightedP>> {
        let is_here = |family: ClaimFamily| (family == ClaimFamily::Own) == own;
        let of_claim = |&(family, p): &(ClaimFamily, Option<f64>)| {
            let weight = family.weight() / count(family);
            p.filter(|_| is_here(family)).map(|p| WeightedP { p, weight })
        };
        ps.iter().map(of_claim).collect()
    };
    let mut all: Vec<Option<Corrected>> = vec![None; ps.len()];
    for tests in [weighted(false), weighted(true)] {
        let for_look = |p: Option<f64>| p.map(|p| (p / parts.now).min(1.0));
        let adjusted: Vec<_> = weighted_holm(&tests).into_iter().map(for_look).collect();
        let is_open = |adjusted: f64| adjusted > LEVEL;
        let both = || tests.iter().zip(&adjusted).map(|(test, adjusted)| test.zip(*adjusted));
        let open: f64 = both()
            .flatten()
            .filter(|(_, adjusted)| is_open(*adjusted))
            .map(|(test, _)| test.weight)
            .sum();
        for (corrected, found) in all.iter_mut().zip(both()) {
            let Some((WeightedP { p, weight }, adjusted)) = found else { continue };
            let decided = if is_open(adjusted) { 0.0 } else { weight };
            let part = weight / (open + decided);
            let forecast_level = LEVEL * parts.next * part;
            let factor = 1.0 / (part * parts.now);
            *corrected = Some(Corrected { p, adjusted, forecast_level, factor });
        }
    }
    all
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
    /// The p-value before it.
    p: f64,
    adjusted: f64,
    /// The p-value before them that would decide the claim at the next look, once the decided claims have
    /// left their parts of the level to the others.
    forecast_level: f64,
    /// How many times its p-value the corrected one is at least.
    factor: f64,
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
        more_s: None,
        agrees,
    }
}

/// Returns the first answer whose p-value is small enough after the same correction.
fn preferred(possible: &[PossibleAnswer], ps: Corrected) -> Option<&PossibleAnswer> {
    if ps.adjusted > LEVEL {
        return None;
    }
    let factor = if ps.p > 0.0 { ps.adjusted / ps.p } else { ps.factor };
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
