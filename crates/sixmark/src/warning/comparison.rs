//! Warnings about comparisons.

use sixmark_model::comparison::Comparison;
use sixmark_model::comparison::judge::{ComparisonDoubt, doubts_of_comparison};
use sixmark_model::provenance::Warning;

use super::warning;

/// Warns that a signal ended a comparison.
pub(crate) fn cut_short(pairs: usize, of: u32) -> Warning {
    let message =
        format!("interrupted: {pairs} of {of} pairs of blocks were measured and compared");
    warning("interrupted", message)
}

/// Returns the warnings about a comparison.
pub(crate) fn of_comparison(comparison: &Comparison) -> Vec<Warning> {
    let told = |doubt: ComparisonDoubt| {
        let line = doubt.to_string();
        match doubt {
            ComparisonDoubt::TooFewBlocks { .. } => warning("too_few_blocks", line),
            ComparisonDoubt::Autocorrelated(_) => warning("autocorrelated_blocks", line),
            ComparisonDoubt::BelowNoiseFloor(_) => warning("below_noise_floor", line),
        }
    };
    doubts_of_comparison(comparison).into_iter().map(told).collect()
}
