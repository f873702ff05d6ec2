//! The sentence that a study has for a finding, with figures in place of the names in braces.

use super::super::average::geometric;
use crate::spec::FindingSpec;
use crate::study_result::{ExchangeCount, FindingVerdict};
use sixmark_document::braces::fill;
use sixmark_units::quantity::write_count;

/// Returns the sentence for a verdict, if the study has one.
fn sentence_of(spec: &FindingSpec, verdict: FindingVerdict) -> Option<&str> {
    match verdict {
        FindingVerdict::BorneOut => spec.sentences.confirmed.as_deref(),
        FindingVerdict::NotBorneOut => spec.sentences.refuted.as_deref(),
        FindingVerdict::CannotTell | FindingVerdict::NotComparable => None,
    }
}

/// Returns the sentence of a claim that compares two sides. `pairs` has their figures, one pair for
/// each repetition.
pub(super) fn say_compared(
    spec: &FindingSpec,
    verdict: FindingVerdict,
    pairs: &[(f64, f64)],
) -> Option<String> {
    let text = sentence_of(spec, verdict)?;
    let of_side = |side: fn(&(f64, f64)) -> f64| {
        let figures: Vec<(f64, f64)> = pairs.iter().map(|pair| (side(pair), 1.0)).collect();
        geometric(&figures).map(|mean| mean.value)
    };
    let (a, b) = (of_side(|pair| pair.0)?, of_side(|pair| pair.1)?);
    let ratio = a / b;
    let figure = |value: f64| match spec.of_families {
        true => format!("{value:.2}"),
        false => spec.measure.write_value(value),
    };
    let value = |name: &str| {
        Some(match name {
            "a" => figure(a),
            "b" => figure(b),
            "difference" => figure((a - b).abs()),
            "ratio" => format!("{ratio:.2}"),
            "percent" => write_percent_apart(ratio),
            _ => return None,
        })
    };
    Some(fill(text, value))
}

/// Returns the sentence of a claim about all or none of the exchanges.
pub(super) fn say_counted(
    spec: &FindingSpec,
    verdict: FindingVerdict,
    count: ExchangeCount,
) -> Option<String> {
    let value = |name: &str| match name {
        "count" => Some(write_count(count.counted)),
        "sent" => Some(write_count(count.sent)),
        _ => None,
    };
    sentence_of(spec, verdict).map(|text| fill(text, value))
}

/// Formats the distance of a ratio from 1 in percent. The sentence states the direction.
fn write_percent_apart(ratio: f64) -> String {
    match (ratio - 1.0).abs() * 100.0 {
        percent if percent < 9.95 => format!("{percent:.1} %"),
        percent => format!("{} %", write_count(percent.round() as u64)),
    }
}
