//! Fisher's exact test: how likely are two proportions as far apart as these, if they are equal?

use super::binomial::hypergeometric;
use super::proportions::Count;
use super::{Refused, normal_cdf};

/// Tables whose probabilities differ from the observed one only by rounding count as no more
/// likely.
const SAME: f64 = 1.0 + 1e-7;
/// Above this variance (a standard deviation of 10^5) the sum would be long, and the normal
/// distribution is as accurate.
const LARGE: f64 = 1e10;

/// Returns the two-sided p-value: the probability of all tables with the same margins that are no
/// more likely than the observed one (Fisher: The Design of Experiments, 1935, section 12, for one
/// side; Freeman, Halton, Biometrika 1951, for both). The sum begins at the largest term of each
/// tail and ends where terms are negligible, so that 10^9 exchanges take some thousand steps.
///
/// # Errors
/// A count whose part is larger than its whole.
pub fn fisher(a: Count, b: Count) -> Result<f64, Refused> {
    let table = Table::new(a.checked()?, b.checked()?);
    if table.low == table.high {
        return Ok(1.0);
    }
    Ok(if table.variance() > LARGE { table.normal() } else { table.sum() }.clamp(0.0, 1.0))
}

/// A two-by-two table with fixed margins. It is determined by `at`, the number of marked items
/// among those drawn.
struct Table {
    marked: f64,
    others: f64,
    drawn: f64,
    low: f64,
    high: f64,
    at: f64,
}

impl Table {
    fn new(a: Count, b: Count) -> Table {
        let marked = a.part as f64 + b.part as f64;
        let others = (a.whole - a.part) as f64 + (b.whole - b.part) as f64;
        let drawn = a.whole as f64;
        let (low, high) = ((drawn - others).max(0.0), marked.min(drawn));
        Table { marked, others, drawn, low, high, at: a.part as f64 }
    }

    fn chance(&self, x: f64) -> f64 {
        hypergeometric(x, self.marked, self.others, self.drawn)
    }

    /// Returns the probability of x + 1 divided by that of x.
    fn step(&self, x: f64) -> f64 {
        (self.marked - x) * (self.drawn - x) / ((x + 1.0) * (self.others - self.drawn + x + 1.0))
    }

    fn mode(&self) -> f64 {
        let all = self.marked + self.others;
        ((self.marked + 1.0) / (all + 2.0) * (self.drawn + 1.0)).floor().clamp(self.low, self.high)
    }

    fn variance(&self) -> f64 {
        let all = self.marked + self.others;
        let left = (all - self.drawn) / (all - 1.0).max(1.0);
        self.drawn * (self.marked / all) * (self.others / all) * left
    }

    fn sum(&self) -> f64 {
        let bound = self.chance(self.at) * SAME;
        let down = self.falls(-1.0, bound).map_or(0.0, |from| self.tail(from, -1.0));
        let up = self.falls(1.0, bound).map_or(0.0, |from| self.tail(from, 1.0));
        down + up
    }

    /// Returns the x nearest to the mode, below or above it, whose probability is at most `bound`.
    /// Probabilities only fall with the distance from the mode, so bisection finds it.
    fn falls(&self, way: f64, bound: f64) -> Option<f64> {
        let mode = self.mode();
        // The mode itself belongs to the upper side.
        let (mut near, mut far) =
            if way < 0.0 { (mode - 1.0, self.low) } else { (mode, self.high) };
        if (far - near) * way < 0.0 || self.chance(far) > bound {
            return None;
        }
        while near != far {
            let middle = near + ((far - near) / 2.0).trunc();
            if self.chance(middle) <= bound { far = middle } else { near = middle + way }
        }
        Some(far)
    }

    fn tail(&self, from: f64, way: f64) -> f64 {
        let end = if way < 0.0 { self.low } else { self.high };
        let (mut x, mut term) = (from, self.chance(from));
        let mut sum = term;
        while x != end && term > sum * 1e-17 {
            term *= if way < 0.0 { 1.0 / self.step(x - 1.0) } else { self.step(x) };
            x += way;
            sum += term;
        }
        sum
    }

    /// Returns the p-value of the normal approximation, with a continuity correction of half a
    /// count.
    fn normal(&self) -> f64 {
        let mean = self.drawn * (self.marked / (self.marked + self.others));
        let off = ((self.at - mean).abs() - 0.5).max(0.0) / self.variance().sqrt();
        2.0 * normal_cdf(-off)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn p(a: u64, of_a: u64, b: u64, of_b: u64) -> f64 {
        fisher(Count { part: a, whole: of_a }, Count { part: b, whole: of_b }).unwrap()
    }

    fn near(found: f64, expected: f64, relative: f64) {
        assert!((found - expected).abs() <= relative * expected, "{found} is not {expected}");
    }

    /// Fisher's lady tasting tea, and his twins of convicts (Agresti: Categorical Data Analysis,
    /// 3.5; Fisher 1935, where the one-sided p is 0.000465).
    #[test]
    fn matches_the_examples_of_fisher() {
        near(p(3, 4, 1, 4), 34.0 / 70.0, 1e-12);
        near(p(4, 4, 0, 4), 2.0 / 70.0, 1e-12);
        near(p(10, 13, 2, 17), 0.000_536_7, 1e-3);
    }

    #[test]
    fn exchanging_sides_or_outcomes_does_not_change_p() {
        for (a, of_a, b, of_b) in [(3, 10, 9, 12), (0, 50, 5, 60), (7, 7, 0, 3), (2, 1000, 9, 2000)]
        {
            near(p(a, of_a, b, of_b), p(b, of_b, a, of_a), 1e-12);
            near(p(a, of_a, b, of_b), p(of_a - a, of_a, of_b - b, of_b), 1e-12);
        }
    }

    #[test]
    fn p_is_one_for_empty_sides_and_identical_outcomes() {
        for (a, of_a, b, of_b) in [(0, 0, 0, 0), (0, 9, 0, 9), (9, 9, 9, 9), (0, 0, 3, 9)] {
            assert_eq!(p(a, of_a, b, of_b), 1.0);
        }
        let wrong = fisher(Count { part: 2, whole: 1 }, Count { part: 0, whole: 1 });
        assert_eq!(wrong, Err(Refused::NoProportion));
    }

    #[test]
    fn large_counts_agree_with_the_normal_distribution() {
        let billion = 1_000_000_000;
        near(p(500_000_000, billion, 500_000_000, billion), 1.0, 1e-9);
        near(p(100, billion, 100, billion), 1.0, 1e-9);
        assert!(p(0, billion, billion, billion) < 1e-300);
        // A difference of 3 standard deviations: 0.0027.
        let off = (3.0 * (0.5 * billion as f64).sqrt() / 2.0) as u64;
        near(p(500_000_000 + off, billion, 500_000_000 - off, billion), 0.0027, 2e-3);
        let all = u64::MAX / 4;
        assert!(p(all / 2, all, all / 2, all) > 0.99);
    }

    #[test]
    fn the_exact_sum_and_the_normal_approximation_agree() {
        let (a, b) = (
            Count { part: 20_300_000, whole: 400_000_000 },
            Count { part: 20_290_000, whole: 400_000_000 },
        );
        let table = Table::new(a, b);
        near(table.sum(), table.normal(), 1e-3);
    }
}
