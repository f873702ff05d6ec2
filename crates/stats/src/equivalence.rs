//! Equivalence by two one-sided tests: is the difference smaller than a margin chosen in advance?

use super::walsh::walsh_interval;
use super::wilcoxon::signed_rank;
use super::{Interval, Refused};

/// The result of a test of equivalence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Equivalence {
    /// The larger p-value of the two tests.
    pub p: f64,
    /// The confidence interval that excludes `alpha` on each side.
    pub interval: Interval,
}

/// Performs Schuirmann's two one-sided tests (J Pharmacokinet Biopharm 1987, 15: 657), with
/// Wilcoxon's signed-rank test at `-margin` and at `margin`, and computes the matching interval of
/// confidence 1 - 2 `alpha`. On logarithms a margin m is ln(1+m) on both sides, so that the result
/// does not depend on which side is called A: for 5 % a ratio of 0.952 is as far away as one of
/// 1.05.
///
/// # Errors
/// Too few values for `alpha`, no value, or a value that is not finite.
pub fn equivalence(values: &[f64], margin: f64, alpha: f64) -> Result<Equivalence, Refused> {
    let interval = walsh_interval(values, 1.0 - 2.0 * alpha)?;
    let moved = |by: f64| values.iter().map(|value| value + by).collect::<Vec<_>>();
    let above = signed_rank(&moved(margin))?.greater;
    let below = signed_rank(&moved(-margin))?.less;
    Ok(Equivalence { p: above.max(below), interval })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_well_within_the_margin_are_equivalent_and_those_at_it_are_not() {
        let near: Vec<f64> = (0..12).map(|i| f64::from(i - 6) / 1000.0).collect();
        let found = equivalence(&near, 0.05, 0.05).unwrap();
        assert!((found.p - 1.0 / 4096.0).abs() < 1e-12, "{found:?}");
        assert!(found.interval.within(-0.05, 0.05));
        let there: Vec<f64> = near.iter().map(|value| value + 0.05).collect();
        assert!(equivalence(&there, 0.05, 0.05).unwrap().p > 0.3);
        let far: Vec<f64> = near.iter().map(|value| value - 0.2).collect();
        assert!(equivalence(&far, 0.05, 0.05).unwrap().p > 0.999);
    }

    #[test]
    fn needs_at_least_five_values_and_valid_parameters() {
        assert!(equivalence(&[0.0; 5], 0.05, 0.05).unwrap().p < 0.05);
        assert_eq!(equivalence(&[0.0; 4], 0.05, 0.05), Err(Refused::TooFew { have: 4, need: 5 }));
        assert_eq!(equivalence(&[0.0; 9], f64::NAN, 0.05), Err(Refused::NotFinite));
        assert_eq!(equivalence(&[0.0; 9], 0.05, 0.5), Err(Refused::NoShare));
    }
}
