//! The headline of a comparison with a side that gave no usable response.

use crate::comparison_result::ComparisonResult;
use sixmark_document::provenance::Ended;
use sixmark_document::verdict::Verdict;
use sixmark_sheet::{SheetHeadline, write};
use sixmark_units::quantity::counted;

/// Says why a side gave no usable response, if one did not. A side without any complete response
/// has the whole line in the place of the sentence, a side that gave only errors the advice as a
/// note.
pub(super) fn name_silent_sides(
    mut headline: SheetHeadline,
    result: &ComparisonResult,
) -> SheetHeadline {
    if result.comparison.pairs == 0 {
        headline.verdict = Some(Verdict::Inconclusive);
        headline.sentence = "No pair of blocks was measured.".to_owned();
        return headline;
    }
    match result.describe_no_answers() {
        Some(why) if result.has_silent_side() => {
            headline.verdict = Some(Verdict::NotComparable);
            headline.sentence = format!("{}.", write::capitalised(&why));
            headline.notes.clear();
        }
        _ => {
            let advices = result.advices_of_silent_sides().into_iter();
            let notes = advices.map(|advice| format!("{}.", write::capitalised(&advice)));
            headline.notes.splice(0..0, notes);
        }
    }
    headline.notes.extend(given_up(result));
    headline
}

/// Returns true if the comparison was given up before all its pairs were measured. There is nothing
/// to judge then.
pub(super) fn is_given_up(result: &ComparisonResult) -> bool {
    result.ended == Ended::Hopeless && result.comparison.pairs < result.schedule.pairs as usize
}

/// Returns a note on the end of a comparison that was given up.
fn given_up(result: &ComparisonResult) -> Option<String> {
    let pairs = counted(result.comparison.pairs as u64, "pair", "pairs");
    is_given_up(result)
        .then(|| format!("The comparison ended after {pairs} of blocks: more would show the same."))
}
