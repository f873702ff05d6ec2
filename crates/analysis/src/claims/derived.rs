//! Claims that are another claim in other units. They are not tested, and have its answer.

use sixmark_design::spec::ClaimSpec;
use sixmark_design::study_result::{ClaimAnswer, ClaimEvidence};

/// Gives the claims that follow from others the answers of those, beside their own figures.
pub(super) fn answer_derived(claims: &[ClaimSpec], answers: &mut [Option<ClaimEvidence>]) {
    for (at, spec) in claims.iter().enumerate() {
        let Some(from) = &spec.derived_from else { continue };
        let tested = claims.iter().position(|other| other.id == from.id);
        let answer = tested.and_then(|tested| answers[tested].clone());
        if let Some(own) = answers[at].take() {
            answers[at] = Some(follow(&from.id, answer.as_ref(), own));
        }
    }
}

fn follow(id: &str, tested: Option<&ClaimEvidence>, own: ClaimEvidence) -> ClaimEvidence {
    let Some(tested) = tested else {
        let why = Some(format!("follows from {id}, which no published table has figures about"));
        return ClaimEvidence { answer: ClaimAnswer::NotTested, why, ..own };
    };
    let why = tested.why.as_ref().map_or(String::new(), |why| format!(": {why}"));
    ClaimEvidence {
        answer: tested.answer,
        why: Some(format!("follows from {id}{why}")),
        more_blocks: tested.more_blocks,
        ..own
    }
}
