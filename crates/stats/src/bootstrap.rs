//! Bootstrap intervals: blocks are resampled with replacement (Efron, Tibshirani: An Introduction
//! to the Bootstrap, 1993).

use super::{
    Interval, Refused, check_share, check_values, normal_cdf, normal_quantile, t_quantile,
};
use sixmark_units::random::Random;

/// Returns the values of `statistic` for `resamples` draws of `n` blocks with replacement.
/// `statistic` receives the number of times that each block was drawn. Draws for which it returns
/// `None` or a value that is not finite are omitted.
pub fn draws(
    n: usize,
    resamples: u32,
    random: &mut Random,
    mut statistic: impl FnMut(&[u32]) -> Option<f64>,
) -> Vec<f64> {
    let mut times = vec![0; n];
    let mut found = Vec::with_capacity(resamples as usize);
    for _ in 0..resamples {
        draw(&mut times, random);
        found.extend(statistic(&times).filter(|value| value.is_finite()));
    }
    found
}

/// Draws as many blocks as there are, with replacement, and writes how often each was drawn to
/// `times`.
pub(super) fn draw(times: &mut [u32], random: &mut Random) {
    times.fill(0);
    for _ in 0..times.len() {
        times[random.below(times.len() as u64) as usize] += 1;
    }
}

/// Returns the percentile interval: the middle part of the draws (Efron, Tibshirani, 13.3).
///
/// # Errors
/// No draw, or a draw that is not finite; a confidence that is not between 0 and 1.
pub fn percentile(draws: &[f64], confidence: f64) -> Result<Interval, Refused> {
    check_share(confidence)?;
    let side = (1.0 - confidence) / 2.0;
    Ok(between(&sorted(draws)?, side, 1.0 - side))
}

/// Returns the bias-corrected and accelerated interval (Efron, Tibshirani, 14.3). `jackknife`
/// contains the estimates that omit one block each. If they are all equal, there is no
/// acceleration. If all draws lie on one side of the estimate, the bias is computed as if half a
/// draw lay on the other.
///
/// # Errors
/// No draw or no jackknife estimate; a value that is not finite; a confidence that is not between 0
/// and 1.
pub fn bca(
    estimate: f64,
    draws: &[f64],
    jackknife: &[f64],
    confidence: f64,
) -> Result<Interval, Refused> {
    check_share(confidence)?;
    check_values(&[estimate])?;
    check_values(jackknife)?;
    let sorted = sorted(draws)?;
    let (bias, speed) = (bias(estimate, &sorted), acceleration(jackknife));
    let at = |z: f64| {
        let moved = bias + z;
        normal_cdf(bias + moved / (1.0 - speed * moved))
    };
    let z = normal_quantile((1.0 - confidence) / 2.0);
    Ok(between(&sorted, at(z), at(-z)))
}

/// Returns the confidence to request from the percentile interval of `n` blocks so that the
/// interval has the wanted confidence. Resamples of n blocks scatter less than n blocks do, by a
/// factor of sqrt(1 - 1/n), and their tails are normal where Student's distribution applies
/// (Hesterberg: What Teachers Should Know About the Bootstrap, The American Statistician 2015, 69:
/// 371, section 5.3, "expanded percentile").
///
/// # Errors
/// Fewer than two blocks; a confidence that is not between 0 and 1.
pub fn expanded(n: usize, confidence: f64) -> Result<f64, Refused> {
    check_share(confidence)?;
    if n < 2 {
        return Err(Refused::TooFew { have: n, need: 2 });
    }
    let blocks = n as f64;
    let t = t_quantile((1.0 - confidence) / 2.0, blocks - 1.0);
    Ok(1.0 - 2.0 * normal_cdf(t * (blocks / (blocks - 1.0)).sqrt()))
}

fn sorted(draws: &[f64]) -> Result<Vec<f64>, Refused> {
    check_values(draws)?;
    let mut sorted = draws.to_vec();
    sorted.sort_by(f64::total_cmp);
    Ok(sorted)
}

fn between(sorted: &[f64], low: f64, high: f64) -> Interval {
    Interval { low: value_at_share(sorted, low), high: value_at_share(sorted, high) }
}

/// Returns the value at the position `share` times (n + 1), by linear interpolation.
fn value_at_share(sorted: &[f64], share: f64) -> f64 {
    let at = (share * (sorted.len() + 1) as f64).clamp(1.0, sorted.len() as f64);
    let (below, above) = (sorted[at.floor() as usize - 1], sorted[at.ceil() as usize - 1]);
    below + (above - below) * at.fract()
}

/// Returns the bias correction. Draws equal to the estimate count half, because quantiles of
/// histograms have many of them.
fn bias(estimate: f64, sorted: &[f64]) -> f64 {
    let below = sorted.partition_point(|value| *value < estimate) as f64;
    let up_to = sorted.partition_point(|value| *value <= estimate) as f64;
    let n = sorted.len() as f64;
    normal_quantile(((below + up_to) / 2.0 / n).clamp(0.5 / n, 1.0 - 0.5 / n))
}

fn acceleration(jackknife: &[f64]) -> f64 {
    let mean = jackknife.iter().sum::<f64>() / jackknife.len() as f64;
    let power = |n: i32| jackknife.iter().map(|value| (mean - value).powi(n)).sum::<f64>();
    let speed = power(3) / (6.0 * power(2).powf(1.5));
    if speed.is_finite() { speed } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean(values: &[f64], times: &[u32]) -> Option<f64> {
        let sum: f64 = values.iter().zip(times).map(|(value, &n)| value * f64::from(n)).sum();
        Some(sum / values.len() as f64)
    }

    #[test]
    fn resamples_as_many_blocks_as_given_with_equal_probability() {
        let mut random = Random::new(3, 0);
        let mut all = vec![0; 7];
        draws(7, 10_000, &mut random, |times| {
            assert_eq!(times.iter().sum::<u32>(), 7);
            all.iter_mut().zip(times).for_each(|(sum, n)| *sum += n);
            None
        });
        assert!(all.iter().all(|&n| (n as f64 - 1e4).abs() < 5.0 * 1e2), "{all:?}");
    }

    /// The standard deviation of resampled means is known: that of the population divided by the
    /// square root of n.
    #[test]
    fn resampled_means_have_the_expected_standard_deviation() {
        let values: Vec<f64> = (0..20).map(|i| f64::from(i * i)).collect();
        let found = draws(20, 20_000, &mut Random::new(1, 1), |times| mean(&values, times));
        let centre = values.iter().sum::<f64>() / 20.0;
        let deviation = (values.iter().map(|v| (v - centre).powi(2)).sum::<f64>() / 20.0).sqrt();
        let drawn = (found.iter().map(|v| (v - centre).powi(2)).sum::<f64>() / 20_000.0).sqrt();
        assert!((drawn / (deviation / 20_f64.sqrt()) - 1.0).abs() < 0.03, "{drawn}");
        let interval = percentile(&found, 0.95).unwrap();
        assert!(interval.holds(centre) && !interval.within(centre - drawn, centre + drawn));
    }

    #[test]
    fn bca_interval_shifts_toward_the_long_tail_of_a_skewed_sample() {
        let values: Vec<f64> = (0..15).map(|i| (f64::from(i) / 4.0).exp()).collect();
        let found = draws(15, 10_000, &mut Random::new(5, 0), |times| mean(&values, times));
        let all: f64 = values.iter().sum();
        let jackknife: Vec<f64> = values.iter().map(|value| (all - value) / 14.0).collect();
        let plain = percentile(&found, 0.95).unwrap();
        let moved = bca(all / 15.0, &found, &jackknife, 0.95).unwrap();
        assert!(moved.low > plain.low && moved.high > plain.high, "{plain:?} {moved:?}");
    }

    #[test]
    fn equal_values_give_an_interval_of_zero_length() {
        let point = Ok(Interval { low: 2.0, high: 2.0 });
        assert_eq!(percentile(&[2.0; 50], 0.95), point);
        assert_eq!(bca(2.0, &[2.0; 50], &[2.0; 5], 0.95), point);
        assert_eq!(bca(1.0, &[2.0; 50], &[2.0; 5], 0.95), point);
        assert_eq!(percentile(&[2.0], 0.95), point);
    }

    #[test]
    fn expands_the_confidence_level_for_few_blocks() {
        // Hesterberg 2015, table 3: the one-sided 0.025 of n = 10 becomes about 0.0087.
        assert!(((1.0 - expanded(10, 0.95).unwrap()) / 2.0 - 0.0086).abs() < 2e-4);
        assert!((expanded(100_000, 0.95).unwrap() - 0.95).abs() < 1e-4);
        assert_eq!(expanded(1, 0.95), Err(Refused::TooFew { have: 1, need: 2 }));
    }

    #[test]
    fn rejects_empty_and_non_finite_input_and_invalid_levels() {
        assert_eq!(percentile(&[], 0.95), Err(Refused::Empty));
        assert_eq!(percentile(&[1.0, f64::NAN], 0.95), Err(Refused::NotFinite));
        assert_eq!(percentile(&[1.0], 1.0), Err(Refused::NoShare));
        assert_eq!(bca(1.0, &[1.0], &[], 0.95), Err(Refused::Empty));
        assert_eq!(bca(f64::NAN, &[1.0], &[1.0], 0.95), Err(Refused::NotFinite));
        assert!(draws(0, 10, &mut Random::new(0, 0), |_| None).is_empty());
    }
}
