//! What a search for the highest rate found, for people.

use std::fmt::Write as _;

use sixmark_model::condition::Condition;
use sixmark_model::find::{FindMax, Found, Limit, Trial};
use sixmark_model::pace::Rate;
use sixmark_units::family::Family;

use sixmark_units::quantity::count;

/// Said where both families have a rate that held and one that did not, and no ratio.
pub(super) const NO_RATIO: &str =
    "IPv6 to IPv4: not told, as the rates were not limited by the server over both";

/// The widest line.
const WIDTH: usize = 80;

/// The brackets of both families, how they compare, and which trials the figures are of.
pub fn summary(found: &FindMax) -> String {
    let mut text = headline(found);
    for (family, of) in found.families.iter() {
        let bracket = bracket(&found.conditions, of);
        let _ = writeln!(text, "{family}  {bracket}");
    }
    if let Some([least, most]) = found.ratio {
        let _ = writeln!(text, "IPv6 to IPv4: {least:.2} to {most:.2}");
    } else if found.has_ratio_of_limits() {
        let _ = writeln!(text, "{NO_RATIO}");
    }
    text + "\n" + &shown(found)
}

/// One trial, on a line.
pub fn trial(family: Family, trial: &Trial, conditions: &[Condition]) -> String {
    let rate = rate(trial.rate);
    match trial.reason {
        None => format!("{family}  {rate} held ({})", why(conditions, trial)),
        Some(_) => format!("{family}  {rate} did not hold ({})", why(conditions, trial)),
    }
}

/// On one line where that fits.
fn headline(found: &FindMax) -> String {
    let conditions: Vec<String> = found.conditions.iter().map(Condition::to_string).collect();
    let begin = format!("highest rate with {},", conditions.join(" and "));
    let end = format!("each family alone, trials of {} s:", found.trial_s);
    let between = if begin.len() + 1 + end.len() <= WIDTH { ' ' } else { '\n' };
    format!("{begin}{between}{end}\n")
}

fn bracket(conditions: &[Condition], of: &Found) -> String {
    let why = || match of.failing() {
        Some(failing) => why(conditions, failing),
        None => String::new(),
    };
    match (of.holds, of.fails) {
        (Some(holds), Some(fails)) => {
            format!("held {}; did not hold {} ({})", rate(holds), rate(fails), why())
        }
        (Some(holds), None) => format!("held {}; no higher rate was decided", rate(holds)),
        (None, Some(fails)) => format!("did not hold even {} ({})", rate(fails), why()),
        (None, None) => "no rate was decided".to_owned(),
    }
}

fn shown(found: &FindMax) -> String {
    let of = |(family, found): (Family, &Found)| {
        found.shown().map(|trial| format!("{family} at {}", rate(trial.rate)))
    };
    let trials: Vec<String> = found.families.iter().filter_map(of).collect();
    match trials.is_empty() {
        true => String::new(),
        false => format!("the figures are of one trial each, {}:\n", trials.join(", ")),
    }
}

fn why(conditions: &[Condition], trial: &Trial) -> String {
    let requests = &trial.requests;
    let places = trial.in_flight.map_or("places".to_owned(), count);
    match trial.reason {
        None => values(conditions, trial, true),
        Some(Limit::Condition) => values(conditions, trial, false),
        Some(Limit::Failures) if requests.completed == 0 => "no answer".to_owned(),
        Some(Limit::Failures) => {
            let accepted = requests.completed.saturating_sub(requests.unaccepted);
            let failed = count(requests.sent.saturating_sub(accepted));
            format!("{failed} of {} failed", count(requests.sent))
        }
        Some(Limit::Connections) => format!("all {places} in flight: raise -c"),
        Some(Limit::Unsent) => {
            let left = count(requests.unsent + requests.dropped);
            format!("{left} never began, all {places} in flight: raise -c")
        }
        Some(Limit::Generator) => "sixmark itself was late or busy".to_owned(),
        Some(Limit::Interrupted) => "interrupted".to_owned(),
    }
}

/// What the conditions looked at that `held`, or did not, as in `response.p99 12.3 ms`.
fn values(conditions: &[Condition], trial: &Trial, held: bool) -> String {
    let shown = conditions.iter().zip(&trial.values);
    let shown = shown.filter(|(condition, value)| condition.admits(**value) == held);
    let shown = shown.map(|(condition, value)| {
        let value = value.map_or("not measured".to_owned(), |value| condition.show(value));
        format!("{} {value}", condition.figure())
    });
    shown.collect::<Vec<_>>().join(", ")
}

fn rate(per_s: f64) -> String {
    Rate::new(per_s).map_or(String::new(), |rate| rate.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixmark_model::family_result::{Families, Requests};
    use sixmark_model::search::Bracket;

    fn made(rate: f64, reason: Option<Limit>, p99_us: f64) -> Trial {
        let requests = Requests { sent: 1_000, completed: 900, unsent: 7, ..Requests::default() };
        let values = vec![Some(p99_us)];
        let held = reason.is_none();
        Trial { rate, in_flight: Some(50), held, reason, values, elapsed_s: 2.0, requests }
    }

    fn found(holds: Option<f64>, fails: Option<f64>, reason: Limit) -> Found {
        let held = holds.map(|rate| made(rate, None, 4_000.0));
        let failed = fails.map(|rate| vec![made(rate, Some(reason), 12_300.0); 3]);
        let trials = held.into_iter().chain(failed.into_iter().flatten()).collect();
        Found::new(Bracket { holds, fails }, trials, Some(0))
    }

    fn of(v6: Found, v4: Found) -> String {
        let conditions = vec!["response.p99 < 10ms".parse().unwrap()];
        let families = Families { ipv6: Some(v6), ipv4: Some(v4) };
        let found = FindMax::new(conditions, 2.0, families);
        summary(&found)
    }

    #[test]
    fn both_brackets_and_their_ratio_are_shown() {
        let text = of(
            found(Some(41_200.0), Some(43_100.0), Limit::Condition),
            found(Some(40_000.0), Some(42_000.0), Limit::Failures),
        );
        let expected = "\
highest rate with response.p99 < 10ms, each family alone, trials of 2 s:
IPv6  held 41,200/s; did not hold 43,100/s (response.p99 12.3 ms)
IPv4  held 40,000/s; did not hold 42,000/s (100 of 1,000 failed)
IPv6 to IPv4: 0.98 to 1.08

the figures are of one trial each, IPv6 at 41,200/s, IPv4 at 40,000/s:
";
        assert_eq!(text, expected);
    }

    #[test]
    fn where_connections_were_the_limit_there_is_no_ratio_and_that_is_said() {
        let text = of(
            found(Some(41_200.0), Some(43_100.0), Limit::Condition),
            found(Some(40_000.0), Some(42_000.0), Limit::Connections),
        );
        assert!(text.contains("did not hold 42,000/s (all 50 in flight: raise -c)"), "{text}");
        assert!(text.contains(NO_RATIO) && !text.contains("0.98"), "{text}");
        assert!(text.lines().all(|line| line.len() <= WIDTH), "{text}");
    }

    #[test]
    fn what_is_not_known_is_said() {
        let text =
            of(found(None, Some(5.0), Limit::Failures), found(Some(100.0), None, Limit::Condition));
        assert!(text.contains("IPv6  did not hold even 5/s (100 of 1,000 failed)"), "{text}");
        assert!(text.contains("IPv4  held 100/s; no higher rate was decided"), "{text}");
        assert!(!text.contains("IPv6 to IPv4"), "{text}");
        let text =
            of(found(None, None, Limit::Condition), found(Some(5.0), Some(6.0), Limit::Generator));
        assert!(text.contains("IPv6  no rate was decided"), "{text}");
        assert!(text.contains("did not hold 6/s (sixmark itself was late or busy)"), "{text}");
    }
}
