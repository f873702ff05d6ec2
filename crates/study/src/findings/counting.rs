//! Claims about all or none of the exchanges, which are decided by counts, without an interval.

use super::{is_of_side, sentence, unknown};
use crate::observation::Observation;
use crate::spec::FindingSpec;
use crate::study_result::{Claim, ExchangeCount, FindingResult, FindingVerdict};
use sixmark_record::metric::{Metric, Quantity};

/// Counts the exchanges of A's cells, except those that sent none, and judges the claim.
pub(super) fn find_count(spec: &FindingSpec, seen: &[Observation<'_>]) -> FindingResult {
    let here = seen.iter().filter(|one| one.is_at(&spec.only) && is_of_side(one, &spec.a));
    let of_cell = |one: &Observation<'_>| {
        let figure = |measure| one.cell.figure(one.family, measure);
        let sent = figure(Metric::Quantity(Quantity::Sent)).filter(|sent| *sent > 0.0)?;
        Some((one.repetition, figure(spec.measure)?.round() as u64, sent.round() as u64))
    };
    let cells: Vec<(u32, u64, u64)> = here.filter_map(of_cell).collect();
    let mut repetitions: Vec<u32> = cells.iter().map(|(repetition, ..)| *repetition).collect();
    repetitions.sort_unstable();
    repetitions.dedup();
    let found = FindingResult { blocks: repetitions.len() as u32, ..unknown(spec) };
    if cells.is_empty() {
        return found;
    }
    let count = ExchangeCount {
        counted: cells.iter().map(|(_, counted, _)| counted).sum(),
        sent: cells.iter().map(|(.., sent)| sent).sum(),
    };
    let verdict = judge_count(spec.claim, count);
    let said = sentence::say_counted(spec, verdict, count);
    FindingResult { count: Some(count), verdict, said, ..found }
}

fn judge_count(claim: Claim, count: ExchangeCount) -> FindingVerdict {
    let wanted = if claim == Claim::AllOf { count.sent } else { 0 };
    match count.counted == wanted {
        true => FindingVerdict::BorneOut,
        false => FindingVerdict::NotBorneOut,
    }
}
