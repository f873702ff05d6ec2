//! Why the response times of a comparison differ.

use super::by_agent::agents_sentence;
use crate::comparison_result::ComparisonResult;
use sixmark_document::verdict::Verdict;
use sixmark_report::sheet::side::shown;
use sixmark_sheet::Part;
use sixmark_tally::metric::Metric;
use sixmark_tally::timed_phase::{TimePoint, TimedPhase};
use sixmark_why::sheet::{WhySides, differs_sentence, next_sentence};

/// Returns the sentence that says why the median response times differ, with what shows it again, or
/// that there is no cause to name. Empty if they were not compared.
pub fn why_notes(result: &ComparisonResult) -> Vec<String> {
    let agents = agents_sentence(result);
    let Some(why) = result.comparison.divided_difference() else {
        return no_cause(result).into_iter().chain(agents).collect();
    };
    let first = with_sides(result, |sides| sides.cause_sentences(why));
    let more = differs_sentence(why).into_iter().chain(next_sentence(why));
    std::iter::once(first).chain(agents).chain(more).collect()
}

fn with_sides<T>(result: &ComparisonResult, make: impl FnOnce(&WhySides<'_>) -> T) -> T {
    let of = &result.comparison;
    let names = [&of.a, &of.b].map(|name| shown(name));
    let names = names.each_ref().map(String::as_str);
    make(&WhySides { names, confidence: of.settings.confidence })
}

/// Says why no cause is named; `None` if the median response times were not compared.
fn no_cause(result: &ComparisonResult) -> Option<String> {
    let median = Metric::Time(TimedPhase::Response, TimePoint::P50);
    let of = result.comparison.metrics.iter().find(|of| of.metric == median)?;
    let said = match of.verdict {
        Verdict::Equivalent => {
            "the median responses are equivalent, so that there is no cause to name"
        }
        Verdict::Inconclusive => {
            "the difference of the median responses is not decided, so that no cause is named"
        }
        _ => return None,
    };
    Some(format!("WHY: {said}."))
}

/// Returns the parts of the difference.
pub(super) fn why_part(result: &ComparisonResult) -> Option<Part> {
    let why = result.comparison.divided_difference()?;
    Part::new("Why", with_sides(result, |sides| sides.part_blocks(why))).map(Part::open)
}
