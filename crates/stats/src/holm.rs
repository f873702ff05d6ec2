//! Corrections for multiple tests.

/// A p-value, and the weight of its test beside the others that are corrected with it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WeightedP {
    /// The p-value. NaN counts as 1.
    pub p: f64,
    /// The weight, above 0. Only the proportions of weights matter.
    pub weight: f64,
}

/// Applies Holm's correction (A simple sequentially rejective multiple test procedure, 1979): the
/// smallest p-value is multiplied by the number of tests, the next one by one less, and so on; none
/// becomes smaller than the one before it. `None` does not count as a test. NaN counts as a test
/// with a p-value of 1.
pub fn holm(ps: &[Option<f64>]) -> Vec<Option<f64>> {
    let alike: Vec<Option<WeightedP>> =
        ps.iter().map(|p| p.map(|p| WeightedP { p, weight: 1.0 })).collect();
    weighted_holm(&alike)
}

/// Applies Holm's correction to tests of different weight (the same paper; Benjamini and Hochberg,
/// Multiple hypotheses testing with weights, Scand J Stat 1997, 24: 407): in the order of p over
/// weight, each p-value is multiplied by the sum of the weights that are left over its own weight;
/// none becomes smaller than the one before it. If the hypotheses with a corrected p-value of at most
/// a level are rejected, the probability that any of them is true is at most that level, whatever the
/// dependence of the tests, if the weights do not depend on the figures.
///
/// A weight that is not above 0 leaves nothing of the level to its test: its corrected p-value is 1,
/// and it costs the others nothing.
pub fn weighted_holm(tests: &[Option<WeightedP>]) -> Vec<Option<f64>> {
    let mut adjusted: Vec<Option<f64>> = tests.iter().map(|test| test.map(|_| 1.0)).collect();
    let has_weight = |weight: f64| weight > 0.0 && weight.is_finite();
    let of_test = |(i, test): (usize, &Option<WeightedP>)| {
        let WeightedP { p, weight } = (*test)?;
        has_weight(weight).then(|| (i, cleaned(p), weight))
    };
    let mut order: Vec<(usize, f64, f64)> = tests.iter().enumerate().filter_map(of_test).collect();
    order.sort_by(|a, b| (a.1 / a.2).total_cmp(&(b.1 / b.2)));
    let mut largest = 0.0_f64;
    for (before, &(i, p, weight)) in order.iter().enumerate() {
        let left: f64 = order[before..].iter().map(|(.., weight)| weight).sum();
        largest = largest.max(p * (left / weight)).min(1.0);
        adjusted[i] = Some(largest);
    }
    adjusted
}

fn cleaned(p: f64) -> f64 {
    if p.is_nan() { 1.0 } else { p.clamp(0.0, 1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixmark_units::random::Random;

    fn near(found: &[Option<f64>], expected: &[f64]) {
        for (found, expected) in found.iter().zip(expected) {
            assert!((found.unwrap() - expected).abs() < 1e-12, "{found:?} {expected}");
        }
    }

    fn weighted(all: &[(f64, f64)]) -> Vec<Option<f64>> {
        let tests = all.iter().map(|&(p, weight)| Some(WeightedP { p, weight }));
        weighted_holm(&tests.collect::<Vec<_>>())
    }

    /// Aickin and Gensler, Am J Public Health 1996, 86: 726: 0.01, 0.02, 0.03, 0.04 and 0.05.
    #[test]
    fn multiplies_each_p_by_the_number_of_remaining_tests() {
        let ps = [0.01, 0.04, 0.03, 0.005].map(Some);
        near(&holm(&ps), &[0.03, 0.06, 0.06, 0.02]);
        near(&holm(&[0.01, 0.02, 0.03, 0.04, 0.05].map(Some)), &[0.05, 0.08, 0.09, 0.09, 0.09]);
    }

    #[test]
    fn does_not_count_hypotheses_that_were_not_tested() {
        assert_eq!(holm(&[None, Some(0.02), None]), [None, Some(0.02), None]);
        assert_eq!(holm(&[]), []);
        assert_eq!(holm(&[Some(f64::NAN), Some(0.02)]), [Some(1.0), Some(0.04)]);
        assert_eq!(holm(&[Some(0.9), Some(0.9)]), [Some(1.0), Some(1.0)]);
    }

    #[test]
    fn equal_weights_give_the_unweighted_result() {
        let mut random = Random::new(1, 0);
        for _ in 0..200 {
            let ps: Vec<f64> = (0..7).map(|_| random.unit()).collect();
            let plain = holm(&ps.iter().copied().map(Some).collect::<Vec<_>>());
            let plain: Vec<f64> = plain.into_iter().flatten().collect();
            near(&weighted(&ps.iter().map(|&p| (p, 0.125)).collect::<Vec<_>>()), &plain);
        }
    }

    /// By hand: at weights of 2, 1 and 1, p over weight is 0.01, 0.01 and 0.06.
    #[test]
    fn weights_divide_the_level_and_pass_on_the_remainder() {
        near(&weighted(&[(0.02, 2.0), (0.01, 1.0), (0.06, 1.0)]), &[0.04, 0.04, 0.06]);
        // Half of the level is enough for a p of 0.024, a quarter is not.
        near(&weighted(&[(0.024, 2.0), (0.5, 1.0), (0.5, 1.0)]), &[0.048, 1.0, 1.0]);
        near(&weighted(&[(0.5, 2.0), (0.024, 1.0), (0.5, 1.0)]), &[0.75, 0.096, 0.75]);
    }

    #[test]
    fn a_test_without_weight_is_never_rejected_and_costs_nothing() {
        for weight in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            near(&weighted(&[(0.0, weight), (0.03, 1.0)]), &[1.0, 0.03]);
        }
        assert_eq!(weighted_holm(&[None, None]), [None, None]);
    }

    /// Families as those of claims: one test with half of the weight, four with a quarter, ten with a
    /// quarter; all hypotheses true, or all but the heaviest, whose weight then goes to the others. Of
    /// 20,000, a rate of 5 % gives more than 1,096 in one of a thousand.
    #[test]
    fn family_wise_error_rate_stays_within_the_level() {
        let weights: Vec<f64> = std::iter::once(0.5)
            .chain(std::iter::repeat_n(0.25 / 4.0, 4))
            .chain(std::iter::repeat_n(0.25 / 10.0, 10))
            .collect();
        for (heaviest_is_false, alike) in [(false, false), (true, false), (false, true)] {
            let mut random = Random::new(57, 0);
            let mut wrong = 0;
            for _ in 0..20_000 {
                // Dependent tests share one p-value.
                let shared = random.unit();
                let p = |i: usize, drawn: f64| match (i, heaviest_is_false, alike) {
                    (0, true, _) => 0.0,
                    (_, _, true) => shared,
                    _ => drawn,
                };
                let tests: Vec<(f64, f64)> = weights
                    .iter()
                    .enumerate()
                    .map(|(i, &weight)| (p(i, random.unit()), weight))
                    .collect();
                let first = usize::from(heaviest_is_false);
                let rejected = |p: &Option<f64>| p.is_some_and(|p| p <= 0.05);
                wrong += u32::from(weighted(&tests)[first..].iter().any(rejected));
            }
            assert!(wrong <= 1_096, "{wrong} of 20,000 ({heaviest_is_false}, {alike})");
            assert!(alike || wrong >= 850, "the level is not used: {wrong} of 20,000");
        }
    }
}
