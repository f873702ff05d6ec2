//! How blocks become pairs.

use sixmark_core::comparison::Kind;
use sixmark_core::pace::Random;

use crate::noise::Noise;

/// Which side of a pair comes first, or both at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Design {
    /// ABBA, BAAB, and again.
    Abba,
    /// Drawn for each pair.
    Random,
    /// Both at once, each with noise of its own.
    Mixed,
}

impl Design {
    /// What the judge is told.
    pub(crate) fn kind(self) -> Kind {
        if self == Design::Mixed { Kind::Mixed } else { Kind::Isolated }
    }

    /// The noise of side A and side B in each of `n` pairs.
    pub(crate) fn pairs(
        self,
        noise: Noise,
        n: usize,
        spread: f64,
        random: &mut Random,
    ) -> Vec<(f64, f64)> {
        if self == Design::Mixed {
            let mut series = || noise.series(n, spread, random);
            return series().into_iter().zip(series()).collect();
        }
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
