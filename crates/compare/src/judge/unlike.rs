//! Sides that do not give the same responses: their speeds are not compared.

use crate::{Compared, Comparison};
use sixmark_document::verdict::Verdict;

/// Removes verdicts and estimates of all metrics of speed if the sides are not the same, because
/// there is no meaningful ratio between them. Failures are compared all the same.
pub(super) fn unlike(mut comparison: Comparison) -> Comparison {
    let Some(said) = comparison.not_same().map(str::to_owned) else { return comparison };
    for compared in comparison.metrics.iter_mut().filter(|of| of.metric.is_of_speed()) {
        *compared = Compared {
            ratio: None,
            difference: None,
            p: None,
            p_holm: None,
            p_equivalence: None,
            equivalence: None,
            effects: Vec::new(),
            autocorrelation: None,
            verdict: Verdict::NotComparable,
            cause: None,
            reason: Some(said.clone()),
            ..compared.clone()
        };
    }
    comparison
}
