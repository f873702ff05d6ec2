//! A share of all draws, evenly spaced or at random.

use crate::plan::tls::Millionths;
use sixmark_units::random::Random;

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

/// Selects a share of all draws.
#[derive(Clone, Debug)]
pub enum ShareTurns {
    /// Evenly spaced.
    Even(EvenShare),
    /// Each independently: for Poisson arrivals, of which every part is to be a Poisson process.
    Drawn(Millionths, Random),
}

impl ShareTurns {
    /// Returns whether the next draw is selected.
    pub fn draw(&mut self) -> bool {
        match self {
            ShareTurns::Even(even) => even.draw(),
            ShareTurns::Drawn(share, random) => {
                random.below(Millionths::WHOLE.into()) < share.millionths().into()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_turns_match_the_share_and_are_independent() {
        for share in [0.0, 0.2, 0.5, 1.0] {
            let random = Random::new(5, 5);
            let mut turns = ShareTurns::Drawn(Millionths::try_from(share).unwrap(), random);
            let all: Vec<bool> = (0..40_000).map(|_| turns.draw()).collect();
            let found = all.iter().filter(|&&drawn| drawn).count() as f64 / 40_000.0;
            let error = (share * (1.0 - share) / 40_000.0).sqrt();
            assert!((found - share).abs() <= 5.0 * error, "{share}: {found}");
            let twice = all.windows(2).filter(|pair| pair[0] && pair[1]).count() as f64 / 39_999.0;
            assert!((twice - share * share).abs() <= 8.0 * error, "{share}: {twice}");
        }
    }

    #[test]
    fn even_share_stays_within_half_a_draw_of_the_exact_share() {
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
