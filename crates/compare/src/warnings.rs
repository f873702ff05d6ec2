//! Warnings about comparisons.

use crate::judge::{
    ComparisonDoubt, DelaysApart, delays_apart, doubt_before_comparison, doubts_of_comparison,
};
use crate::{Comparison, Settings};
use sixmark_document::provenance::Warning;
use sixmark_tally::family_result::FamilyResult;
use sixmark_tally::timed_phase::TimePoint;
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

/// Warns that this machine's own delay in the median waits of the sides differs by more than
/// `margin`, a share of the shorter wait: it alone could look like a difference of the sides.
pub fn warn_of_delays(sides: [(&str, &FamilyResult); 2], margin: f64) -> Option<Warning> {
    let [(a, _), (b, _)] = sides;
    let apart = delays_apart(sides.map(|(_, of)| of), TimePoint::P50, margin)?;
    let DelaysApart { us: [delay_a, delay_b] } = apart;
    let message = format!(
        "this machine's delay in the median wait is {} for {a} and {} for {b}: {} apart, more than \
         the margin of {:.1} %; differences of wait and response may be this machine's",
        duration_us(delay_a),
        duration_us(delay_b),
        duration_us((delay_a - delay_b).abs()),
        margin * 100.0
    );
    Some(warning("delays_apart", message))
}

fn warn_of_doubt(doubt: ComparisonDoubt) -> Warning {
    let line = doubt.to_string();
    match doubt {
        ComparisonDoubt::TooFewBlocks { .. } => warning("too_few_blocks", line),
        ComparisonDoubt::Autocorrelated(_) => warning("autocorrelated_blocks", line),
        ComparisonDoubt::BelowNoiseFloor(_) => warning("below_noise_floor", line),
    }
}

#[cfg(test)]
mod tests {
    use sixmark_tally::counted::family_result;
    use sixmark_tally::tally::FamilyTally;

    use super::*;

    /// A side whose median wait is `wait` us, of which `late` us are this machine's.
    fn side([wait, late]: [u64; 2]) -> FamilyResult {
        let mut tally = FamilyTally::default();
        for _ in 0..100 {
            tally.phases.wait.record(wait * 1_000);
            tally.wait_sample.record(wait * 1_000, late * 1_000);
        }
        family_result(&tally, Vec::new(), 1.0, false)
    }

    fn said(a: [u64; 2], b: [u64; 2]) -> Option<String> {
        let [a, b] = [a, b].map(side);
        warn_of_delays([("A", &a), ("B", &b)], 0.05).map(|warning| warning.message)
    }

    #[test]
    fn warns_of_delays_that_differ_by_more_than_the_margin() {
        let told = said([620, 230], [420, 30]).unwrap();
        assert!(told.contains("is 230 us for A and 30.0 us for B: 200 us apart"), "{told}");
        assert!(told.contains("margin of 5.0 %"), "{told}");
    }

    #[test]
    fn does_not_warn_of_equal_or_small_delays() {
        assert_eq!(said([620, 230], [620, 225]), None);
        assert_eq!(said([20, 5], [16, 1]), None);
        let tally = FamilyTally::default();
        let none = family_result(&tally, Vec::new(), 1.0, false);
        assert_eq!(warn_of_delays([("A", &none), ("B", &side([620, 230]))], 0.05), None);
    }
}
