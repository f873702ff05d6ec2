//! Student's tests: is a mean other than 0, are two means apart?

use super::{Refused, check_values, incomplete_beta};

/// Values of one side: how many, their mean, and their variance (over one less than there are).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moments {
    /// How many there are.
    pub count: u64,
    /// Their mean.
    pub mean: f64,
    /// Their variance.
    pub variance: f64,
}

impl Moments {
    /// Of these values.
    ///
    /// # Errors
    /// Fewer than two values, or one that is not finite.
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

/// The two-sided p of a mean of `differences` as far from 0, were it 0 (Student: The probable error of
/// a mean, Biometrika 1908, 6: 1). Differences that are all the same, and not 0, have none.
///
/// # Errors
/// Fewer than two values, or one that is not finite.
pub fn paired_t(differences: &[f64]) -> Result<f64, Refused> {
    let found = Moments::of(differences)?;
    let n = found.count as f64;
    Ok(two_sided(found.mean, found.variance / n, n - 1.0))
}

/// The two-sided p of means as far apart, were they one, the sides having variances of their own
/// (Welch: The generalization of Student's problem, Biometrika 1947, 34: 28).
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

/// Of `apart`, whose estimate has this variance.
fn two_sided(apart: f64, variance: f64, freedom: f64) -> f64 {
    if apart == 0.0 {
        return 1.0;
    }
    // Both tails of the distribution (NIST Digital Library of Mathematical Functions, 8.17).
    incomplete_beta(freedom / 2.0, 0.5, freedom / (freedom + apart * apart / variance))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Student 1908, section IX: ten patients' additional hours of sleep; p and Welch's p by R's t.test.
    #[test]
    fn students_hours_of_sleep() {
        let one = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
        let two = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];
        let apart: Vec<f64> = one.iter().zip(&two).map(|(a, b)| a - b).collect();
        assert!((paired_t(&apart).unwrap() - 0.002833).abs() < 1e-6);
        let p = welch(Moments::of(&one).unwrap(), Moments::of(&two).unwrap()).unwrap();
        assert!((p - 0.07939).abs() < 1e-5, "{p}");
    }

    #[test]
    fn what_never_varies_is_certain() {
        assert_eq!(paired_t(&[3.0; 4]), Ok(0.0));
        assert_eq!(paired_t(&[0.0; 4]), Ok(1.0));
        let always = |mean| Moments { count: 9, mean, variance: 0.0 };
        assert_eq!(welch(always(1.0), always(2.0)), Ok(0.0));
        assert_eq!(welch(always(2.0), always(2.0)), Ok(1.0));
        assert_eq!(paired_t(&[1.0]), Err(Refused::TooFew { have: 1, need: 2 }));
        assert_eq!(paired_t(&[1.0, f64::NAN]), Err(Refused::NotFinite));
    }
}
