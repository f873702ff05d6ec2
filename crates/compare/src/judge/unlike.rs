//! Sides that do not give the same responses: their speeds are not compared.

use crate::{Compared, Comparison};
use sixmark_document::verdict::Verdict;

/// Removes verdicts and estimates of all metrics of speed if the sides are not the same, because
/// there is no meaningful ratio between them. Failures are compared all the same.
pub(super) fn unlike(mut comparison: Comparison) -> Comparison {
    let Some(said) = comparison.not_same().map(str::to_owned) else { return comparison };
    for compared in comparison.metrics.iter_mut().filter(|of| of.metric.is_of_speed()) {
        *compared = Compared { reason: Some(said.clone()), ..compared.not_comparable() };
    }
    comparison
}

impl Compared {
    /// Returns the metric with its figures, without an estimate and a reason: it is not comparable.
    pub(super) fn not_comparable(&self) -> Compared {
        Compared {
            ratio: None,
            difference: None,
            p: None,
            p_holm: None,
            p_equivalence: None,
            equivalence: None,
            effects: Vec::new(),
            autocorrelation: None,
            header_corrected: None,
            verdict: Verdict::NotComparable,
            cause: None,
            reason: None,
            ..self.clone()
        }
    }
}
