//! Proportions and their difference.

use super::{Interval, Refused, check_share, normal_cdf, normal_quantile};

/// A part of a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// The number of items of the kind.
    pub part: u64,
    /// The number of all items.
    pub whole: u64,
}

impl Count {
    pub(super) fn checked(self) -> Result<Count, Refused> {
        if self.part > self.whole { Err(Refused::NoProportion) } else { Ok(self) }
    }

    /// Returns the part divided by the whole, or `None` if the whole is 0.
    pub fn share(self) -> Option<f64> {
        (self.whole > 0).then(|| self.part as f64 / self.whole as f64)
    }
}

/// Returns Wilson's score interval without continuity correction (Wilson 1927; method 3 of
/// Newcombe, Statistics in Medicine 1998, 17: 857). Its length is not zero even if nothing failed.
/// `part_of` is the share of `n` items; `n` need not be an integer.
///
/// # Errors
/// A share or a confidence that is not between 0 and 1; nothing counted.
pub fn wilson(part_of: f64, n: f64, confidence: f64) -> Result<Interval, Refused> {
    check_share(confidence)?;
    wilson_at(part_of, n, normal_quantile((1.0 + confidence) / 2.0))
}

fn wilson_at(part_of: f64, n: f64, z: f64) -> Result<Interval, Refused> {
    if !(0.0..=1.0).contains(&part_of) {
        return Err(Refused::NoShare);
    }
    if !(n > 0.0 && n.is_finite()) {
        return Err(Refused::Empty);
    }
    let half = z * (z * z + 4.0 * n * part_of * (1.0 - part_of)).sqrt();
    let (middle, under) = (2.0 * n * part_of + z * z, 2.0 * (n + z * z));
    Ok(Interval {
        low: ((middle - half) / under).max(0.0),
        high: ((middle + half) / under).min(1.0),
    })
}

/// Returns the one-sided p-value of the hypothesis that the share of a count is at most `bound`,
/// against a greater one, by the score test that [`wilson`] inverts.
///
/// # Errors
/// Nothing counted, a part above the whole, or a bound that is not between 0 and 1.
pub fn share_above(count: Count, bound: f64) -> Result<f64, Refused> {
    check_share(bound)?;
    let count = count.checked()?;
    let share = count.share().ok_or(Refused::Empty)?;
    let error = (bound * (1.0 - bound) / count.whole as f64).sqrt();
    Ok(normal_cdf(-(share - bound) / error))
}

/// Returns the interval of the difference of two shares, A minus B, by Newcombe's hybrid score
/// method (method 10 of Newcombe, Statistics in Medicine 1998, 17: 873), which combines Wilson's
/// intervals. Each side is a share and the number of items.
///
/// # Errors
/// The errors of [`wilson`].
pub fn newcombe(a: (f64, f64), b: (f64, f64), confidence: f64) -> Result<Interval, Refused> {
    check_share(confidence)?;
    newcombe_at(a, b, normal_quantile((1.0 + confidence) / 2.0))
}

/// Returns the same interval for a normal quantile instead of a confidence.
fn newcombe_at(a: (f64, f64), b: (f64, f64), z: f64) -> Result<Interval, Refused> {
    let (of_a, of_b) = (wilson_at(a.0, a.1, z)?, wilson_at(b.0, b.1, z)?);
    let difference = a.0 - b.0;
    let low = difference - (a.0 - of_a.low).hypot(of_b.high - b.0);
    let high = difference + (of_a.high - a.0).hypot(b.0 - of_b.low);
    Ok(Interval { low, high })
}

/// Returns the one-sided p-value of two shares this near to each other, if they are `margin` apart:
/// the probability outside the widest of Newcombe's intervals that lies within the margin, on each
/// side.
///
/// # Errors
/// The errors of [`wilson`].
pub fn newcombe_beyond(a: (f64, f64), b: (f64, f64), margin: f64) -> Result<f64, Refused> {
    newcombe_at(a, b, 0.0)?;
    let within = |z: f64| newcombe_at(a, b, z).is_ok_and(|found| found.within(-margin, margin));
    let (mut low, mut high) = (0.0, 40.0);
    for _ in 0..50 {
        let middle = (low + high) / 2.0;
        if within(middle) { low = middle } else { high = middle }
    }
    Ok(normal_cdf(-low))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Newcombe 1998, table II: eight pairs of proportions, method 10, 95 %.
    #[test]
    fn difference_intervals_match_newcombes_table() {
        for (a, of_a, b, of_b, low, high) in [
            (56, 70, 48, 80, 0.0524, 0.3339),
            (9, 10, 3, 10, 0.1705, 0.8090),
            (6, 7, 2, 7, 0.0582, 0.8062),
            (5, 56, 0, 29, -0.0381, 0.1926),
            (0, 10, 0, 20, -0.1611, 0.2775),
            (0, 10, 0, 10, -0.2775, 0.2775),
            (10, 10, 0, 20, 0.6791, 1.0000),
            (10, 10, 0, 10, 0.6075, 1.0000),
        ] {
            let side =
                |part: u32, whole: u32| (f64::from(part) / f64::from(whole), f64::from(whole));
            let found = newcombe(side(a, of_a), side(b, of_b), 0.95).unwrap();
            assert!((found.low - low).abs() < 6e-5, "{a}/{of_a}: {found:?}");
            assert!((found.high - high).abs() < 6e-5, "{a}/{of_a}: {found:?}");
        }
    }

    #[test]
    fn the_test_of_a_share_agrees_with_its_wilson_interval() {
        let count = Count { part: 81, whole: 263 };
        let Interval { low, high } = wilson(81.0 / 263.0, 263.0, 0.95).unwrap();
        assert!((share_above(count, low).unwrap() - 0.025).abs() < 1e-9);
        assert!((share_above(count, high).unwrap() - 0.975).abs() < 1e-9);
        assert_eq!(share_above(Count { part: 0, whole: 0 }, 0.5), Err(Refused::Empty));
        assert_eq!(share_above(count, 1.0), Err(Refused::NoShare));
    }

    /// Newcombe 1998 (857), table I: method 3.
    #[test]
    fn wilson_intervals_match_newcombes_table() {
        for (part, whole, low, high) in [
            (81.0, 263.0, 0.2553, 0.3662),
            (15.0, 148.0, 0.0624, 0.1605),
            (0.0, 20.0, 0.0, 0.1611),
            (1.0, 29.0, 0.0061, 0.1718),
        ] {
            let found = wilson(part / whole, whole, 0.95).unwrap();
            assert!(
                (found.low - low).abs() < 6e-5 && (found.high - high).abs() < 6e-5,
                "{found:?}"
            );
        }
    }

    #[test]
    fn rejects_empty_and_impossible_counts_and_invalid_shares() {
        assert_eq!(wilson(0.5, 0.0, 0.95), Err(Refused::Empty));
        assert_eq!(wilson(0.5, f64::NAN, 0.95), Err(Refused::Empty));
        assert_eq!(wilson(1.5, 10.0, 0.95), Err(Refused::NoShare));
        assert_eq!(wilson(f64::NAN, 10.0, 0.95), Err(Refused::NoShare));
        assert_eq!(wilson(0.5, 10.0, 1.0), Err(Refused::NoShare));
        assert_eq!(Count { part: 2, whole: 1 }.checked(), Err(Refused::NoProportion));
    }
}
