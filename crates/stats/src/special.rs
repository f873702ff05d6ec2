//! Special functions from which distributions are computed.

/// The largest number of terms. A series or continued fraction has converged long before, or never
/// will.
const STEPS: u32 = 10_000;

/// Returns the share of the standard normal distribution (mean 0, standard deviation 1) that does
/// not exceed `x`, accurate to about 13 digits in both tails.
pub fn normal_cdf(x: f64) -> f64 {
    if x < 0.0 { upper_normal(-x) } else { 1.0 - upper_normal(x) }
}

/// Returns the `x` that a share `p` (0 to 1) of the standard normal distribution does not exceed.
/// It is infinite if `p` is 0 or 1, and NaN outside this range.
pub fn normal_quantile(p: f64) -> f64 {
    if p > 0.5 { -lower_normal(1.0 - p) } else { lower_normal(p) }
}

/// Returns the same quantile of Student's distribution. `freedom`, the degrees of freedom, need not
/// be an integer.
pub fn t_quantile(p: f64, freedom: f64) -> f64 {
    let below = |t: f64| t_below(t, freedom);
    if p > 0.5 { -lower(1.0 - p, 1e12, 120, below) } else { lower(p, 1e12, 120, below) }
}

/// Returns the share of Student's distribution that exceeds `t` (NIST Digital Library of
/// Mathematical Functions, 8.17). It is NaN if `freedom` is not above 0.
pub fn t_upper_tail(t: f64, freedom: f64) -> f64 {
    if t < 0.0 { 1.0 - t_below(t, freedom) } else { t_below(t, freedom) }
}

/// Returns the regularised incomplete beta function I_x(a, b), computed by its continued fraction
/// (NIST Digital Library of Mathematical Functions, 8.17.22). It is NaN if an argument is out of
/// range.
pub fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if !(a > 0.0 && b > 0.0 && (0.0..=1.0).contains(&x)) {
        return f64::NAN;
    }
    if x == 0.0 || x == 1.0 {
        return x;
    }
    // The fraction converges fast below the mean, and the function is symmetric (8.17.4).
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(b, a, 1.0 - x).min(1.0);
    }
    let ln_front = a * x.ln() + b * (-x).ln_1p() - ln_beta(a, b);
    (ln_front.exp() / a * beta_fraction(a, b, x)).clamp(0.0, 1.0)
}

/// Returns the logarithm of the gamma function of a number above 0, by Stirling's series (NIST,
/// 5.11.1). Smaller arguments are first raised to 15, where the terms of the series are small.
pub(super) fn ln_gamma(x: f64) -> f64 {
    let mut x = x;
    let mut product = 1.0;
    while x < 15.0 {
        product *= x;
        x += 1.0;
    }
    (x - 0.5) * x.ln() - x + 0.5 * std::f64::consts::TAU.ln() + stirling_rest(x) - product.ln()
}

/// Returns the remainder of Stirling's formula for ln gamma, for arguments of at least 15.
pub(super) fn stirling_rest(x: f64) -> f64 {
    const TERMS: [f64; 6] =
        [1.0 / 12.0, -1.0 / 360.0, 1.0 / 1260.0, -1.0 / 1680.0, 1.0 / 1188.0, -691.0 / 360_360.0];
    let square = x * x;
    TERMS.iter().rev().fold(0.0, |sum, term| sum / square + term) / x
}

fn ln_beta(a: f64, b: f64) -> f64 {
    ln_gamma(a) + ln_gamma(b) - ln_gamma(a + b)
}

/// Sums the continued fraction by Lentz's method. Terms of 0, which would end the sum, are replaced
/// by a tiny number.
fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    let kept = |value: f64| if value.abs() < 1e-300 { 1e-300 } else { value };
    let mut over = 1.0;
    let mut under = 1.0 / kept(1.0 - (a + b) * x / (a + 1.0));
    let mut sum = under;
    for m in 1..STEPS {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let before = sum;
        for term in [even, odd] {
            under = 1.0 / kept(1.0 + term * under);
            over = kept(1.0 + term / over);
            sum *= over * under;
        }
        if (sum - before).abs() <= 1e-16 * sum.abs() {
            break;
        }
    }
    sum
}

/// Returns the share of the standard normal distribution above `x`, which is at least 0.
fn upper_normal(x: f64) -> f64 {
    let z = x / std::f64::consts::SQRT_2;
    if z < 2.0 { 0.5 - 0.5 * erf_series(z) } else { 0.5 * erfc_fraction(z) }
}

/// Returns erf by the series 7.1.6 of Abramowitz, Stegun: Handbook of Mathematical Functions. All
/// terms have the same sign.
fn erf_series(z: f64) -> f64 {
    let mut term = z;
    let mut sum = z;
    for n in 1..STEPS {
        term *= 2.0 * z * z / f64::from(2 * n + 1);
        sum += term;
        if term <= 1e-17 * sum {
            break;
        }
    }
    2.0 / std::f64::consts::PI.sqrt() * (-z * z).exp() * sum
}

/// Returns erfc by the continued fraction 7.1.14 of the same handbook, evaluated from the inside
/// out.
fn erfc_fraction(z: f64) -> f64 {
    let inner = (1..=120).rev().fold(z, |below, k| z + f64::from(k) / 2.0 / below);
    (-z * z).exp() / std::f64::consts::PI.sqrt() / inner
}

/// Returns the share of Student's distribution that does not exceed `t`, for a `t` below 0 (NIST,
/// 7.2 and 8.17).
fn t_below(t: f64, freedom: f64) -> f64 {
    0.5 * incomplete_beta(freedom / 2.0, 0.5, freedom / (freedom + t * t))
}

/// Returns the normal quantile of a `p` up to a half. Bisection comes within 0.001; Newton's steps,
/// each of which squares the error, do the rest.
fn lower_normal(p: f64) -> f64 {
    let near = lower(p, 40.0, 16, normal_cdf);
    if !near.is_finite() {
        return near;
    }
    let slope = |x: f64| (-x * x / 2.0).exp() / std::f64::consts::TAU.sqrt();
    (0..4).fold(near, |x, _| {
        let step = (normal_cdf(x) - p) / slope(x);
        if step.is_finite() { x - step } else { x }
    })
}

/// Returns the `x` from -`reach` to 0 at which `cdf` is `p`, for a `p` up to a half, by `times`
/// bisections.
fn lower(p: f64, reach: f64, times: u32, cdf: impl Fn(f64) -> f64) -> f64 {
    if p == 0.0 {
        return f64::NEG_INFINITY;
    }
    if !(p > 0.0 && p <= 0.5) {
        return f64::NAN;
    }
    let (mut low, mut high) = (-reach, 0.0);
    for _ in 0..times {
        let middle = (low + high) / 2.0;
        if cdf(middle) < p { low = middle } else { high = middle }
    }
    (low + high) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64, relative: f64) {
        assert!((found - expected).abs() <= relative * expected.abs(), "{found} is not {expected}");
    }

    /// Abramowitz and Stegun, tables 26.1, 26.2 and 26.10.
    #[test]
    fn matches_the_tables_of_abramowitz_and_stegun() {
        near(normal_cdf(1.0), 0.841_344_746_068_543, 1e-14);
        near(normal_cdf(-2.0), 0.022_750_131_948_179_2, 1e-13);
        near(normal_cdf(-5.0), 2.866_515_718_791_94e-7, 1e-12);
        near(normal_quantile(0.975), 1.959_963_984_540_054, 1e-13);
        near(normal_quantile(0.05), -1.644_853_626_951_472, 1e-13);
        for (freedom, printed) in [(1.0, 12.706), (5.0, 2.571), (11.0, 2.201), (120.0, 1.980)] {
            near(t_quantile(0.975, freedom), printed, 3e-4);
        }
        near(ln_gamma(1.5), -0.120_782_237_635_245, 1e-13);
        near(ln_gamma(101.0), 363.739_375_555_563_5, 1e-14);
    }

    #[test]
    fn the_incomplete_beta_function_is_a_sum_of_binomials() {
        for (a, b, x) in [(3, 5, 0.3), (1, 1, 0.7), (12, 2, 0.9), (40, 40, 0.45)] {
            let n = a + b - 1;
            let choose = |k: u32| (0..k).fold(1.0, |c, i| c * f64::from(n - i) / f64::from(i + 1));
            let term =
                |k: u32| choose(k) * f64::powi(x, k as i32) * f64::powi(1.0 - x, (n - k) as i32);
            let sum: f64 = (a..=n).map(term).sum();
            near(incomplete_beta(f64::from(a), f64::from(b), x), sum, 1e-12);
        }
    }

    #[test]
    fn handles_limits_and_arguments_outside_the_domain() {
        assert_eq!((normal_cdf(f64::NEG_INFINITY), normal_cdf(f64::INFINITY)), (0.0, 1.0));
        assert_eq!(
            (normal_quantile(0.0), normal_quantile(1.0)),
            (f64::NEG_INFINITY, f64::INFINITY)
        );
        assert!(normal_quantile(f64::NAN).is_nan() && normal_quantile(-0.1).is_nan());
        assert!(normal_cdf(f64::NAN).is_nan());
        assert_eq!((incomplete_beta(2.0, 3.0, 0.0), incomplete_beta(2.0, 3.0, 1.0)), (0.0, 1.0));
        assert!(incomplete_beta(0.0, 1.0, 0.5).is_nan() && incomplete_beta(1.0, 1.0, 1.5).is_nan());
        near(incomplete_beta(5e8, 5e8, 0.5), 0.5, 1e-4);
    }

    /// From the tables of any textbook: 95 % and 99 %, two-sided, and 95 %, one-sided.
    #[test]
    fn students_quantiles_match_the_tables() {
        for (freedom, p975, p995, p95) in [
            (1.0, 12.7062, 63.6567, 6.3138),
            (2.0, 4.3027, 9.9248, 2.9200),
            (3.0, 3.1824, 5.8409, 2.3534),
            (5.0, 2.5706, 4.0321, 2.0150),
            (9.0, 2.2622, 3.2498, 1.8331),
            (15.0, 2.1314, 2.9467, 1.7531),
            (30.0, 2.0423, 2.7500, 1.6973),
            (120.0, 1.9799, 2.6174, 1.6577),
            (100_000.0, 1.9600, 2.5759, 1.6449),
        ] {
            for (p, expected) in [(0.975, p975), (0.995, p995), (0.95, p95)] {
                let found = t_quantile(p, freedom);
                assert!((found - expected).abs() < 1e-4, "{freedom} {p}: {found}");
                assert!((t_quantile(1.0 - p, freedom) + found).abs() < 1e-7);
            }
        }
    }
}
