//! Correction for multiple tests.

/// Applies Holm's correction (A simple sequentially rejective multiple test procedure, 1979): the
/// smallest p-value is multiplied by the number of tests, the next one by one less, and so on; none
/// becomes smaller than the one before it. `None` does not count as a test. NaN counts as a test
/// with a p-value of 1.
pub fn holm(ps: &[Option<f64>]) -> Vec<Option<f64>> {
    let mut order: Vec<(usize, f64)> =
        ps.iter().enumerate().filter_map(|(i, p)| p.map(|p| (i, cleaned(p)))).collect();
    order.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut adjusted = vec![None; ps.len()];
    let mut largest = 0.0_f64;
    for (before, &(i, p)) in order.iter().enumerate() {
        largest = largest.max(p * (order.len() - before) as f64).min(1.0);
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

    fn near(found: &[Option<f64>], expected: &[f64]) {
        for (found, expected) in found.iter().zip(expected) {
            assert!((found.unwrap() - expected).abs() < 1e-12, "{found:?} {expected}");
        }
    }

    /// Aickin and Gensler, Am J Public Health 1996, 86: 726: 0.01, 0.02, 0.03, 0.04 and 0.05.
    #[test]
    fn each_p_is_multiplied_by_the_tests_that_are_left() {
        let ps = [0.01, 0.04, 0.03, 0.005].map(Some);
        near(&holm(&ps), &[0.03, 0.06, 0.06, 0.02]);
        near(&holm(&[0.01, 0.02, 0.03, 0.04, 0.05].map(Some)), &[0.05, 0.08, 0.09, 0.09, 0.09]);
    }

    #[test]
    fn what_was_not_tested_does_not_count() {
        assert_eq!(holm(&[None, Some(0.02), None]), [None, Some(0.02), None]);
        assert_eq!(holm(&[]), []);
        assert_eq!(holm(&[Some(f64::NAN), Some(0.02)]), [Some(1.0), Some(0.04)]);
        assert_eq!(holm(&[Some(0.9), Some(0.9)]), [Some(1.0), Some(1.0)]);
    }
}
