//! Student's and Welch's tests: does a mean differ from 0, and do two means differ?

use super::{Refused, check_values, incomplete_beta};

/// The moments of one side's values: count, mean and variance (with the divisor n - 1).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moments {
    /// The number of values.
    pub count: u64,
    /// The mean of the values.
    pub mean: f64,
    /// The variance of the values.
    pub variance: f64,
}

impl Moments {
    /// Computes the moments of these values.
    ///
    /// # Errors
    /// Fewer than two values, or a value that is not finite.
    pub fn of(values: &[f64]) -> Result<Moments, Refused> {
        check_values(values)?;
        if values.len() < 2 {
            return Err(Refused::TooFew { have: values.len(), need: 2 });
        }
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n - 1.0);
        Ok(Moments { count: values.len() as u64, mean, variance })
    }
}

/// Returns the two-sided p-value of the hypothesis that the mean of `differences` is 0 (Student:
/// The probable error of a mean, Biometrika 1908, 6: 1). It is 0 if all differences are equal but
/// not 0.
///
/// # Errors
/// Fewer than two values, or a value that is not finite.
pub fn paired_t(differences: &[f64]) -> Result<f64, Refused> {
    let found = Moments::of(differences)?;
    let n = found.count as f64;
    Ok(two_sided(found.mean, found.variance / n, n - 1.0))
}

/// Returns the two-sided p-value of the hypothesis that both means are equal; the variances of the
/// sides may differ (Welch: The generalization of Student's problem, Biometrika 1947, 34: 28).
///
/// # Errors
/// Fewer than two values on a side.
pub fn welch(a: Moments, b: Moments) -> Result<f64, Refused> {
    let have = a.count.min(b.count);
    if have < 2 {
        return Err(Refused::TooFew { have: have as usize, need: 2 });
    }
    let [of_a, of_b] = [a, b].map(|side| side.variance / side.count as f64);
    let sum = of_a + of_b;
    let part = |of: f64, side: Moments| of * of / (side.count as f64 - 1.0);
    let freedom = if sum > 0.0 { sum * sum / (part(of_a, a) + part(of_b, b)) } else { 1.0 };
    Ok(two_sided(a.mean - b.mean, sum, freedom))
}

/// Returns the two-sided p-value of a difference `apart` whose estimate has this variance.
fn two_sided(apart: f64, variance: f64, freedom: f64) -> f64 {
    if apart == 0.0 {
        return 1.0;
    }
    // The sum of both tails of the distribution (NIST Digital Library of Mathematical Functions,
    // 8.17).
    incomplete_beta(freedom / 2.0, 0.5, freedom / (freedom + apart * apart / variance))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Student 1908, section IX: additional hours of sleep of ten patients. The p-values of both
    /// tests are those of R's t.test.
    #[test]
    fn paired_and_welch_tests_match_students_sleep_data() {
        let one = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
        let two = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];
        let apart: Vec<f64> = one.iter().zip(&two).map(|(a, b)| a - b).collect();
        assert!((paired_t(&apart).unwrap() - 0.002833).abs() < 1e-6);
        let p = welch(Moments::of(&one).unwrap(), Moments::of(&two).unwrap()).unwrap();
        assert!((p - 0.07939).abs() < 1e-5, "{p}");
    }

    #[test]
    fn values_without_variance_give_a_p_of_zero_or_one() {
        assert_eq!(paired_t(&[3.0; 4]), Ok(0.0));
        assert_eq!(paired_t(&[0.0; 4]), Ok(1.0));
        let always = |mean| Moments { count: 9, mean, variance: 0.0 };
        assert_eq!(welch(always(1.0), always(2.0)), Ok(0.0));
        assert_eq!(welch(always(2.0), always(2.0)), Ok(1.0));
        assert_eq!(paired_t(&[1.0]), Err(Refused::TooFew { have: 1, need: 2 }));
        assert_eq!(paired_t(&[1.0, f64::NAN]), Err(Refused::NotFinite));
    }
}
