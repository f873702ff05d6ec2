//! Descriptions of a search for the highest rate.

use sixmark_plan::pace::RequestRate;
use sixmark_result::condition::Condition;
use sixmark_result::find::{FindMax, Limit, Trial};
use sixmark_units::family::Family;

use sixmark_sheet::chart::rounded;
use sixmark_units::quantity::write_count;

/// Describes how much was measured in a search, and how long it took.
pub fn write_amount_of_search(found: &FindMax) -> String {
    let took = found.took_s.map_or(String::new(), |s| format!(" in {s:.1} s"));
    let (trials, sent) = (write_count(found.trials()), write_count(found.sent()));
    format!("{trials} trials of {}{took}, {sent} requests", write_lengths(found))
}

/// Describes how long the trials of a search are, as in `2 to 16 s`.
pub(super) fn write_lengths(found: &FindMax) -> String {
    let trials = found.families.iter().flat_map(|(_, found)| &found.trials);
    let longest = trials.filter_map(|trial| trial.length_s).fold(found.trial_s, f64::max);
    if longest > found.trial_s {
        format!("{} to {} s", found.trial_s, rounded(longest))
    } else {
        format!("{} s", found.trial_s)
    }
}

/// Describes one trial on a line.
pub fn trial(family: Family, trial: &Trial, conditions: &[Condition]) -> String {
    let (rate, result) = (write_rate(trial.rate), trial.result());
    let length = trial.length_s.map_or(String::new(), |s| format!(" for {} s", rounded(s)));
    format!("{family}  {rate}{length} {result} ({})", why_not_held(conditions, trial))
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
        Some(Limit::Undecided) => undecided(conditions, trial),
        Some(Limit::Interrupted) => "by a signal".to_owned(),
    }
}

/// Describes a trial that showed neither: its values, whatever side of the limit they are on.
fn undecided(conditions: &[Condition], trial: &Trial) -> String {
    let both = [true, false].map(|held| values(conditions, trial, held));
    let requests = &trial.requests;
    let accepted = requests.completed.saturating_sub(requests.unaccepted);
    let failed = requests.sent.saturating_sub(accepted);
    let counted = format!("{} of {} failed", write_count(failed), write_count(requests.sent));
    let failures = Some(counted).filter(|_| failed > 0);
    let said = both.into_iter().chain(failures).filter(|text| !text.is_empty());
    said.collect::<Vec<_>>().join(", ")
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
