//! Statistics over blocks: pure functions from numbers to numbers. Each function names the source
//! of its formula and returns a reason ([`Refused`]) if it cannot answer. docs/statistics.md
//! describes how sixmark uses them.
//!
//! This crate knows no metric, unit or verdict: what a number means, and what follows from it,
//! belongs to `sixmark-compare`, `sixmark-study` and `sixmark-result`. Begin with
//! [`hodges_lehmann`] and [`walsh_interval`], which compare the blocks of two sides, and with
//! [`Pool`], which compares their quantiles.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

mod anytime;
mod autocorrelation;
mod binomial;
mod bootstrap;
mod clustered;
mod equivalence;
mod estimate;
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

pub use anytime::{
    BetOn, Wager, confidence_sequence, fewest_to_exclude, merge_by_averages, peak_evidence,
};
pub use autocorrelation::lag1;
pub use bootstrap::{bca, draws, expanded, percentile};
pub use clustered::{ClusteredShare, design_effect};
pub use equivalence::{Equivalence, equivalence};
pub use estimate::{StudentEstimate, slope};
pub use fisher::fisher;
pub use holm::{WeightedP, holm, weighted_holm};
pub use pooled::{Counted, Drawn, Pool, TAIL_SAMPLES};
pub use proportions::{Count, newcombe, newcombe_beyond, share_above, wilson};
pub use quantile::{harrell_davis, quantile};
pub use special::{incomplete_beta, normal_cdf, normal_quantile, t_quantile, t_upper_tail};
pub use student::{Moments, paired_t, welch};
pub use swaps::{SwapTest, swap_test};
pub use walsh::{hodges_lehmann, walsh_interval};
pub use wilcoxon::{SignedRank, fewest, signed_rank};

/// An interval, given by both ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// Returns whether `value` lies in the interval, ends included.
    pub fn holds(self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// Returns whether the whole interval lies between `low` and `high`, ends included.
    pub fn within(self, low: f64, high: f64) -> bool {
        low <= self.low && self.high <= high
    }
}

/// The reason why there is no result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Refused {
    /// Nothing was measured.
    Empty,
    /// Too little was measured.
    TooFew {
        /// The number of values.
        have: usize,
        /// The smallest sufficient number.
        need: usize,
    },
    /// A value is infinite or not a number.
    NotFinite,
    /// A share, confidence or quantile is not between 0 and 1.
    NoShare,
    /// Too few samples lie beyond the quantile.
    ThinTail {
        /// The number of samples on the side that has fewer.
        have: u64,
        /// The smallest sufficient number.
        need: u64,
    },
    /// A part is larger than its whole.
    NoProportion,
    /// The values did not stay at one level, so that they exclude every level.
    Moved,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Refused::Empty => f.write_str("nothing was measured"),
            Refused::TooFew { have, need } => {
                write!(f, "{have} pairs are too few: {need} are needed")
            }
            Refused::NotFinite => f.write_str("a figure is infinite or not a number"),
            Refused::NoShare => f.write_str("a share is not between 0 and 1"),
            Refused::ThinTail { have, need } => {
                let samples = if have == 1 { "sample lies" } else { "samples lie" };
                write!(f, "only {have} {samples} beyond it on one side: {need} are needed")
            }
            Refused::Moved => f.write_str("the difference changed while it was measured"),
            Refused::NoProportion => f.write_str("a part is larger than its whole"),
        }
    }
}

impl std::error::Error for Refused {}

/// Returns an error if no estimate can be made of these values.
fn check_values(values: &[f64]) -> Result<(), Refused> {
    if values.is_empty() {
        return Err(Refused::Empty);
    }
    if values.iter().all(|value| value.is_finite()) { Ok(()) } else { Err(Refused::NotFinite) }
}

/// Returns an error if `value` is not a valid confidence, significance level or quantile.
fn check_share(value: f64) -> Result<(), Refused> {
    if value > 0.0 && value < 1.0 { Ok(()) } else { Err(Refused::NoShare) }
}
