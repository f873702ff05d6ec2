//! The sentence that a study has for an answer, with figures in place of the names in braces.

use super::figures::FigureSet;
use super::sides::{mean_of, pair_sides};
use crate::observation::Observation;
use sixmark_design::spec::{ClaimSpec, ClaimTest, SidesTest};
use sixmark_design::study_result::{ClaimAnswer, ClaimEvidence, ExchangeCount};
use sixmark_document::braces::fill;
use sixmark_units::quantity::write_count;

/// Returns the study's sentence for an answer, if it has one.
pub(super) fn say(
    spec: &ClaimSpec,
    measured: &ClaimEvidence,
    seen: &[Observation<'_>],
) -> Option<String> {
    let text = match measured.answer {
        ClaimAnswer::Holds => spec.sentences.confirmed.as_deref(),
        answer if answer.denies() => spec.sentences.refuted.as_deref(),
        _ => None,
    }?;
    match (&spec.test, measured.count) {
        (ClaimTest::Sides(of), _) => say_compared(spec, of, text, seen),
        (_, Some(count)) => Some(say_counted(text, count)),
        _ => Some(text.to_owned()),
    }
}

fn say_compared(
    spec: &ClaimSpec,
    of: &SidesTest,
    text: &str,
    seen: &[Observation<'_>],
) -> Option<String> {
    let pairs = pair_sides(of, &FigureSet::of_observations(seen, spec.measure, spec));
    let mean = |side: fn(&(f64, f64)) -> f64| {
        mean_of(&pairs.iter().map(side).collect::<Vec<f64>>()).map(f64::exp)
    };
    let (a, b) = (mean(|pair| pair.0)?, mean(|pair| pair.1)?);
    let ratio = a / b;
    let figure = |value: f64| match &of.contrast {
        Some(_) => format!("{value:.2}"),
        None => spec.measure.write_value(value),
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

fn say_counted(text: &str, count: ExchangeCount) -> String {
    let value = |name: &str| match name {
        "count" => Some(write_count(count.counted)),
        "sent" => Some(write_count(count.sent)),
        _ => None,
    };
    fill(text, value)
}

/// Formats the distance of a ratio from 1 in percent. The sentence states the direction.
fn write_percent_apart(ratio: f64) -> String {
    match (ratio - 1.0).abs() * 100.0 {
        percent if percent < 9.95 => format!("{percent:.1} %"),
        percent => format!("{} %", write_count(percent.round() as u64)),
    }
}
