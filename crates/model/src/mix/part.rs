//! A share of all, evenly spaced.

use crate::plan::tls::Millionths;

/// Draws a share of all, as evenly spaced as can be: after any `k` draws the number of those drawn
/// is at most a half away from `k` times the share.
///
/// The order is fixed, since it can carry no phase from one family to the other: each family has a
/// part of its own, whose turns come in the drawn order of the families.
#[derive(Clone, Copy, Debug)]
pub struct EvenShare {
    share: u32,
    error: u32,
}

impl EvenShare {
    /// Begins.
    pub fn new(share: Millionths) -> EvenShare {
        EvenShare { share: share.millionths(), error: Millionths::WHOLE / 2 }
    }

    /// Whether the next one is of the share.
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
