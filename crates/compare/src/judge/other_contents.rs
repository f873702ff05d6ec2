//! Contents of different requests: their sizes are the requests', so that goodput says nothing about
//! the sides.

use crate::{Compared, Comparison};
use sixmark_document::verdict::Verdict;
use sixmark_result::sameness::sizes_matter;
use sixmark_tally::metric::{Metric, Quantity};
use sixmark_units::family::spoken;
use sixmark_units::quantity::write_count;

/// Withdraws the verdict on goodput if the sides were sent different requests and the mean sizes of
/// their contents, in bytes, differ by as much as would matter between the same requests. The other
/// verdicts remain: Holm's correction for one test more is only stricter.
#[must_use]
pub fn with_other_contents(mut comparison: Comparison, [a, b]: [f64; 2]) -> Comparison {
    if !sizes_matter(a, b, comparison.settings.margin) {
        return comparison;
    }
    let bytes = |mean: f64| write_count(mean.round() as u64);
    let (of_a, of_b) = (spoken(&comparison.a), spoken(&comparison.b));
    let reason = format!(
        "the requests differ, and {of_a} sends {} bytes per response, {of_b} {}",
        bytes(a),
        bytes(b)
    );
    let goodput = Metric::Quantity(Quantity::Goodput);
    for compared in comparison.metrics.iter_mut().filter(|of| of.metric == goodput) {
        if compared.verdict != Verdict::NotComparable {
            *compared = Compared { reason: Some(reason.clone()), ..compared.not_comparable() };
        }
    }
    comparison
}
