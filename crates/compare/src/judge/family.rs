//! The metrics that are tested for a difference.

use sixmark_stats::fewest;

use super::{Evidence, least_p};
use crate::Settings;
use crate::until::UntilDecided;
use sixmark_tally::metric::{Metric, Quantity};

/// The metrics of a comparison that are tested for a difference: the family of Holm's correction.
/// Few pairs of blocks cannot decide many metrics: the smallest p-value that n pairs can give is
/// 2^(1 - n), and Holm's correction multiplies it by the number of tests. Only as many metrics are
/// tested as the pairs can decide. The choice follows the order of the metrics, never their
/// figures.
pub(super) struct TestFamily {
    /// The p-value of each metric that is tested, in the order of the evidence.
    pub(super) tested: Vec<Option<f64>>,
    /// The number of metrics that have a p-value.
    pub(super) candidates: usize,
    /// The number of pairs.
    pub(super) pairs: usize,
}

impl TestFamily {
    /// Chooses the metrics to test: the primary one, then the share of failures, then the others in
    /// their order. Metrics of speed are not tested unless the sides are `comparable`.
    pub(super) fn choose(
        evidence: &[Evidence],
        pairs: usize,
        comparable: bool,
        settings: &Settings,
    ) -> TestFamily {
        let testable =
            |one: &Evidence| one.p().is_some() && (comparable || !one.metric.is_of_speed());
        let mut order: Vec<usize> =
            (0..evidence.len()).filter(|&at| testable(&evidence[at])).collect();
        let failures = Metric::Quantity(Quantity::Failures);
        let rank = |metric| (metric != settings.primary, metric != failures);
        order.sort_by_key(|&at| rank(evidence[at].metric));
        let candidates = order.len();
        order.truncate(tests_allowed(pairs, settings).max(1));
        let mut tested = vec![None; evidence.len()];
        order.into_iter().for_each(|at| tested[at] = evidence[at].p());
        TestFamily { tested, candidates, pairs }
    }

    /// Chooses the metrics to test in a comparison that ends when they are decided: those that
    /// were named.
    pub(super) fn named(
        evidence: &[Evidence],
        pairs: usize,
        comparable: bool,
        until: &UntilDecided,
    ) -> TestFamily {
        let is_tested = |one: &Evidence| {
            until.metrics.contains(&one.metric) && (comparable || !one.metric.is_of_speed())
        };
        let tested = evidence.iter().map(|one| one.p().filter(|_| is_tested(one))).collect();
        TestFamily { tested, candidates: until.metrics.len(), pairs }
    }

    /// Returns the number of metrics that are tested.
    pub(super) fn len(&self) -> usize {
        self.tested.iter().flatten().count()
    }
}

/// Returns how many metrics `pairs` pairs of blocks can show a difference of; 0 if none.
pub(super) fn tests_allowed(pairs: usize, settings: &Settings) -> usize {
    // Rounding must not lower the result for an exact quotient.
    (settings.level_of_difference() / least_p(pairs) + 1e-9) as usize
}

/// Returns the number of pairs needed to show a difference in each of `family` metrics.
pub(crate) fn pairs_needed(family: usize, settings: &Settings) -> usize {
    fewest(settings.level_of_difference() / family.max(1) as f64)
}
