//! Whether the precondition of a claim occurred in the measured figures.

use sixmark_tally::metric::MetricKind;

use super::figures::FigureSet;
use crate::observation::Observation;
use sixmark_design::spec::{ClaimSpec, Precondition};
use sixmark_design::study_result::ClaimPrecondition;

/// Returns the precondition of a claim with its measured value.
pub(super) fn measure_precondition(
    spec: &ClaimSpec,
    seen: &[Observation<'_>],
) -> Option<ClaimPrecondition> {
    let of = spec.precondition.as_ref()?;
    // The client's cells show it, whatever answers the claim.
    let by_client = ClaimSpec { by_packets: false, ..spec.clone() };
    let set = FigureSet::of_observations(seen, of.measure, &by_client);
    let value = value_of(of, &set.values(&of.a));
    Some(ClaimPrecondition { value, ..describe_unmeasured(of) })
}

/// Returns a precondition of which nothing was measured.
pub(super) fn describe_unmeasured(of: &Precondition) -> ClaimPrecondition {
    ClaimPrecondition {
        text: of.text.clone(),
        measure: of.measure,
        at_least: of.at_least,
        at_most: of.at_most,
        value: None,
    }
}

/// Returns the sum of a count, or the mean of another measure; `None` without figures.
fn value_of(of: &Precondition, values: &[f64]) -> Option<f64> {
    let sum: f64 = values.iter().sum();
    (!values.is_empty()).then_some(match of.measure.kind() {
        MetricKind::Count => sum,
        _ => sum / values.len() as f64,
    })
}

/// Returns why a claim can't be tested for want of its precondition, in a clause; `None` if it
/// occurred, or if the claim has none.
pub(super) fn why_absent(spec: &ClaimSpec, seen: &[Observation<'_>]) -> Option<String> {
    let ClaimPrecondition { text, measure, at_least, at_most, value } =
        measure_precondition(spec, seen)?;
    let Some(value) = value else { return Some(format!("precondition was not measured: {text}")) };
    let is_met =
        at_least.is_none_or(|least| value >= least) && at_most.is_none_or(|most| value <= most);
    let written = measure.write_value(value);
    (!is_met).then(|| format!("precondition did not occur: {text} ({written})"))
}
