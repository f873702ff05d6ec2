//! Estimates with Student's distribution: how probable is it that the true value is above or below
//! a bound?

use super::{Interval, Moments, Refused, check_share, check_values, t_quantile, t_upper_tail};

/// An estimate whose error has Student's distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StudentEstimate {
    /// The estimated value.
    pub value: f64,
    /// The standard error of the value, 0 if the values on which it is based do not vary.
    pub error: f64,
    /// The degrees of freedom.
    pub freedom: f64,
}

impl StudentEstimate {
    /// Estimates the mean of values (Student: The probable error of a mean, Biometrika 1908, 6: 1).
    ///
    /// # Errors
    /// Fewer than two values, or a value that is not finite.
    pub fn of_mean(values: &[f64]) -> Result<StudentEstimate, Refused> {
        let Moments { count, mean, variance } = Moments::of(values)?;
        let n = count as f64;
        Ok(StudentEstimate { value: mean, error: (variance / n).sqrt(), freedom: n - 1.0 })
    }

    /// Estimates the slope of the least-squares line through points (x, y) (Draper and Smith:
    /// Applied regression analysis, 3rd edition 1998, 1.4). The errors of the points are taken to
    /// be independent.
    ///
    /// # Errors
    /// Fewer than three points, a point that is not finite, or points with one x only.
    pub fn of_slope(points: &[(f64, f64)]) -> Result<StudentEstimate, Refused> {
        if points.len() < 3 {
            return Err(Refused::TooFew { have: points.len(), need: 3 });
        }
        let freedom = points.len() as f64 - 2.0;
        let (value, spread) = least_squares(points)?;
        let [mean_x, mean_y] = means(points);
        let rest = points.iter().map(|(x, y)| (y - mean_y - value * (x - mean_x)).powi(2));
        let error = (rest.sum::<f64>() / freedom / spread).sqrt();
        Ok(StudentEstimate { value, error, freedom })
    }

    /// Returns the one-sided p-value of the hypothesis that the true value is at most `bound`,
    /// against a greater one.
    pub fn above(self, bound: f64) -> f64 {
        match self.error > 0.0 {
            true => t_upper_tail((self.value - bound) / self.error, self.freedom),
            false if self.value > bound => 0.0,
            false => 1.0,
        }
    }

    /// Returns the one-sided p-value of the hypothesis that the true value is at least `bound`,
    /// against a smaller one.
    pub fn below(self, bound: f64) -> f64 {
        StudentEstimate { value: -self.value, ..self }.above(-bound)
    }

    /// Returns the interval of this confidence.
    ///
    /// # Errors
    /// A confidence that is not between 0 and 1.
    pub fn interval(self, confidence: f64) -> Result<Interval, Refused> {
        check_share(confidence)?;
        let half = t_quantile(0.5 + confidence / 2.0, self.freedom) * self.error;
        Ok(Interval { low: self.value - half, high: self.value + half })
    }
}

/// Returns the slope of the least-squares line through points (x, y).
///
/// # Errors
/// Fewer than two points, a point that is not finite, or points with one x only.
pub fn slope(points: &[(f64, f64)]) -> Result<f64, Refused> {
    least_squares(points).map(|(slope, _)| slope)
}

/// Returns the slope, and the sum of the squared distances of the x from their mean.
fn least_squares(points: &[(f64, f64)]) -> Result<(f64, f64), Refused> {
    check_values(&points.iter().flat_map(|&(x, y)| [x, y]).collect::<Vec<f64>>())?;
    let [mean_x, mean_y] = means(points);
    let spread: f64 = points.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
    if spread == 0.0 {
        return Err(Refused::TooFew { have: 1, need: 2 });
    }
    let product: f64 = points.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    Ok((product / spread, spread))
}

fn means(points: &[(f64, f64)]) -> [f64; 2] {
    let n = points.len() as f64;
    let sum = points.iter().fold((0.0, 0.0), |sum, (x, y)| (sum.0 + x, sum.1 + y));
    [sum.0 / n, sum.1 / n]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Student 1908: t = 3 with 4 degrees of freedom is 0.0399 two-sided.
    #[test]
    fn p_values_and_intervals_follow_students_distribution() {
        let estimate = StudentEstimate { value: 3.0, error: 1.0, freedom: 4.0 };
        assert!((estimate.above(0.0) - 0.019_97).abs() < 1e-5, "{}", estimate.above(0.0));
        assert!((estimate.below(6.0) - 0.019_97).abs() < 1e-5);
        assert!((estimate.above(6.0) - 0.980_03).abs() < 1e-5);
        let Interval { low, high } = estimate.interval(0.95).unwrap();
        assert!((estimate.above(low) - 0.025).abs() < 1e-9);
        assert!((estimate.below(high) - 0.025).abs() < 1e-9);
        let always = StudentEstimate { error: 0.0, ..estimate };
        assert_eq!([always.above(2.9), always.above(3.0), always.below(3.1)], [0.0, 1.0, 0.0]);
    }

    /// Anscombe: Graphs in statistical analysis, The American Statistician 1973, 27: 17, first set:
    /// slope 0.5, standard error 0.118.
    #[test]
    fn estimates_a_slope_with_its_standard_error() {
        let xs = [10.0, 8.0, 13.0, 9.0, 11.0, 14.0, 6.0, 4.0, 12.0, 7.0, 5.0];
        let ys = [8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68];
        let points: Vec<(f64, f64)> = xs.into_iter().zip(ys).collect();
        let found = StudentEstimate::of_slope(&points).unwrap();
        assert!((found.value - 0.500).abs() < 5e-4 && (found.error - 0.118).abs() < 5e-4);
        assert_eq!(found.freedom, 9.0);
        assert_eq!(slope(&points), Ok(found.value));
        let level = [(1.0, 2.0), (1.0, 3.0), (1.0, 4.0)];
        assert_eq!(slope(&level), Err(Refused::TooFew { have: 1, need: 2 }));
        assert_eq!(slope(&[(1.0, f64::NAN), (2.0, 1.0)]), Err(Refused::NotFinite));
    }
}
