//! Descriptions of a search for the highest rate.

use crate::condition::Condition;
use crate::find::{FindMax, Limit, Trial};
use crate::pace::RequestRate;
use sixmark_units::family::Family;

use sixmark_units::quantity::write_count;

/// Describes how much was measured in a search, and how long it took.
pub fn write_amount_of_search(found: &FindMax) -> String {
    let took = found.took_s.map_or(String::new(), |s| format!(" in {s:.1} s"));
    let (trials, sent) = (write_count(found.trials()), write_count(found.sent()));
    format!("{trials} trials of {} s{took}, {sent} requests", found.trial_s)
}

/// Describes one trial on a line.
pub fn trial(family: Family, trial: &Trial, conditions: &[Condition]) -> String {
    let rate = write_rate(trial.rate);
    match trial.reason {
        None => format!("{family}  {rate} held ({})", why_not_held(conditions, trial)),
        Some(_) => format!("{family}  {rate} did not hold ({})", why_not_held(conditions, trial)),
    }
}

/// Describes why a trial held or did not.
pub(super) fn why_not_held(conditions: &[Condition], trial: &Trial) -> String {
    let requests = &trial.requests;
    let places = trial.in_flight.map_or("places".to_owned(), write_count);
    match trial.reason {
        None => values(conditions, trial, true),
        Some(Limit::Condition) => values(conditions, trial, false),
        Some(Limit::Failures) if requests.completed == 0 => "no answer".to_owned(),
        Some(Limit::Failures) => {
            let accepted = requests.completed.saturating_sub(requests.unaccepted);
            let failed = write_count(requests.sent.saturating_sub(accepted));
            format!("{failed} of {} failed", write_count(requests.sent))
        }
        Some(Limit::Connections) => format!("all {places} in flight: raise -c"),
        Some(Limit::Unsent) => {
            let left = write_count(requests.unsent + requests.dropped);
            format!("{left} never began, all {places} in flight: raise -c")
        }
        Some(Limit::Generator) => "sixmark itself was late or busy".to_owned(),
        Some(Limit::Interrupted) => "interrupted".to_owned(),
    }
}

/// Returns the values of those conditions that were met if `held`, else of those that were not, as
/// in `response.p99 12.3 ms`.
fn values(conditions: &[Condition], trial: &Trial, held: bool) -> String {
    let shown = conditions.iter().zip(&trial.values);
    let shown = shown.filter(|(condition, value)| condition.admits(**value) == held);
    let shown = shown.map(|(condition, value)| {
        let value = value.map_or("not measured".to_owned(), |value| condition.show(value));
        format!("{} {value}", condition.figure())
    });
    shown.collect::<Vec<_>>().join(", ")
}

fn write_rate(per_s: f64) -> String {
    RequestRate::new(per_s).map_or(String::new(), |rate| rate.to_string())
}
