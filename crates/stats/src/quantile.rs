//! Quantiles of values that are given with their counts.

use super::{Refused, check_share, incomplete_beta};

/// Returns the smallest value that a share `q` (0 to 1) of all values does not exceed, as is usual
/// for a histogram with many values. `counted` contains the values in ascending order, with the
/// number of times that each occurs.
///
/// # Errors
/// No value; a value that is not finite; a `q` that is not between 0 and 1.
pub fn quantile(counted: &[(f64, u64)], q: f64) -> Result<f64, Refused> {
    check_share(q)?;
    let wanted = (q * total(counted)? as f64).ceil().max(1.0) as u64;
    let mut reached = 0;
    let at = counted.iter().find(|(_, count)| {
        reached += count;
        reached >= wanted
    });
    at.or(counted.last()).map(|(value, _)| *value).ok_or(Refused::Empty)
}

/// Returns Harrell and Davis's estimate (A new distribution-free quantile estimator, Biometrika
/// 1982, 69: 635): a mean of all values, each weighted by the probability that it is the quantile.
/// With few values it scatters less than any single value. The arguments are those of [`quantile`].
///
/// # Errors
/// The errors of [`quantile`].
pub fn harrell_davis(counted: &[(f64, u64)], q: f64) -> Result<f64, Refused> {
    check_share(q)?;
    let n = total(counted)? as f64;
    let (a, b) = ((n + 1.0) * q, (n + 1.0) * (1.0 - q));
    let mut reached = 0;
    let mut before = 0.0;
    let mut sum = 0.0;
    for &(value, count) in counted {
        reached += count;
        let up_to = incomplete_beta(a, b, reached as f64 / n);
        sum += value * (up_to - before);
        before = up_to;
    }
    Ok(sum)
}

fn total(counted: &[(f64, u64)]) -> Result<u64, Refused> {
    if !counted.iter().all(|(value, _)| value.is_finite()) {
        return Err(Refused::NotFinite);
    }
    let total = counted.iter().fold(0_u64, |sum, (_, count)| sum.saturating_add(*count));
    if total == 0 { Err(Refused::Empty) } else { Ok(total) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harrell_davis_median_of_three_values_is_their_weighted_mean() {
        let three = [(1.0, 1), (2.0, 1), (6.0, 1)];
        // I_x(2, 2) = 3x^2 - 2x^3 has the weights 7/27, 13/27 and 7/27.
        let expected = (7.0 + 26.0 + 42.0) / 27.0;
        assert!((harrell_davis(&three, 0.5).unwrap() - expected).abs() < 1e-12);
        assert_eq!(quantile(&three, 0.5), Ok(2.0));
    }

    #[test]
    fn counted_values_give_the_quantiles_of_repeated_values() {
        let apart: Vec<(f64, u64)> = [3.0, 3.0, 3.0, 7.0, 7.0, 9.0].map(|v| (v, 1)).to_vec();
        let together = [(3.0, 3), (7.0, 2), (9.0, 1)];
        for q in [0.1, 0.5, 0.9, 0.999] {
            let (a, b) = (harrell_davis(&apart, q).unwrap(), harrell_davis(&together, q).unwrap());
            assert!((a - b).abs() < 1e-12, "{q}: {a} {b}");
            assert_eq!(quantile(&apart, q), quantile(&together, q));
        }
    }

    #[test]
    fn both_estimators_agree_for_many_values() {
        let many: Vec<(f64, u64)> = (1..=10_000).map(|v| (f64::from(v), 100)).collect();
        for q in [0.5, 0.9, 0.99, 0.999] {
            let exact = q * 1e4;
            assert_eq!(quantile(&many, q).unwrap(), exact);
            assert!((harrell_davis(&many, q).unwrap() - exact).abs() < 1.0, "{q}");
        }
    }

    #[test]
    fn rejects_empty_and_non_finite_input_and_invalid_shares() {
        for estimate in [quantile, harrell_davis] {
            assert_eq!(estimate(&[], 0.5), Err(Refused::Empty));
            assert_eq!(estimate(&[(1.0, 0)], 0.5), Err(Refused::Empty));
            assert_eq!(estimate(&[(f64::NAN, 1)], 0.5), Err(Refused::NotFinite));
            for q in [0.0, 1.0, -1.0, f64::NAN] {
                assert_eq!(estimate(&[(1.0, 1)], q), Err(Refused::NoShare));
            }
            assert_eq!(estimate(&[(4.5, u64::MAX)], 0.99), Ok(4.5));
        }
    }
}
