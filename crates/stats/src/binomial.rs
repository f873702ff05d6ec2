//! Binomial and hypergeometric probabilities, accurate to about twelve digits for counts of any
//! size.
//!
//! Differences of logarithms of factorials would lose all digits: ln(10^9!) is 2 * 10^10. Loader's
//! method (Fast and Accurate Computation of Binomial Probabilities, 2000) uses only the remainder
//! of Stirling's formula and a deviance.

use super::special::{ln_gamma, stirling_rest};

/// Returns the probability of drawing exactly `x` marked items in `n` draws from `r` marked and `b`
/// other items.
pub(super) fn hypergeometric(x: f64, r: f64, b: f64, n: f64) -> f64 {
    if n == 0.0 || r == 0.0 || b == 0.0 {
        return 1.0;
    }
    let p = n / (r + b);
    let q = (r + b - n) / (r + b);
    ln_ratio(x, r, b, n, p, q).exp()
}

fn ln_ratio(x: f64, r: f64, b: f64, n: f64, p: f64, q: f64) -> f64 {
    ln_binomial(x, r, p, q) + ln_binomial(n - x, b, p, q) - ln_binomial(n, r + b, p, q)
}

/// Returns the logarithm of the probability of `x` successes in `n` trials of probability `p`; `q`
/// is 1 - p without its rounding error.
fn ln_binomial(x: f64, n: f64, p: f64, q: f64) -> f64 {
    if x == 0.0 || n - x == 0.0 {
        return if x == 0.0 { ln_none(n, p, q) } else { ln_none(n, q, p) };
    }
    let rests = ln_rest(n) - ln_rest(x) - ln_rest(n - x);
    let off = deviance(x, n * p) + deviance(n - x, n * q);
    rests - off + 0.5 * (n / (std::f64::consts::TAU * x * (n - x))).ln()
}

/// Returns n ln(q). It is computed from the smaller of `p` and `q`, because ln(q) of a `q` near 1
/// loses digits.
fn ln_none(n: f64, p: f64, q: f64) -> f64 {
    if n == 0.0 {
        0.0
    } else if p < 0.1 {
        n * (-p).ln_1p()
    } else {
        n * q.ln()
    }
}

/// Returns ln(n!) minus Stirling's formula.
fn ln_rest(n: f64) -> f64 {
    if n >= 15.0 {
        return stirling_rest(n);
    }
    ln_gamma(n + 1.0) - ((n + 0.5) * n.ln() - n + 0.5 * std::f64::consts::TAU.ln())
}

/// Returns x ln(x/m) + m - x. If x is near m, a series is used because the terms would cancel.
fn deviance(x: f64, m: f64) -> f64 {
    let v = (x - m) / (x + m);
    if v.abs() >= 0.1 {
        return x * (x / m).ln() + m - x;
    }
    let mut sum = (x - m) * v;
    let mut term = 2.0 * x * v;
    for j in 1..1000 {
        term *= v * v;
        let more = sum + term / f64::from(2 * j + 1);
        if more == sum {
            break;
        }
        sum = more;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hypergeometric_probabilities_sum_to_one() {
        for (r, b, n) in [(4.0, 4.0, 4.0), (30.0, 70.0, 20.0), (3.0, 1000.0, 500.0)] {
            let chances = (0..=(f64::min(r, n) as u32)).map(f64::from).filter(|x| n - x <= b);
            let sum: f64 = chances.map(|x| hypergeometric(x, r, b, n)).sum();
            assert!((sum - 1.0).abs() < 1e-12, "{r} {b} {n}: {sum}");
        }
    }

    #[test]
    fn hypergeometric_probabilities_match_the_lady_tasting_tea() {
        assert!((hypergeometric(4.0, 4.0, 4.0, 4.0) - 1.0 / 70.0).abs() < 1e-14);
        assert!((hypergeometric(3.0, 4.0, 4.0, 4.0) - 16.0 / 70.0).abs() < 1e-14);
    }
}
