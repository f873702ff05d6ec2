//! How far apart two equal sides were, measured: nothing smaller is believed.

use super::alpha;
use crate::comparison::{Compared, Comparison, Settings, Verdict};

/// Notes the noise floor of each metric, the end of its interval in `noise` (a comparison of side A
/// with itself) that is further from equality, and takes back what was said of effects below it.
#[must_use]
pub fn with_noise(mut comparison: Comparison, noise: &Comparison) -> Comparison {
    for compared in &mut comparison.metrics {
        let same = noise.metrics.iter().find(|other| other.metric == compared.metric);
        compared.noise_floor = same.and_then(floor);
        doubt(compared);
    }
    comparison
}

/// True where a difference was shown that a side may have from itself.
pub(super) fn taken_back(compared: &Compared, settings: &Settings) -> bool {
    let shown = compared.p_holm.is_some_and(|p| p <= alpha(settings));
    shown && compared.verdict == Verdict::Inconclusive && below(compared)
}

/// As a share: of 0.97 to 1.01 it is 0.031, what 0.97 is below 1 as the ratio the other way round.
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
