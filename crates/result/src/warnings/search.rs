//! Warnings about a search for the highest rate.

use crate::find::{FindMax, FoundRate, Limit};
use crate::result::RunResult;
use sixmark_document::provenance::Warning;
use sixmark_units::family::Family;

use sixmark_document::provenance::warning;

/// The largest ratio of a condition's time limit to the duration of a trial. With a larger ratio, a
/// trial tolerates a growing queue that a longer trial would not.
const GROWTH: f64 = 0.05;

/// Returns warnings if something other than the server determined the highest rate.
pub(super) fn of_search(result: &RunResult, found: &FindMax) -> Vec<Warning> {
    let limits = found.families.iter().map(|(family, found)| limited(result, family, found));
    stopped(found).into_iter().chain(short_trials(found)).chain(limits.flatten()).collect()
}

/// Warns that the search ended because a trial could not be run.
fn stopped(found: &FindMax) -> Option<Warning> {
    found.describe_stop().map(|why| warning("search_stopped", why))
}

/// Warns if trials are too short. After a trial at a rate a certain share above its capacity, a
/// server is late by no more than that share of the trial.
fn short_trials(found: &FindMax) -> Option<Warning> {
    let bounds = found.conditions.iter().filter_map(|c| Some((c, c.response_bound_s()?)));
    let (condition, bound_s) = bounds.min_by(|a, b| a.1.total_cmp(&b.1))?;
    let part = bound_s / found.trial_s;
    (part > GROWTH).then(|| {
        let message = format!(
            "with '{condition}' a queue may grow through a trial of {} s and still hold: the rates \
             may be {:.0} % too high; lengthen -d",
            found.trial_s,
            part * 100.0
        );
        warning("short_trials", message)
    })
}

fn limited(result: &RunResult, family: Family, found: &FoundRate) -> Option<Warning> {
    let usual = result.plan.in_flight();
    let in_flight = found.failing().and_then(|trial| trial.in_flight).unwrap_or(usual);
    match found.limited_by? {
        Limit::Generator => Some(warning(
            "generator_limited",
            format!(
                "sixmark was late or busy in each trial of a rate over {family}, so the server may \
                 sustain more; give sixmark more threads (-t), cores of its own or more machines \
                 (--hosts)"
            ),
        )),
        Limit::Connections | Limit::Unsent => Some(warning(
            "connections_limited",
            format!(
                "all {in_flight} connections were busy at the rate that failed over {family}: a \
                 higher rate may hold with more (-c)"
            ),
        )),
        Limit::Condition | Limit::Failures | Limit::Interrupted | Limit::Undecided => None,
    }
}
