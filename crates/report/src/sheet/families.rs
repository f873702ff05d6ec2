//! The conclusions of a run or a watch about its families, as sentences.

use sixmark_document::timing::Summary;
use sixmark_document::verdict::{Estimate, Verdict};
use sixmark_tally::metric::Metric;

use super::side::Sides;
use sixmark_sheet::{SheetHeadline, write};

/// The note for figures that the generator may have limited.
pub const SATURATED: &str =
    "The generator was saturated: figures may be sixmark’s limit, not the server’s.";

/// The largest relative difference between medians that may be chance. In each of 120 runs with
/// equal families the medians were closer than this (docs/statistics.md, "Families that share a
/// run").
const EQUAL_WITHIN: f64 = 0.05;

/// The note for a run over both families whose medians are as close as those of equal families. No
/// statistics can distinguish a chance effect that lasts as long as the run from a difference
/// between the families.
const MAY_BE_CHANCE: &str = "Medians up to 5 % apart within one run may be chance. For a verdict, \
                             use `sixmark compare`.";

/// The note for a run whose medians differ more.
const UNKNOWN_CAUSE: &str = "One run does not separate the family from what else differed in it, \
                             such as the server’s worker or the order of connections. For a \
                             verdict, use `sixmark compare`.";

/// The command for a verdict, as notes name it.
pub(super) const FOR_A_VERDICT: &str = "`sixmark compare`";

/// Returns the note on the limits of a run over both families, given their median response times in
/// microseconds.
pub(super) fn caution(a_us: f64, b_us: f64) -> &'static str {
    let apart = (a_us / b_us).ln().abs();
    if apart <= EQUAL_WITHIN.ln_1p() { MAY_BE_CHANCE } else { UNKNOWN_CAUSE }
}

/// Returns the headline of a run: the medians, the failures, and a note that they are
/// not a verdict.
pub fn of_families(sides: &Sides<'_>, mut notes: Vec<String>) -> SheetHeadline {
    let p50 = |summary: &Summary| summary.p50.map(write::write_time);
    let medians: Vec<_> = sides.all.iter().map(|s| p50(&s.figures.response_us)).collect();
    let sentence = match (sides.all.as_slice(), medians.as_slice()) {
        ([a, b], [Some(of_a), Some(of_b)]) => {
            let p50 = |summary: &Summary| summary.p50.unwrap_or(f64::NAN);
            let [a_us, b_us] = [a, b].map(|side| p50(&side.figures.response_us));
            notes.push(caution(a_us, b_us).to_owned());
            let failed = describe_failed(sides);
            format!(
                "Median response time: {of_a} over {}, {of_b} over {}; {failed}.",
                a.name, b.name
            )
        }
        _ => alone(sides, &medians),
    };
    SheetHeadline { sentence, notes, ..SheetHeadline::default() }
}

/// Returns a sentence for each side, for use if not both sides have a median.
fn alone(sides: &Sides<'_>, medians: &[Option<String>]) -> String {
    let of = |(side, median): (&super::side::Side<'_>, &Option<String>)| match median {
        Some(text) => {
            let failed = describe_failed(&Sides::one(side));
            format!("Median response time over {}: {text}; {failed}.", side.name)
        }
        None => format!("No complete response over {}.", side.name),
    };
    sides.all.iter().zip(medians).map(of).collect::<Vec<_>>().join(" ")
}

/// Returns `no request failed`, or the share of requests that failed for each side.
fn describe_failed(sides: &Sides<'_>) -> String {
    let shares = || sides.all.iter().map(|side| side.figures.failed_share().unwrap_or(0.0));
    if shares().all(|share| share == 0.0) {
        return "no request failed".to_owned();
    }
    let said = |(side, share): (&super::side::Side<'_>, f64)| {
        if share == 0.0 {
            format!("none over {}", side.name)
        } else {
            format!("{} over {}", write::write_percent(share), side.name)
        }
    };
    let said: Vec<String> = sides.all.iter().zip(shares()).map(said).collect();
    match sides.all.len() {
        1 => format!("{} of requests failed", said[0].split(" over").next().unwrap_or_default()),
        _ => format!("requests failed: {}", said.join(", ")),
    }
}

/// Returns the headline for sides that give different responses.
pub fn unlike(said: &str, others: Vec<String>) -> SheetHeadline {
    let mut notes =
        vec!["The sides give different responses, so their speeds are not comparable.".into()];
    notes.extend(others);
    SheetHeadline {
        verdict: Some(Verdict::NotComparable),
        sentence: format!("{said}."),
        notes,
        failed: Vec::new(),
    }
}

/// Converts a ratio to a change: 1.02 to 0.02.
pub fn change_of(ratio: Estimate) -> Estimate {
    let Estimate { value, low, high } = ratio;
    Estimate { value: value - 1.0, low: low - 1.0, high: high - 1.0 }
}

/// Returns the name of a metric at the start of a row, with the phase first.
pub fn short(metric: Metric) -> String {
    match metric {
        Metric::Time(phase, at) => {
            format!("{} {}", phase.noun(), at.title().replace(' ', "\u{a0}"))
        }
        other => other.noun(),
    }
}
