//! Statistics over blocks: pure functions from figures to figures. Each names its source, and each
//! refuses with a reason what it cannot answer. docs/statistics.md describes what they are used for.
//!
//! What a figure means, and what follows from it, belongs to `sixmark-model`.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

mod autocorrelation;
mod binomial;
mod bootstrap;
mod equivalence;
mod fisher;
mod holm;
mod pooled;
mod proportions;
mod quantile;
#[cfg(test)]
mod reference;
mod special;
mod student;
mod swaps;
mod walsh;
mod wilcoxon;

use std::fmt;

pub use autocorrelation::lag1;
pub use bootstrap::{bca, draws, expanded, percentile};
pub use equivalence::{Equivalence, equivalence};
pub use fisher::fisher;
pub use holm::holm;
pub use pooled::{Counted, Drawn, Pool};
pub use proportions::{Count, newcombe, newcombe_beyond, wilson};
pub use quantile::{harrell_davis, quantile};
pub use special::{incomplete_beta, normal_cdf, normal_quantile, t_quantile};
pub use student::{Moments, paired_t, welch};
pub use swaps::{SwapTest, swap_test};
pub use walsh::{hodges_lehmann, walsh_interval};
pub use wilcoxon::{SignedRank, fewest, signed_rank};

/// Both ends of an interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// True where `value` is neither below nor above.
    pub fn holds(self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// True where all of it lies between `low` and `high`.
    pub fn within(self, low: f64, high: f64) -> bool {
        low <= self.low && self.high <= high
    }
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Refused {
    /// Nothing was measured.
    Empty,
    /// Too little was measured.
    TooFew {
        /// How many values there are.
        have: usize,
        /// How many it takes.
        need: usize,
    },
    /// A value is infinite or no number.
    NotFinite,
    /// What is to be between 0 and 1 is not.
    NoShare,
    /// Fewer samples than it takes lie beyond the quantile.
    ThinTail {
        /// How many there are on the side that has fewer.
        have: u64,
        /// How many it takes.
        need: u64,
    },
    /// A part is larger than its whole.
    NoProportion,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Refused::Empty => f.write_str("nothing was measured"),
            Refused::TooFew { have, need } => {
                write!(f, "{have} pairs are too few: it takes {need}")
            }
            Refused::NotFinite => f.write_str("a figure is infinite or no number"),
            Refused::NoShare => f.write_str("a share is not between 0 and 1"),
            Refused::ThinTail { have, need } => {
                let samples = if have == 1 { "sample lies" } else { "samples lie" };
                write!(f, "only {have} {samples} beyond it on one side: it takes {need}")
            }
            Refused::NoProportion => f.write_str("a part is larger than its whole"),
        }
    }
}

impl std::error::Error for Refused {}

/// Refuses what no estimate can be made of.
fn check_values(values: &[f64]) -> Result<(), Refused> {
    if values.is_empty() {
        return Err(Refused::Empty);
    }
    if values.iter().all(|value| value.is_finite()) { Ok(()) } else { Err(Refused::NotFinite) }
}

/// Refuses what is no confidence, significance or quantile.
fn check_share(value: f64) -> Result<(), Refused> {
    if value > 0.0 && value < 1.0 { Ok(()) } else { Err(Refused::NoShare) }
}
