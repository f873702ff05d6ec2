//! Poisson variates: how many arrivals a load has.

use sixmark_units::random::Random;

/// Returns a Poisson variate of this mean, which is 0 or above: the transformed rejection method
/// of Hormann (The Transformed Rejection Method for Generating Poisson Random Variables, 1993,
/// algorithm PTRS), below a mean of 10 the number of exponential variates before their sum
/// exceeds the mean.
pub(super) fn draw_poisson(random: &mut Random, mean: f64) -> u64 {
    if mean <= 0.0 {
        return 0;
    }
    if mean < 10.0 {
        let (mut count, mut sum) = (0, random.exponential());
        while sum < mean {
            count += 1;
            sum += random.exponential();
        }
        return count;
    }
    let b = 0.931 + 2.53 * mean.sqrt();
    let a = -0.059 + 0.02483 * b;
    let inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
    let at_once = 0.9277 - 3.6224 / (b - 2.0);
    loop {
        let (u, v) = (random.unit() - 0.5, 1.0 - random.unit());
        let us = 0.5 - u.abs();
        let k = ((2.0 * a / us + b) * u + mean + 0.43).floor();
        if us >= 0.07 && v <= at_once {
            return k as u64;
        }
        if k < 0.0 || (us < 0.013 && v > us) {
            continue;
        }
        let density = k * mean.ln() - mean - ln_factorial(k);
        if (v * inverse_alpha / (a / (us * us) + b)).ln() <= density {
            return k as u64;
        }
    }
}

/// Returns the logarithm of `k` factorial: a sum for small ones, Stirling's series for others.
fn ln_factorial(k: f64) -> f64 {
    if k < 16.0 {
        return (2..=k as u32).map(|factor| f64::from(factor).ln()).sum();
    }
    let ln_root = 0.5 * (2.0 * std::f64::consts::PI * k).ln();
    k * k.ln() - k + ln_root + 1.0 / (12.0 * k) - 1.0 / (360.0 * k.powi(3))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mean and the variance are equal; and of small means, the share of zeros.
    #[test]
    fn poisson_variates_have_the_expected_moments() {
        assert_eq!(draw_poisson(&mut Random::new(0, 0), 0.0), 0);
        for mean in [0.5f64, 3.0, 9.9, 10.0, 12.5, 100.0, 1e4, 1e9] {
            let mut random = Random::new(3, mean as u64);
            let n = 200_000;
            let drawn: Vec<f64> = (0..n).map(|_| draw_poisson(&mut random, mean) as f64).collect();
            let found = drawn.iter().sum::<f64>() / f64::from(n);
            let squares = drawn.iter().map(|x| (x - found).powi(2)).sum::<f64>();
            let variance = squares / f64::from(n - 1);
            let third = drawn.iter().map(|x| (x - found).powi(3)).sum::<f64>() / f64::from(n);
            // Five standard errors.
            let n = f64::from(n);
            assert!((found - mean).abs() < 5.0 * (mean / n).sqrt(), "{mean}: mean {found}");
            let error = mean * ((2.0 + 1.0 / mean) / n).sqrt();
            assert!((variance - mean).abs() < 5.0 * error, "{mean}: variance {variance}");
            // The third moment is the mean too; its error is that of a normal variate or more.
            let error = (6.0 * mean.powi(3) / n).sqrt() * (1.0 + 3.0 / mean);
            assert!((third - mean).abs() < 5.0 * error, "{mean}: third moment {third}");
            let none = drawn.iter().filter(|&&x| x == 0.0).count() as f64 / n;
            let exact = (-mean).exp();
            assert!((none - exact).abs() <= 5.0 * (exact / n).sqrt() + 1e-5, "{mean}: {none}");
        }
    }
}
