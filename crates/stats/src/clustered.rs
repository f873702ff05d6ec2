//! A share whose items are not independent: batches of a queue's response times, for example, in
//! which slow ones come together.

use super::{Count, Refused, check_share, incomplete_beta, normal_quantile, t_quantile};

/// The share of marked items in several batches, and the number of independent items that would
/// tell as much.
///
/// The variance between batches divided by that of independent items is the design effect, by which
/// counts are divided before a binomial test (Rao, Scott: A simple method for the analysis of
/// clustered binary data, Biometrics 1992, 48: 577).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClusteredShare {
    /// The share of marked items, 0 to 1.
    pub share: f64,
    /// The number of independent items with the same uncertainty; at most the number of items.
    pub effective: f64,
}

impl ClusteredShare {
    /// Returns the share of these batches, for tests at the one-sided level `alpha`. A design effect
    /// that a few batches show is itself uncertain, so it is enlarged as Student's quantile exceeds
    /// the normal one. It is at least `least_effect`, and never below 1.
    ///
    /// # Errors
    /// Nothing counted, a part above its whole, or an `alpha` that is not between 0 and 1.
    pub fn of(batches: &[Count], least_effect: f64, alpha: f64) -> Result<ClusteredShare, Refused> {
        check_share(alpha)?;
        let all = batches.iter().try_fold(Count::default(), |all, &batch| {
            let batch = batch.checked()?;
            Ok(Count { part: all.part + batch.part, whole: all.whole + batch.whole })
        })?;
        let share = all.share().ok_or(Refused::Empty)?;
        let effect = design_effect(batches)?;
        let freedom = batches.iter().filter(|batch| batch.whole > 0).count() as f64 - 1.0;
        let wider = if effect > 1.0 {
            t_quantile(1.0 - alpha, freedom) / normal_quantile(1.0 - alpha)
        } else {
            1.0
        };
        let effect = (effect * wider * wider).max(least_effect).max(1.0);
        Ok(ClusteredShare { share, effective: all.whole as f64 / effect })
    }

    /// Returns the one-sided p-value of the hypothesis that the share is `bound` or above, against a
    /// smaller one: the probability of so few marked items (Clopper, Pearson: The use of confidence
    /// or fiducial limits, Biometrika 1934, 26: 404).
    pub fn below(self, bound: f64) -> f64 {
        let marked = self.share * self.effective;
        match marked < self.effective {
            // NIST Digital Library of Mathematical Functions, 8.17.5, for counts that need not be
            // integers.
            true => incomplete_beta(self.effective - marked, marked + 1.0, 1.0 - bound),
            false => 1.0,
        }
    }

    /// Returns the one-sided p-value of the hypothesis that the share is `bound` or below, against a
    /// greater one: the probability of so many marked items.
    pub fn above(self, bound: f64) -> f64 {
        let marked = self.share * self.effective;
        if marked > 0.0 {
            incomplete_beta(marked, self.effective - marked + 1.0, bound)
        } else {
            1.0
        }
    }
}

/// Returns the variance of the share of these batches, divided by that of as many independent items;
/// 1 if fewer than two batches have items, or if all items or none are marked.
///
/// # Errors
/// A part above its whole.
pub fn design_effect(batches: &[Count]) -> Result<f64, Refused> {
    let batches: Vec<Count> = batches
        .iter()
        .map(|batch| batch.checked())
        .filter(|batch| *batch != Ok(Count::default()))
        .collect::<Result<_, _>>()?;
    let sum = |of: fn(&Count) -> u64| batches.iter().map(of).sum::<u64>() as f64;
    let (marked, items, m) = (sum(|b| b.part), sum(|b| b.whole), batches.len() as f64);
    if m < 2.0 || marked == 0.0 || marked == items {
        return Ok(1.0);
    }
    let share = marked / items;
    let off = |batch: &Count| batch.part as f64 - share * batch.whole as f64;
    let squares: f64 = batches.iter().map(|batch| off(batch).powi(2)).sum();
    Ok(m / (m - 1.0) * squares / (items * share * (1.0 - share)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batches(of: &[(u64, u64)]) -> Vec<Count> {
        of.iter().map(|&(part, whole)| Count { part, whole }).collect()
    }

    /// The example of Rao and Scott 1992: pups alive in the 16 litters of each group of rats.
    #[test]
    fn design_effect_matches_the_litters_of_rao_and_scott() {
        let control = [
            (13, 13),
            (12, 12),
            (9, 9),
            (9, 9),
            (8, 8),
            (8, 8),
            (12, 13),
            (11, 12),
            (9, 10),
            (9, 10),
            (8, 9),
            (11, 13),
            (4, 5),
            (5, 7),
            (7, 10),
            (7, 10),
        ];
        let treated = [
            (12, 12),
            (11, 11),
            (10, 10),
            (9, 9),
            (10, 11),
            (9, 10),
            (9, 10),
            (8, 9),
            (8, 9),
            (4, 5),
            (7, 9),
            (4, 7),
            (5, 10),
            (3, 6),
            (3, 10),
            (0, 7),
        ];
        for (litters, effect) in [(control, 1.2325), (treated, 3.9529)] {
            let found = design_effect(&batches(&litters)).unwrap();
            assert!((found - effect).abs() < 1e-4, "{found}");
        }
    }

    #[test]
    fn independent_items_are_tested_by_the_exact_binomial_distribution() {
        let one = |part, whole| ClusteredShare::of(&batches(&[(part, whole)]), 1.0, 0.005).unwrap();
        // 0.99^460 and 1 - 0.99^10.
        assert!((one(0, 460).below(0.01) - 0.99_f64.powi(460)).abs() < 1e-12);
        assert!((one(1, 10).above(0.01) - (1.0 - 0.99_f64.powi(10))).abs() < 1e-12);
        // One of 29 does not show more than 1 %: the probability is 25 %.
        let p = one(1, 29).above(0.01);
        assert!((p - (1.0 - 0.99_f64.powi(29))).abs() < 1e-12 && p > 0.2, "{p}");
        assert_eq!((one(0, 10).above(0.01), one(10, 10).below(0.01)), (1.0, 1.0));
    }

    #[test]
    fn items_in_one_batch_are_weaker_evidence_than_spread_items() {
        let spread = batches(&[(5, 100); 8]);
        let mut together = batches(&[(0, 100); 8]);
        together[3].part = 40;
        let p = |of: &[Count]| ClusteredShare::of(of, 1.0, 0.005).unwrap().above(0.01);
        assert!(p(&spread) < 1e-9 && p(&together) > 0.05, "{} {}", p(&spread), p(&together));
        let told = ClusteredShare::of(&spread, 4.0, 0.005).unwrap();
        assert_eq!((told.share, told.effective), (0.05, 200.0));
    }

    #[test]
    fn rejects_empty_input_impossible_counts_and_invalid_levels() {
        let of = |batches: &[Count]| ClusteredShare::of(batches, 1.0, 0.005);
        assert_eq!(of(&[]), Err(Refused::Empty));
        assert_eq!(of(&batches(&[(2, 1)])), Err(Refused::NoProportion));
        assert_eq!(ClusteredShare::of(&batches(&[(1, 2)]), 1.0, 0.0), Err(Refused::NoShare));
    }
}
