//! An evenly spaced share of all draws.

use crate::plan::tls::Millionths;

/// Selects a share of all draws, as evenly spaced as possible: after any `k` draws the number of
/// those selected differs from `k` times the share by at most a half.
///
/// The order may be fixed, because it cannot carry a phase from one family to the other: each
/// family has its own selection, and its turns come in the random order of the families.
#[derive(Clone, Copy, Debug)]
pub struct EvenShare {
    share: u32,
    error: u32,
}

impl EvenShare {
    /// Creates a selection of `share`.
    pub fn new(share: Millionths) -> EvenShare {
        EvenShare { share: share.millionths(), error: Millionths::WHOLE / 2 }
    }

    /// Returns whether the next draw is selected.
    pub fn draw(&mut self) -> bool {
        self.error += self.share;
        let drawn = self.error >= Millionths::WHOLE;
        self.error -= if drawn { Millionths::WHOLE } else { 0 };
        drawn
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_within_a_half_of_its_share_at_any_time() {
        for share in [0.0, 0.000_001, 0.2, 0.5, 0.8, 0.999_999, 1.0] {
            let (mut part, mut drawn) =
                (EvenShare::new(Millionths::try_from(share).unwrap()), 0u32);
            for k in 1..=5_000u32 {
                drawn += u32::from(part.draw());
                let off = f64::from(drawn) - f64::from(k) * share;
                assert!(off.abs() <= 0.5 + 1e-9, "{share}: {drawn} of {k}");
            }
        }
    }
}
