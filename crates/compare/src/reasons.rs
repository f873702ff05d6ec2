//! The reasons why metrics have no verdict.

use crate::Comparison;
use sixmark_tally::metric::Metric;

/// Returns each distinct reason of metrics without a cause, with the metrics that have it; both in
/// the order of the metrics.
pub(super) fn reasons(comparison: &Comparison) -> Vec<(&str, Vec<Metric>)> {
    let mut all: Vec<(&str, Vec<Metric>)> = Vec::new();
    for compared in comparison.metrics.iter().filter(|compared| compared.cause.is_none()) {
        let Some(reason) = compared.reason.as_deref() else { continue };
        match all.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, metrics)) => metrics.push(compared.metric),
            None => all.push((reason, vec![compared.metric])),
        }
    }
    all
}
