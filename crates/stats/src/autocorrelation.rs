//! Autocorrelation: whether each block resembles the one before it.

use super::{Refused, check_values};

/// Returns the lag-1 autocorrelation, from -1 to 1 (Box, Jenkins: Time Series Analysis, 2.1.5, with
/// the mean of all values in both places). It is 0 if all values are equal.
///
/// # Errors
/// Fewer than three values, or a value that is not finite.
pub fn lag1(values: &[f64]) -> Result<f64, Refused> {
    check_values(values)?;
    if values.len() < 3 {
        return Err(Refused::TooFew { have: values.len(), need: 3 });
    }
    // Scale the values first, so that no square overflows.
    let largest = values.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
    let scaled: Vec<f64> =
        values.iter().map(|value| value / largest.max(f64::MIN_POSITIVE)).collect();
    let mean = scaled.iter().sum::<f64>() / scaled.len() as f64;
    let around: Vec<f64> = scaled.iter().map(|value| value - mean).collect();
    let all: f64 = around.iter().map(|value| value * value).sum();
    let products: f64 = around.windows(2).map(|two| two[0] * two[1]).sum();
    // Equal values differ by rounding errors at most, which must not be mistaken for a pattern.
    let rounding = scaled.len() as f64 * f64::EPSILON;
    Ok(if all <= rounding * rounding { 0.0 } else { products / all })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn computes_the_lag_1_autocorrelation() {
        // By hand: mean 3, squares 10, products 4 + 0 + 0 + 2 - ... = (-2)(-1)+(-1)(0)+0(1)+1(2) = 4.
        assert!((lag1(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap() - 0.4).abs() < 1e-15);
        let turns: Vec<f64> = (0..100).map(|i| f64::from(i % 2)).collect();
        assert!((lag1(&turns).unwrap() + 0.99).abs() < 1e-12);
    }

    #[test]
    fn equal_values_have_zero_autocorrelation() {
        for value in [0.0, 0.1, 1e300, -1e-300] {
            assert_eq!(lag1(&[value; 7]), Ok(0.0), "{value}");
        }
    }

    #[test]
    fn the_largest_and_smallest_values_do_not_overflow() {
        for scale in [f64::MAX, f64::MIN_POSITIVE] {
            let found = lag1(&[scale, -scale, scale, -scale]).unwrap();
            assert!((found + 0.75).abs() < 1e-12, "{scale}: {found}");
        }
    }

    #[test]
    fn rejects_empty_short_and_non_finite_series() {
        assert_eq!(lag1(&[]), Err(Refused::Empty));
        assert_eq!(lag1(&[1.0, 2.0]), Err(Refused::TooFew { have: 2, need: 3 }));
        assert_eq!(lag1(&[1.0, f64::NAN, 2.0]), Err(Refused::NotFinite));
    }
}
