//! Sizes of contents: their number, mean and standard deviation.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use crate::tally_part::own_parts;
use sixmark_document::untrusted::{self, is_default};
use sixmark_stats::Moments;

/// Sizes of contents, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sizes {
    #[serde(skip_serializing_if = "is_default")]
    count: u64,
    #[serde(skip_serializing_if = "is_default")]
    sum: u64,
    /// The sum of squares, an integer so that the result does not depend on the order of addition.
    #[serde(skip_serializing_if = "is_default", with = "untrusted::digits")]
    squares: u128,
}

impl Sizes {
    /// Counts a content of `bytes` bytes.
    #[inline]
    pub fn add(&mut self, bytes: u64) {
        self.count += 1;
        self.sum = self.sum.saturating_add(bytes);
        self.squares = self.squares.saturating_add(u128::from(bytes) * u128::from(bytes));
    }

    /// Returns what was counted since these sizes were `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Sizes) -> Sizes {
        Sizes {
            count: self.count.saturating_sub(earlier.count),
            sum: self.sum.saturating_sub(earlier.sum),
            squares: self.squares.saturating_sub(earlier.squares),
        }
    }

    /// Returns the figures for a document, or `None` if nothing was counted.
    pub fn result(&self) -> Option<SizesResult> {
        let stddev = self.moments().map_or(0.0, |found| found.variance.sqrt());
        Some(SizesResult { count: self.count, mean: self.mean()?, stddev })
    }

    /// Returns the number of sizes counted.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the mean, or `None` if nothing was counted.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// Returns the mean and the variance, or `None` if fewer than two sizes were counted.
    pub fn moments(&self) -> Option<Moments> {
        let mean = self.mean().filter(|_| self.count > 1)?;
        // n times the sum of squares minus the square of the sum. Both are exact, so that equal
        // sizes have a variance of 0.
        let (n, sum) = (u128::from(self.count), u128::from(self.sum));
        let apart = n.checked_mul(self.squares)?.checked_sub(sum.checked_mul(sum)?)?;
        let n = self.count as f64;
        Some(Moments { count: self.count, mean, variance: apart as f64 / n / (n - 1.0) })
    }
}

/// Sizes of contents in a document, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SizesResult {
    /// The number of contents.
    pub count: u64,
    /// The mean size.
    pub mean: f64,
    /// The standard deviation of the sizes.
    pub stddev: f64,
}

impl SizesResult {
    /// Converts the figures back to sums that can be added and tested, as exactly as the document
    /// states them.
    pub fn sizes(&self) -> Sizes {
        let sum = (self.mean * self.count as f64).round() as u64;
        let n = u128::from(self.count.max(1));
        let apart = self.stddev * self.stddev * (self.count as f64 - 1.0).max(0.0);
        // Rounded up, because the variance would otherwise be negative and thus undefined.
        let squares = (u128::from(sum) * u128::from(sum)).div_ceil(n) + apart.round() as u128;
        Sizes { count: self.count, sum, squares }
    }
}

impl AddAssign<&Sizes> for Sizes {
    fn add_assign(&mut self, other: &Sizes) {
        self.count = self.count.saturating_add(other.count);
        self.sum = self.sum.saturating_add(other.sum);
        self.squares = self.squares.saturating_add(other.squares);
    }
}

own_parts!([] Sizes);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn computes_mean_and_variance_of_sizes() {
        let mut sizes = Sizes::default();
        assert_eq!((sizes.mean(), sizes.moments()), (None, None));
        [4, 8].iter().for_each(|&bytes| sizes.add(bytes));
        let found = sizes.moments().unwrap();
        assert_eq!((found.count, found.mean, found.variance), (2, 6.0, 8.0));
        let mut same = Sizes::default();
        (0..1_000).for_each(|_| same.add((1 << 40) + 1));
        assert_eq!(same.moments().unwrap().variance, 0.0);
        assert_eq!(same.result().unwrap().sizes(), same);
        let again = sizes.result().unwrap().sizes().moments().unwrap();
        assert!((again.variance - 8.0).abs() < 1e-9, "{again:?}");
    }
}
