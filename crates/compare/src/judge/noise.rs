//! The noise floor: the measured difference between two equal sides. Smaller differences are not
//! reported.

use crate::undecided::UndecidedCause;
use crate::{Compared, Comparison, Settings};
use sixmark_document::verdict::Verdict;

/// Sets the noise floor of each metric, and withdraws verdicts on effects below it. The noise floor
/// is the end of the metric's interval in `noise` (a comparison of side A with itself) that is
/// further from equality.
#[must_use]
pub fn with_noise(mut comparison: Comparison, noise: &Comparison) -> Comparison {
    for compared in &mut comparison.metrics {
        let same = noise.metrics.iter().find(|other| other.metric == compared.metric);
        compared.noise_floor = same.and_then(floor);
        doubt(compared);
    }
    comparison
}

/// Returns true if a significant difference was withdrawn because a side differed as much from
/// itself.
pub(super) fn taken_back(compared: &Compared, settings: &Settings) -> bool {
    let shown = compared.p_holm.is_some_and(|p| p <= settings.level_of_difference());
    shown && compared.verdict == Verdict::Inconclusive && below(compared)
}

/// Returns the noise floor as a share. An interval from 0.97 to 1.01 gives 0.031: 0.97 is the ratio
/// 1.031 inverted.
fn floor(noise: &Compared) -> Option<f64> {
    match (noise.ratio, noise.difference) {
        (Some(ratio), _) => Some(ratio.low.ln().abs().max(ratio.high.ln().abs()).exp_m1()),
        (None, Some(difference)) => Some(difference.low.abs().max(difference.high.abs())),
        (None, None) => None,
    }
}

fn doubt(compared: &mut Compared) {
    let different = matches!(compared.verdict, Verdict::Better | Verdict::Worse);
    if different && below(compared) {
        let floor = compared.noise_floor.unwrap_or(0.0) * 100.0;
        compared.verdict = Verdict::Inconclusive;
        compared.cause = Some(UndecidedCause::NoiseFloor);
        compared.reason =
            Some(format!("a side differed from itself by up to {floor:.3} % (the noise floor)"));
    }
}

fn below(compared: &Compared) -> bool {
    compared.noise_floor.zip(effect(compared)).is_some_and(|(floor, effect)| effect < floor)
}

fn effect(compared: &Compared) -> Option<f64> {
    let ratio = compared.ratio.map(|ratio| ratio.value.ln().abs().exp_m1());
    ratio.or(compared.difference.map(|difference| difference.value.abs()))
}
