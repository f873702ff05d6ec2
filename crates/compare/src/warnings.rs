//! Warnings about comparisons.

use crate::judge::{ComparisonDoubt, doubt_before_comparison, doubts_of_comparison};
use crate::{Comparison, Settings};
use sixmark_document::provenance::Warning;
use sixmark_units::quantity::duration_us;

use sixmark_document::provenance::warning;

/// Warns that a signal ended a comparison.
pub fn cut_short(pairs: usize, of: u32) -> Warning {
    let message =
        format!("interrupted: {pairs} of {of} pairs of blocks were measured and compared");
    warning("interrupted", message)
}

/// Warns that blocks are longer than requested: the responses of the side called `name` take
/// `response_s` on average.
pub fn blocks_lengthened(
    name: &str,
    response_s: f64,
    [requested_s, longer_s]: [f64; 2],
) -> Warning {
    let [response, requested, longer] =
        [response_s, requested_s, longer_s].map(|seconds| duration_us(seconds * 1e6));
    let message = format!(
        "blocks last {longer}, not {requested}: a response over {name} takes {response} on average, \
         so that few exchanges would begin in a block"
    );
    warning("blocks_lengthened", message)
}

/// Warns before the measurement that so few pairs of blocks cannot decide every metric.
pub fn too_few_blocks(pairs: usize, settings: &Settings) -> Option<Warning> {
    doubt_before_comparison(pairs, settings).map(warn_of_doubt)
}

/// Returns the warnings about a comparison.
pub fn of_comparison(comparison: &Comparison) -> Vec<Warning> {
    doubts_of_comparison(comparison).into_iter().map(warn_of_doubt).collect()
}

fn warn_of_doubt(doubt: ComparisonDoubt) -> Warning {
    let line = doubt.to_string();
    match doubt {
        ComparisonDoubt::TooFewBlocks { .. } => warning("too_few_blocks", line),
        ComparisonDoubt::Autocorrelated(_) => warning("autocorrelated_blocks", line),
        ComparisonDoubt::BelowNoiseFloor(_) => warning("below_noise_floor", line),
    }
}
