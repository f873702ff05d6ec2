//! Student's t distribution: what intervals of means need.

/// The quantile of Student's t with `df` degrees of freedom: the value that a share `p` (0 to 1,
/// both exclusive) lies below. None of no degree of freedom, and of shares out of bounds.
pub fn quantile(p: f64, df: u32) -> Option<f64> {
    if df == 0 || !(p > 0.0 && p < 1.0) {
        return None;
    }
    if p < 0.5 {
        return quantile(1.0 - p, df).map(|t| -t);
    }
    // The distribution function rises: halve until the ends are next to each other.
    let (mut low, mut high) = (0.0, 1.0);
    while below(high, df) < p && high < f64::MAX / 2.0 {
        high *= 2.0;
    }
    for _ in 0..200 {
        let middle = low + (high - low) / 2.0;
        if below(middle, df) < p {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(low + (high - low) / 2.0)
}

/// The share of Student's t with `df` degrees of freedom that lies below `t`, which is not negative.
fn below(t: f64, df: u32) -> f64 {
    let n = f64::from(df);
    1.0 - 0.5 * incomplete_beta(n / 2.0, 0.5, n / (n + t * t))
}

/// The regularised incomplete beta function, by Lentz's continued fraction (Press et al., Numerical
/// Recipes, 6.4).
fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    let front =
        (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (1.0 - x).ln()).exp();
    // The fraction converges fast on one side of the mean alone; the other is its mirror image.
    match x < (a + 1.0) / (a + b + 2.0) {
        true => front * fraction(a, b, x) / a,
        false => 1.0 - front * fraction(b, a, 1.0 - x) / b,
    }
}

fn fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let kept = |value: f64| if value.abs() < TINY { TINY } else { value };
    let (mut c, mut d) = (1.0, 1.0 / kept(1.0 - (a + b) * x / (a + 1.0)));
    let mut value = d;
    for m in 1..500 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for step in [even, odd] {
            d = 1.0 / kept(1.0 + step * d);
            c = kept(1.0 + step / c);
            change = c * d;
            value *= change;
        }
        if (change - 1.0).abs() < 1e-15 {
            break;
        }
    }
    value
}

/// The logarithm of the gamma function of a positive number (Lanczos, g = 7, nine terms).
fn ln_gamma(x: f64) -> f64 {
    const TERMS: [f64; 8] = [
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    let x = x - 1.0;
    let term = |(at, term): (usize, &f64)| term / (x + at as f64 + 1.0);
    let sum = 0.999_999_999_999_809_9 + TERMS.iter().enumerate().map(term).sum::<f64>();
    let t = x + 7.5;
    0.5 * (2.0 * std::f64::consts::PI).ln() + (x + 0.5) * t.ln() - t + sum.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Any textbook's table: 95 % and 99 %, two-sided, and 95 %, one-sided.
    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (df, p975, p995, p95) in [
            (1, 12.7062, 63.6567, 6.3138),
            (2, 4.3027, 9.9248, 2.9200),
            (3, 3.1824, 5.8409, 2.3534),
            (5, 2.5706, 4.0321, 2.0150),
            (9, 2.2622, 3.2498, 1.8331),
            (15, 2.1314, 2.9467, 1.7531),
            (30, 2.0423, 2.7500, 1.6973),
            (120, 1.9799, 2.6174, 1.6577),
            (100_000, 1.9600, 2.5759, 1.6449),
        ] {
            for (p, expected) in [(0.975, p975), (0.995, p995), (0.95, p95)] {
                let found = quantile(p, df).unwrap();
                assert!((found - expected).abs() < 1e-4, "{df} {p}: {found}");
                assert!((quantile(1.0 - p, df).unwrap() + found).abs() < 1e-7);
            }
        }
        assert!(quantile(0.5, 7).unwrap().abs() < 1e-12);
    }

    #[test]
    fn what_has_no_quantile_is_refused() {
        for (p, df) in [(0.975, 0), (0.0, 3), (1.0, 3), (f64::NAN, 3), (-1.0, 3)] {
            assert_eq!(quantile(p, df), None);
        }
    }
}
