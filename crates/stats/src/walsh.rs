//! The centre of a distribution that is symmetric and otherwise unknown.
//!
//! Walsh averages are the means of all pairs of values, including each value paired with itself.
//! There are n(n+1)/2 of them. The functions count those below a bound instead of computing all, so
//! they need memory for n values only.

use super::wilcoxon::lower_critical;
use super::{Interval, Refused, check_values};

/// Returns Hodges and Lehmann's estimate: the median of the Walsh averages (Hodges, Lehmann:
/// Estimates of location based on rank tests, 1963; Hollander, Wolfe: Nonparametric Statistical
/// Methods, 3.2).
///
/// # Errors
/// No value, or a value that is not finite.
pub fn hodges_lehmann(values: &[f64]) -> Result<f64, Refused> {
    let walsh = Walsh::new(values)?;
    let middle = walsh.count().div_ceil(2);
    let upper = walsh.count() / 2 + 1;
    Ok(mean(walsh.smallest(middle), walsh.smallest(upper)))
}

/// Returns the interval of centres that Wilcoxon's signed-rank test does not reject (Tukey 1949, in
/// Hollander, Wolfe, 3.3): from the c-th smallest Walsh average to the c-th largest. It contains
/// the centre of symmetry with at least the given confidence, whatever the distribution of the
/// values.
///
/// # Errors
/// Too few values for that confidence (95 % needs six); no value; a value that is not finite.
pub fn walsh_interval(values: &[f64], confidence: f64) -> Result<Interval, Refused> {
    let walsh = Walsh::new(values)?;
    let c = lower_critical(values.len(), confidence)?;
    Ok(Interval { low: walsh.smallest(c), high: walsh.smallest(walsh.count() + 1 - c) })
}

struct Walsh {
    sorted: Vec<f64>,
}

impl Walsh {
    fn new(values: &[f64]) -> Result<Walsh, Refused> {
        check_values(values)?;
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        Ok(Walsh { sorted })
    }

    fn count(&self) -> u64 {
        let n = self.sorted.len() as u64;
        n * (n + 1) / 2
    }

    /// Returns the k-th smallest average, counted from 1: the smallest number that at least k
    /// averages do not exceed. Bisection of the bit patterns between the extremes finds it exactly,
    /// in 64 steps.
    fn smallest(&self, k: u64) -> f64 {
        let mut low = key(self.sorted[0]);
        let mut high = key(self.sorted[self.sorted.len() - 1]);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.up_to(value_of_key(middle)) >= k {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        value_of_key(low)
    }

    /// Returns how many averages do not exceed `bound`. As one value of a pair grows, its largest
    /// partner shrinks.
    fn up_to(&self, bound: f64) -> u64 {
        let mut partners = self.sorted.len();
        let mut count = 0;
        for (i, &value) in self.sorted.iter().enumerate() {
            while partners > i && mean(value, self.sorted[partners - 1]) > bound {
                partners -= 1;
            }
            count += partners.saturating_sub(i) as u64;
        }
        count
    }
}

/// Returns the mean without overflow of the sum or underflow of the halves.
fn mean(a: f64, b: f64) -> f64 {
    a.midpoint(b)
}

/// Maps a finite value to an integer such that the order is kept; -0 precedes 0.
fn key(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

fn value_of_key(key: u64) -> f64 {
    f64::from_bits(if key >> 63 == 1 { key & !(1 << 63) } else { !key })
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixmark_units::random::Random;

    fn made(values: &[f64]) -> Vec<f64> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let all = (0..sorted.len()).flat_map(|i| (i..sorted.len()).map(move |j| (i, j)));
        let mut walsh: Vec<f64> = all.map(|(i, j)| mean(sorted[i], sorted[j])).collect();
        walsh.sort_by(f64::total_cmp);
        walsh
    }

    #[test]
    fn counting_walsh_averages_matches_sorting_them() {
        let mut random = Random::new(1, 0);
        for n in 1..40 {
            let values: Vec<f64> =
                (0..n).map(|_| (random.exponential() * 8.0).floor() - 6.0).collect();
            let (walsh, sorted) = (Walsh::new(&values).unwrap(), made(&values));
            for (k, expected) in sorted.iter().enumerate() {
                assert_eq!(walsh.smallest(k as u64 + 1), *expected, "{values:?} {k}");
            }
        }
    }

    /// Hamilton's scores of nine patients, X - Y of Hollander and Wolfe's Y - X: table 3.1 and
    /// examples 3.3 and 3.4.
    #[test]
    fn matches_the_depression_scores_of_hollander_and_wolfe() {
        let scores = [-0.952, 0.147, -1.022, -0.430, -0.620, -0.590, -0.490, 0.080, -0.010];
        assert!((hodges_lehmann(&scores).unwrap() + 0.46).abs() < 5e-4);
        let interval = walsh_interval(&scores, 0.96).unwrap();
        assert!((interval.low + 0.786).abs() < 5e-4, "{interval:?}");
        assert!((interval.high + 0.010).abs() < 5e-4, "{interval:?}");
    }

    #[test]
    fn an_interval_needs_six_values_and_is_then_their_range() {
        let six = [3.0, 1.0, 4.0, 1.5, 9.0, 2.6];
        assert_eq!(walsh_interval(&six, 0.95), Ok(Interval { low: 1.0, high: 9.0 }));
        let refused = Err(Refused::TooFew { have: 5, need: 6 });
        assert_eq!(walsh_interval(&six[..5], 0.95), refused);
    }

    #[test]
    fn handles_extreme_values_and_rejects_invalid_input() {
        assert_eq!(hodges_lehmann(&[f64::MAX, f64::MAX, f64::MAX]), Ok(f64::MAX));
        assert_eq!(hodges_lehmann(&[f64::MAX, -f64::MAX]), Ok(0.0));
        assert_eq!(hodges_lehmann(&[5e-324]), Ok(5e-324));
        assert_eq!(hodges_lehmann(&[]), Err(Refused::Empty));
        assert_eq!(hodges_lehmann(&[1.0, f64::INFINITY]), Err(Refused::NotFinite));
        assert_eq!(walsh_interval(&[1.0; 8], f64::NAN), Err(Refused::NoShare));
    }

    #[test]
    fn handles_a_hundred_thousand_values() {
        let values: Vec<f64> = (0..100_001).map(|i| f64::from(i * 7919 % 100_001)).collect();
        assert_eq!(hodges_lehmann(&values), Ok(50_000.0));
        let interval = walsh_interval(&values, 0.95).unwrap();
        assert!(interval.low < 50_000.0 && interval.low > 49_000.0, "{interval:?}");
    }
}
