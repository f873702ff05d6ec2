//! Blocks that are too short for the responses of a side.

/// A block lasts at least this many times as long as a response takes on average, so that several
/// exchanges of each connection begin and end in it.
pub const RESPONSES_PER_BLOCK: f64 = 4.0;

/// Returns the duration of blocks in seconds, if a block of `block_s` is too short for responses
/// that take `response_s` on average: [`RESPONSES_PER_BLOCK`] times as long, rounded up to one
/// significant digit.
pub fn longer_block(block_s: f64, response_s: f64) -> Option<f64> {
    let least = response_s * RESPONSES_PER_BLOCK;
    if !least.is_finite() || least <= block_s {
        return None;
    }
    let digit = 10_f64.powf(least.log10().floor());
    // Rounding must not raise an exact quotient.
    Some((least / digit - 1e-9).ceil() * digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_lasts_at_least_four_responses() {
        for (block_s, response_s, expected) in [
            (0.3, 0.45, Some(2.0)),
            (0.3, 0.05, None),
            (1.0, 0.25, None),
            (1.0, 0.26, Some(2.0)),
            (1.0, 2.6, Some(20.0)),
            (0.05, 0.02, Some(0.08)),
            (1.0, f64::NAN, None),
            (1.0, f64::INFINITY, None),
        ] {
            let found = longer_block(block_s, response_s);
            let close = |(a, b): (f64, f64)| (a - b).abs() < 1e-9;
            assert!(found.is_some() == expected.is_some(), "{block_s} {response_s} {found:?}");
            assert!(found.zip(expected).is_none_or(close), "{block_s} {response_s} {found:?}");
        }
    }
}
