//! The order of the blocks of two sides, which become pairs.

use sixmark_units::random::Random;

use crate::noise::Noise;

/// Which side of a pair comes first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Design {
    /// ABBA, then BAAB, repeated.
    Abba,
    /// Drawn at random for each pair.
    Random,
}

impl Design {
    /// Returns the noise of side A and of side B in each of `n` pairs.
    pub(crate) fn pairs(
        self,
        noise: Noise,
        n: usize,
        spread: f64,
        random: &mut Random,
    ) -> Vec<(f64, f64)> {
        let series = noise.series(2 * n, spread, random);
        let pairs = series.chunks_exact(2).enumerate();
        pairs.map(|(pair, two)| self.ordered(pair, two[0], two[1], random)).collect()
    }

    fn ordered(self, pair: usize, first: f64, second: f64, random: &mut Random) -> (f64, f64) {
        let a_first = match self {
            Design::Random => random.below(2) == 0,
            _ => matches!(pair % 4, 0 | 3),
        };
        if a_first { (first, second) } else { (second, first) }
    }
}
