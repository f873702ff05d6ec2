//! Estimates the cost of a request of each family from seconds in which both were served.

use sixmark_stats::t_quantile;
use sixmark_units::family::PerFamily;

/// The least number of seconds for an estimate.
pub const FEWEST: usize = 20;

/// The largest squared correlation between the families' numbers of requests at which their costs
/// can still be separated (a variance inflation factor of 10).
const MOST_EXPLAINED: f64 = 0.9;

/// The largest accepted half-width of an interval, as a share of the mean cost of a request.
const WIDEST: f64 = 0.5;

/// The load and the processor time of one second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Second {
    /// Processor time, microseconds.
    pub cpu_us: f64,
    /// Requests of each family that were answered.
    pub requests: PerFamily<f64>,
}

/// The cost of a request, microseconds, and its 95 % interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Fitted {
    /// The estimate.
    pub value: f64,
    /// Half the width of the interval.
    pub half: f64,
}

/// Fits `cpu = a * IPv6 requests + b * IPv4 requests + c` to the seconds, by least squares.
///
/// # Errors
/// Returns the reason, as text for people, if the costs can't be separated.
pub fn fit(seconds: &[Second]) -> Result<PerFamily<Fitted>, String> {
    if seconds.len() < FEWEST {
        return Err(format!(
            "both families were loaded together, and {} whole seconds are too few to tell them \
             apart ({FEWEST})",
            seconds.len()
        ));
    }
    let sums = ProductSums::of(seconds);
    sums.solve()
}

/// Sums of squares and products of deviations from the means.
struct ProductSums {
    n: f64,
    mean: f64,
    s66: f64,
    s44: f64,
    s64: f64,
    s6y: f64,
    s4y: f64,
    syy: f64,
    /// Mean cost of a request over both families.
    usual: f64,
}

impl ProductSums {
    fn of(seconds: &[Second]) -> ProductSums {
        let n = seconds.len() as f64;
        let mean = |of: &dyn Fn(&Second) -> f64| seconds.iter().map(of).sum::<f64>() / n;
        let six = |second: &Second| second.requests.ipv6;
        let four = |second: &Second| second.requests.ipv4;
        let cpu = |second: &Second| second.cpu_us;
        let (m6, m4, my) = (mean(&six), mean(&four), mean(&cpu));
        let about = |a: &dyn Fn(&Second) -> f64, ma: f64, b: &dyn Fn(&Second) -> f64, mb: f64| {
            seconds.iter().map(|second| (a(second) - ma) * (b(second) - mb)).sum::<f64>()
        };
        ProductSums {
            n,
            mean: my,
            s66: about(&six, m6, &six, m6),
            s44: about(&four, m4, &four, m4),
            s64: about(&six, m6, &four, m4),
            s6y: about(&six, m6, &cpu, my),
            s4y: about(&four, m4, &cpu, my),
            syy: about(&cpu, my, &cpu, my),
            usual: if m6 + m4 > 0.0 { my / (m6 + m4) } else { 0.0 },
        }
    }

    fn solve(&self) -> Result<PerFamily<Fitted>, String> {
        let determinant = self.s66 * self.s44 - self.s64 * self.s64;
        let explained = self.s64 * self.s64 / (self.s66 * self.s44);
        // Written as "not at most" so that NaN is refused too.
        if !(explained <= MOST_EXPLAINED && determinant > 0.0 && self.mean > 0.0) {
            return Err("both families were loaded together, at a ratio that did not change from \
                        second to second enough to tell them apart; load one at a time (compare, \
                        -6, -4)"
                .to_owned());
        }
        let a = (self.s6y * self.s44 - self.s4y * self.s64) / determinant;
        let b = (self.s4y * self.s66 - self.s6y * self.s64) / determinant;
        let left = (self.syy - a * self.s6y - b * self.s4y).max(0.0);
        let freedom = self.n - 3.0;
        let t = t_quantile(0.975, freedom);
        let half = |own: f64| t * (left / freedom * own / determinant).sqrt();
        let found = PerFamily {
            ipv6: Fitted { value: a, half: half(self.s44) },
            ipv4: Fitted { value: b, half: half(self.s66) },
        };
        let is_narrow = |of: &Fitted| of.half <= WIDEST * self.usual && of.value > 0.0;
        if found.iter().all(|(_, of)| is_narrow(of)) {
            Ok(found)
        } else {
            Err("both families were loaded together, and the CPU time varied too much from \
                     second to second for other reasons to tell them apart"
                .to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made-up seconds: 50 us per IPv6 request, 40 us per IPv4 request, and 10 ms of other work.
    fn seconds(count: usize, ratio: impl Fn(usize) -> (f64, f64), noise: f64) -> Vec<Second> {
        let second = |at: usize| {
            let (ipv6, ipv4) = ratio(at);
            let odd = ((at as f64 * 12.9898).sin() * 43_758.547).fract() * noise;
            Second {
                cpu_us: 50.0 * ipv6 + 40.0 * ipv4 + 10_000.0 + odd,
                requests: PerFamily { ipv6, ipv4 },
            }
        };
        (0..count).map(second).collect()
    }

    fn varied(at: usize) -> (f64, f64) {
        (1_000.0 + (at * 37 % 100) as f64 * 10.0, 1_000.0 + (at * 71 % 90) as f64 * 11.0)
    }

    #[test]
    fn estimates_the_cost_per_family_from_varied_seconds() {
        let found = fit(&seconds(60, varied, 2_000.0)).unwrap();
        for (of, truth) in [(found.ipv6, 50.0), (found.ipv4, 40.0)] {
            assert!((of.value - truth).abs() <= 2.0 * of.half, "{of:?} is not {truth}");
            assert!(of.half > 0.0 && of.half < 5.0, "{of:?}");
        }
    }

    #[test]
    fn rejects_seconds_with_a_fixed_ratio_of_families() {
        let fixed = |at: usize| (1_000.0 + at as f64 * 10.0, 1_000.0 + at as f64 * 10.0);
        assert!(fit(&seconds(60, fixed, 2_000.0)).unwrap_err().contains("ratio"));
        let still = |_| (1_000.0, 500.0);
        assert!(fit(&seconds(60, still, 2_000.0)).unwrap_err().contains("ratio"));
    }

    #[test]
    fn rejects_too_few_seconds_and_too_much_noise() {
        assert!(fit(&seconds(19, varied, 1.0)).unwrap_err().contains("too few"));
        assert!(fit(&seconds(20, varied, 500_000.0)).unwrap_err().contains("other reasons"));
    }

    /// The interval contains the true cost about as often as its level says.
    #[test]
    fn the_interval_covers_the_true_cost_at_its_level() {
        let mut held = 0;
        for run in 0..400_u64 {
            let mut random = sixmark_units::random::Random::new(7, run);
            let mut unit = || (random.bits() >> 11) as f64 / (1_u64 << 53) as f64;
            let second = |_| {
                let requests =
                    PerFamily { ipv6: 1_000.0 + 900.0 * unit(), ipv4: 1_000.0 + 900.0 * unit() };
                let noise: f64 = (0..12).map(|_| unit()).sum::<f64>() - 6.0;
                let cpu_us = 50.0 * requests.ipv6 + 40.0 * requests.ipv4 + 5_000.0 * noise;
                Second { cpu_us, requests }
            };
            let made: Vec<Second> = (0..40).map(second).collect();
            let found = fit(&made).unwrap().ipv6;
            held += u32::from((found.value - 50.0).abs() <= found.half);
        }
        assert!((365..=395).contains(&held), "{held} of 400");
    }
}
