//! Comparisons that are judged after each pair.

use super::*;
use crate::undecided::UndecidedCause;
use crate::until::UntilDecided;
use sixmark_document::verdict::Verdict;
use sixmark_tally::metric::Quantity;
use sixmark_tally::timed_phase::TimePoint;
use sixmark_units::random::Random;

const P50: Metric = Metric::Time(TimedPhase::Response, TimePoint::P50);
const P99: Metric = Metric::Time(TimedPhase::Response, TimePoint::P99);
const FAILURES: Metric = Metric::Quantity(Quantity::Failures);

fn settings(metrics: &[Metric]) -> Settings {
    let until = UntilDecided { metrics: metrics.to_vec(), at_most_s: 60.0 };
    Settings { until: Some(until), ..Settings::usual(1) }
}

/// Pairs of `requests` exchanges of a side, of which those of A take `factor` times as long, and of
/// which `failed` of each thousand fail.
fn pairs(n: usize, factor: f64, requests: u64, failed: [u64; 2]) -> Vec<BlockPair> {
    let mut random = Random::new(5, 0);
    let mut side = |factor: f64, failed: u64| {
        let failed = requests * failed / 1_000;
        let completed = requests - failed;
        let mut stretch = crate::Stretch {
            elapsed_s: 1.0,
            sent: requests,
            completed,
            failed,
            body_bytes: completed * 1_000,
            ..Default::default()
        };
        for _ in 0..completed {
            let nanos = (100e3 + 100e3 * random.exponential()) * factor;
            stretch.phases.response.record(nanos as u64);
        }
        stretch
    };
    (0..n).map(|_| BlockPair { a: side(factor, failed[0]), b: side(1.0, failed[1]) }).collect()
}

fn judged(pairs: &[BlockPair], metrics: &[Metric]) -> Comparison {
    compare(("ipv6", "ipv4"), pairs, 0, &settings(metrics))
}

fn of(comparison: &Comparison, metric: Metric) -> &Compared {
    comparison.metrics.iter().find(|of| of.metric == metric).unwrap()
}

/// Returns after how many pairs the metrics are decided.
fn decided_after(all: &[BlockPair], metrics: &[Metric]) -> Option<usize> {
    (1..=all.len()).find(|&n| {
        let found = judged(&all[..n], metrics);
        found.settings.until.as_ref().unwrap().is_decided_by(&found)
    })
}

#[test]
fn decides_a_clear_named_metric_after_few_pairs() {
    for (factor, wanted) in
        [(1.0, Verdict::Equivalent), (1.3, Verdict::Worse), (0.7, Verdict::Better)]
    {
        let all = pairs(24, factor, 2_000, [0, 0]);
        let after = decided_after(&all, &[P50]).unwrap();
        assert!((6..=9).contains(&after), "{factor}: {after}");
        let found = judged(&all[..after], &[P50]);
        let median = of(&found, P50);
        assert_eq!((median.verdict, median.method), (wanted, EffectMethod::Anytime), "{median:?}");
        let ratio = median.ratio.unwrap();
        assert!(ratio.low <= factor && factor <= ratio.high, "{ratio:?}");
        let shown = median.a.unwrap() / median.b.unwrap();
        assert!((shown - ratio.value).abs() < 1e-9, "{median:?}");
        assert!(doubts_of_comparison(&found).is_empty(), "{:?}", doubts_of_comparison(&found));
    }
}

#[test]
fn tests_only_named_metrics_for_a_difference() {
    let all = pairs(24, 1.3, 2_000, [0, 0]);
    let found = judged(&all, &[P50]);
    let others = found.metrics.iter().filter(|of| of.metric != P50 && of.metric.phase().is_some());
    for of in others {
        assert_eq!((of.verdict, of.p_holm), (Verdict::Inconclusive, None), "{of:?}");
        let few = [Some(UndecidedCause::NotTested), Some(UndecidedCause::FewSamples)];
        assert!(few.contains(&of.cause), "{of:?}");
    }
    assert_eq!(of(&found, FAILURES).verdict, Verdict::Equivalent);
    let both = judged(&all, &[P50, P99]);
    assert_eq!(of(&both, P99).verdict, Verdict::Worse, "{:?}", of(&both, P99));
    let of_two = of(&both, P50).p_holm.unwrap();
    assert!(of_two >= of(&found, P50).p_holm.unwrap(), "several metrics need more evidence");
}

#[test]
fn counts_a_metric_without_figures_in_the_holm_correction() {
    let all = pairs(12, 1.3, 500, [0, 0]);
    let p999 = Metric::Time(TimedPhase::Response, TimePoint::P999);
    let (alone, with) = (judged(&all, &[P50]), judged(&all, &[P50, p999]));
    let p = |found: &Comparison| of(found, P50).p_holm.unwrap();
    assert!((p(&with) / p(&alone) - 2.0).abs() < 0.01, "{} {}", p(&with), p(&alone));
    assert_eq!(of(&with, p999).cause, Some(UndecidedCause::FewSamples));
    assert_eq!(decided_after(&all, &[P50, p999]), None);
}

#[test]
fn shares_of_failures_are_decided_too() {
    let apart = pairs(16, 1.0, 1_000, [40, 10]);
    let after = decided_after(&apart, &[FAILURES]).unwrap();
    assert!((7..=9).contains(&after), "{after}");
    let found = judged(&apart[..after], &[FAILURES]);
    let failures = of(&found, FAILURES);
    assert_eq!(failures.verdict, Verdict::Worse, "{failures:?}");
    assert!((failures.difference.unwrap().value - 0.03).abs() < 1e-9, "{failures:?}");
}

/// Most blocks of A have no failure, because it has fewer exchanges; the share is the same.
#[test]
fn does_not_decide_from_the_signs_of_rare_failures() {
    let side = |requests: u64, failed: u64| crate::Stretch {
        elapsed_s: 1.0,
        sent: requests,
        completed: requests - failed,
        failed,
        ..Default::default()
    };
    let all: Vec<BlockPair> = (0..60)
        .map(|n| BlockPair { a: side(100, u64::from(n % 10 == 9)), b: side(1_000, 1) })
        .collect();
    for n in 1..=all.len() {
        let found = judged(&all[..n], &[FAILURES]);
        let failures = of(&found, FAILURES);
        assert!(!matches!(failures.verdict, Verdict::Better | Verdict::Worse), "{n}: {failures:?}");
    }
}

#[test]
fn gives_a_reason_for_too_few_pairs_and_a_changing_difference() {
    let few = judged(&pairs(6, 1.3, 2_000, [0, 0]), &[P50]);
    let median = of(&few, P50);
    assert_eq!(
        (median.verdict, median.cause),
        (Verdict::Inconclusive, Some(UndecidedCause::FewPairs))
    );
    assert!(median.reason.as_ref().unwrap().contains("7 are needed"), "{median:?}");
    let changed = [pairs(20, 1.0, 2_000, [0, 0]), pairs(20, 2.0, 2_000, [0, 0])].concat();
    let found = judged(&changed, &[P50]);
    let median = of(&found, P50);
    assert_eq!(median.cause, Some(UndecidedCause::Unusable));
    assert!(median.reason.as_ref().unwrap().contains("changed while"), "{median:?}");
}

#[test]
fn swapping_the_sides_mirrors_the_result_after_each_pair() {
    let all = pairs(16, 1.1, 1_500, [20, 10]);
    let turned: Vec<BlockPair> =
        all.iter().map(|pair| BlockPair { a: pair.b.clone(), b: pair.a.clone() }).collect();
    let named = [P50, P99, FAILURES];
    let (one, other) = (judged(&all, &named), judged(&turned, &named));
    for (a, b) in one.metrics.iter().zip(&other.metrics) {
        for (p, q) in [a.p.zip(b.p), a.p_holm.zip(b.p_holm)].into_iter().flatten() {
            assert!((p / q - 1.0).abs() < 1e-9, "{a:?} {b:?}");
        }
        let Some((a, b)) = a.ratio.zip(b.ratio) else { continue };
        for (a, b) in [(a.value, b.value), (a.low, b.high), (a.high, b.low)] {
            assert!((a * b - 1.0).abs() < 1e-6, "{a} {b}");
        }
    }
}
