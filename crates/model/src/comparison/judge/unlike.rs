//! Sides that don't give the same: before speed comes sameness.

use crate::comparison::{Compared, Comparison, Verdict};

/// Takes back all that was said of speed where the sides are not the same, estimates included: what
/// is not the same has no ratio. How often they fail is compared all the same.
pub(super) fn unlike(mut comparison: Comparison) -> Comparison {
    let Some(said) = comparison.not_same().map(str::to_owned) else { return comparison };
    for compared in comparison.metrics.iter_mut().filter(|of| of.metric.is_of_speed()) {
        *compared = Compared {
            ratio: None,
            difference: None,
            p: None,
            p_holm: None,
            p_equivalence: None,
            effects: Vec::new(),
            autocorrelation: None,
            verdict: Verdict::NotComparable,
            reason: Some(said.clone()),
            ..compared.clone()
        };
    }
    comparison
}
