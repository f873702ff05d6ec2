//! What a run or a watch says of its families, in plain words.

use crate::metric::Metric;
use sixmark_document::timing::Summary;
use sixmark_document::verdict::{Estimate, Verdict};

use super::side::Sides;
use sixmark_sheet::{SheetHeadline, write};

/// Said of figures that the generator may have set.
pub const SATURATED: &str =
    "The generator was saturated: figures may be sixmark’s limit, not the server’s.";

/// In each of 120 runs the medians of equal families were closer than this share
/// (docs/statistics.md, "Families that share a run").
const EQUAL_WITHIN: f64 = 0.05;

/// Said of a run over both families whose medians are as close as those of equal families: no
/// statistics can tell chance that lasts as long as the run from what sets the families apart.
const MAY_BE_CHANCE: &str = "Medians up to 5 % apart within one run may be chance. For a verdict, \
                             use `sixmark compare`.";

/// Said of a run whose medians are further apart.
const UNKNOWN_CAUSE: &str = "One run does not separate the family from what else differed in it, \
                             such as the server’s worker or the order of connections. For a \
                             verdict, use `sixmark compare`.";

/// Said of both families where neither the requests nor the clients were chosen.
const AS_SEEN: &str = "Clients and requests of the two families may differ: these figures are what \
                       was seen, not a comparison.";

/// Returns what a run over both families cannot tell of the difference between their median response
/// times, which are in microseconds.
pub(super) fn caution(a_us: f64, b_us: f64) -> &'static str {
    let apart = (a_us / b_us).ln().abs();
    if apart <= EQUAL_WITHIN.ln_1p() { MAY_BE_CHANCE } else { UNKNOWN_CAUSE }
}

/// What a run or a watch says: the medians, what failed, and that they are no verdict.
pub fn of_families(sides: &Sides<'_>, watched: bool, mut notes: Vec<String>) -> SheetHeadline {
    let p50 = |summary: &Summary| summary.p50.map(write::write_time);
    let medians: Vec<_> = sides.all.iter().map(|s| p50(&s.figures.response_us)).collect();
    let sentence = match (sides.all.as_slice(), medians.as_slice()) {
        ([a, b], [Some(of_a), Some(of_b)]) => {
            let p50 = |summary: &Summary| summary.p50.unwrap_or(f64::NAN);
            let [a_us, b_us] = [a, b].map(|side| p50(&side.figures.response_us));
            notes.push(if watched { AS_SEEN } else { caution(a_us, b_us) }.to_owned());
            let failed = describe_failed(sides);
            format!(
                "Median response time: {of_a} over {}, {of_b} over {}; {failed}.",
                a.name, b.name
            )
        }
        _ => alone(sides, &medians),
    };
    SheetHeadline { verdict: None, sentence, notes }
}

/// What can be said where not both sides have a median.
fn alone(sides: &Sides<'_>, medians: &[Option<String>]) -> String {
    let of = |(side, median): (&super::side::Side<'_>, &Option<String>)| match median {
        Some(text) => {
            let failed = describe_failed(&Sides::one(side));
            format!("Median response time over {}: {text}; {failed}.", side.name)
        }
        None if side.hidden => {
            format!("Exchanges over {} are not visible.", side.name)
        }
        None => format!("No complete response over {}.", side.name),
    };
    sides.all.iter().zip(medians).map(of).collect::<Vec<_>>().join(" ")
}

/// `no request failed`, or the share of requests that failed over each side.
fn describe_failed(sides: &Sides<'_>) -> String {
    let shares = || sides.all.iter().map(|side| side.figures.failed_share().unwrap_or(0.0));
    if shares().all(|share| share == 0.0) {
        return "no request failed".to_owned();
    }
    let said = |(side, share): (&super::side::Side<'_>, f64)| match share == 0.0 {
        true => format!("none over {}", side.name),
        false => format!("{} over {}", write::write_percent(share), side.name),
    };
    let said: Vec<String> = sides.all.iter().zip(shares()).map(said).collect();
    match sides.all.len() {
        1 => format!("{} of requests failed", said[0].split(" over").next().unwrap_or_default()),
        _ => format!("requests failed: {}", said.join(", ")),
    }
}

/// Said of sides that don't give the same.
pub fn unlike(said: &str, others: Vec<String>) -> SheetHeadline {
    let mut notes =
        vec!["The sides give different responses, so their speeds are not comparable.".into()];
    notes.extend(others);
    SheetHeadline { verdict: Some(Verdict::NotComparable), sentence: format!("{said}."), notes }
}

/// A ratio as a change: 1.02 is 0.02.
pub fn change_of(ratio: Estimate) -> Estimate {
    let Estimate { value, low, high } = ratio;
    Estimate { value: value - 1.0, low: low - 1.0, high: high - 1.0 }
}

/// A metric at the head of a row: the phase first.
pub fn short(metric: Metric) -> String {
    match metric {
        Metric::Time(phase, at) => {
            format!("{} {}", phase.noun(), at.title().replace(' ', "\u{a0}"))
        }
        other => other.noun(),
    }
}
