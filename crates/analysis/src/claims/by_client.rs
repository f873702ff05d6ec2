//! What the client's own figures answer to the claims that packets answer.

use super::answer_claims;
use crate::observation::Observation;
use sixmark_design::looks::StudyUntil;
use sixmark_design::spec::{ClaimSpec, Study};
use sixmark_design::study_result::{CellResult, ClaimEvidence};

/// Answers all claims by the client's figures; `None` for those that the client answers anyway.
pub(super) fn answer_by_client(
    study: &Study,
    cells: &[CellResult],
    until: Option<&StudyUntil>,
) -> Vec<Option<ClaimEvidence>> {
    let claims = &study.outputs.claims;
    if !claims.iter().any(|claim| claim.by_packets) {
        return vec![None; claims.len()];
    }
    let mut by_client = study.clone();
    by_client.outputs.claims.iter_mut().for_each(|claim| claim.by_packets = false);
    let answers = answer_claims(&by_client, cells, until);
    let of_claim = |(spec, answer): (&ClaimSpec, ClaimEvidence)| spec.by_packets.then_some(answer);
    claims.iter().zip(answers).map(of_claim).collect()
}

/// Returns true if packets answer a claim: it is to be asked of them, and they were captured.
pub(super) fn is_by_packets(spec: &ClaimSpec, seen: &[Observation<'_>]) -> bool {
    spec.by_packets && seen.iter().any(|one| one.figure(spec.measure, true).is_some())
}
