//! Reasons why there is no figure although exchanges were sent.

use crate::observation::Observation;
use sixmark_design::study_result::{At, MissingFigure};
use sixmark_tally::metric::{Metric, Quantity};
use sixmark_tally::outcome::Outcome;

/// Returns why there is no figure of a speed at some levels. Returns `None` if the measure is not a
/// speed, if nothing was sent, or if a response was complete (the client then does not measure it).
pub(super) fn why_missing(
    seen: &[Observation<'_>],
    at: &[At],
    measure: Metric,
) -> Option<MissingFigure> {
    let here = || seen.iter().filter(|one| one.is_at(at));
    let sum = |measure: Metric| -> f64 {
        here().filter_map(|one| one.cell.figure(one.family, measure)).sum()
    };
    let [sent, completed] = [Quantity::Sent, Quantity::Completed].map(Metric::Quantity).map(sum);
    if !measure.is_of_speed() || sent == 0.0 || completed > 0.0 {
        return None;
    }
    Some(if sum(Metric::Outcome(Outcome::Timeout)) > 0.0 {
        MissingFigure::Stalled
    } else {
        MissingFigure::Failed
    })
}
