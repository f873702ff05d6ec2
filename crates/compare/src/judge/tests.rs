//! Tests with synthetic load in which every exchange has its own duration.

use super::*;
use crate::Stretch;
use crate::blocks_needed::BlocksNeeded;
use sixmark_document::verdict::Verdict;
use sixmark_result::sameness::{Answers, TargetAnswers};
use sixmark_tally::metric::Quantity;
use sixmark_tally::timed_phase::TimePoint;
use sixmark_units::random::Random;

const P50: Metric = Metric::Time(TimedPhase::Response, TimePoint::P50);
const P99: Metric = Metric::Time(TimedPhase::Response, TimePoint::P99);

/// A block of one side: `requests` exchanges of about 200 us each, times `factor`.
fn stretch(random: &mut Random, factor: f64, requests: u64) -> Stretch {
    let mut stretch = Stretch {
        elapsed_s: 1.0,
        sent: requests,
        completed: requests,
        body_bytes: requests * 1_000,
        ..Stretch::default()
    };
    for _ in 0..requests {
        let nanos = (100e3 + 100e3 * random.exponential()) * factor;
        stretch.phases.response.record(nanos as u64);
    }
    stretch
}

/// Pairs in which side A takes `factor` times as long as side B.
fn pairs(n: usize, factor: f64, requests: u64, seed: u64) -> Vec<BlockPair> {
    let mut random = Random::new(seed, 0);
    let mut side = |factor| stretch(&mut random, factor, requests);
    (0..n).map(|_| BlockPair { a: side(factor), b: side(1.0) }).collect()
}

fn judged(pairs: &[BlockPair]) -> Comparison {
    compare(("ipv6", "ipv4"), pairs, 0, &Settings::usual(1))
}

fn of(comparison: &Comparison, metric: Metric) -> &Compared {
    comparison.metrics.iter().find(|compared| compared.metric == metric).unwrap()
}

fn mirrored(pairs: &[BlockPair]) -> Vec<BlockPair> {
    pairs.iter().map(|pair| BlockPair { a: pair.b.clone(), b: pair.a.clone() }).collect()
}

fn opposite(verdict: Verdict) -> Verdict {
    match verdict {
        Verdict::Better => Verdict::Worse,
        Verdict::Worse => Verdict::Better,
        other => other,
    }
}

#[test]
fn equal_sides_are_equivalent_and_slower_ones_worse() {
    let same = judged(&pairs(12, 1.0, 2_000, 1));
    assert_eq!(of(&same, P50).verdict, Verdict::Equivalent, "{:?}", of(&same, P50));
    let slower = judged(&pairs(12, 1.1, 2_000, 2));
    for metric in [P50, P99] {
        let found = of(&slower, metric);
        assert_eq!(found.verdict, Verdict::Worse, "{found:?}");
        let ratio = found.ratio.unwrap();
        assert!(ratio.low < 1.1 && 1.1 < ratio.high, "{found:?}");
        let difference = found.difference.unwrap();
        assert!(difference.low > 0.0 && difference.high < 100.0, "{found:?}");
    }
    assert_eq!(slower.metrics[0].metric, P50, "the primary one is first");
}

/// Pairs whose log ratio scatters by `sd` around that of `factor`.
fn scattered(n: u64, factor: f64, sd: f64, random: &mut Random) -> Vec<BlockPair> {
    let mut scatter = || (0..12).map(|_| random.unit()).sum::<f64>() - 6.0;
    let blocks: Vec<_> = (0..n)
        .map(|_| {
            let level = 1e4 * (0.3 * scatter()).exp();
            [level * factor * (sd * scatter()).exp(), level].map(|us| (20, us as u64))
        })
        .collect();
    uneven(&blocks)
}

/// One of ten pairs is 16 % off, which the interval of 95 % includes and that of 90 % does not.
#[test]
fn equivalence_is_shown_with_the_interval_that_decides_it() {
    let rates = [10_010, 9_980, 10_030, 10_005, 9_990, 10_020, 9_985, 10_015, 9_995, 11_600];
    let side =
        |completed| Stretch { elapsed_s: 1.0, sent: completed, completed, ..Stretch::default() };
    let pair = |rate| BlockPair { a: side(rate), b: side(10_000) };
    let comparison = judged(&rates.map(pair));
    let rate = of(&comparison, Metric::Quantity(Quantity::RequestsPerS));
    assert_eq!(rate.verdict, Verdict::Equivalent);
    assert!(rate.ratio.unwrap().high > 1.05, "{rate:?}");
    let decides = rate.deciding_interval(&comparison.settings).unwrap();
    assert_eq!((decides.confidence, decides.estimate.value), (0.9, rate.ratio.unwrap().value));
    assert!(decides.estimate.low > 1.0 / 1.05 && decides.estimate.high < 1.05, "{decides:?}");
    let failures = of(&comparison, Metric::Quantity(Quantity::Failures)).equivalence.unwrap();
    assert_eq!((failures.confidence, failures.margin), (0.9, 0.05 * 0.1));
}

#[test]
fn the_estimated_number_of_blocks_decides_four_of_five_times() {
    let mut random = Random::new(17, 0);
    let (mut decided, mut tried) = ([0, 0], 0);
    while tried < 60 {
        let pilot = judged(&scattered(12, 1.0, 0.11, &mut random));
        let Some(BlocksNeeded::About(needed)) = pilot.blocks_needed_by(&pilot.metrics[0]) else {
            continue;
        };
        tried += 1;
        for (at, factor) in [1.0, 1.05].into_iter().enumerate() {
            let again = judged(&scattered(needed, factor, 0.11, &mut random));
            let verdict = of(&again, P50).verdict;
            decided[at] += usize::from(verdict != Verdict::Inconclusive);
        }
    }
    // The number includes the scatter of the pilot itself.
    assert!(decided.iter().all(|&n| (36..=58).contains(&n)), "{decided:?} of {tried}");
}

/// Blocks in which all exchanges have the same length, given as numbers and microseconds, side A
/// first.
fn uneven(blocks: &[[(u64, u64); 2]]) -> Vec<BlockPair> {
    let side = |(requests, us): (u64, u64)| {
        let mut side = Stretch { elapsed_s: 1.0, sent: requests, ..Stretch::default() };
        (side.completed, side.body_bytes) = (requests, requests);
        (0..requests).for_each(|_| side.phases.response.record(us * 1_000));
        side
    };
    blocks.iter().map(|&[a, b]| BlockPair { a: side(a), b: side(b) }).collect()
}

#[test]
fn shows_side_figures_whose_ratio_equals_the_estimate() {
    // Side A is slower in each pair, but faster over all blocks together: one pair has most of A's
    // exchanges, which are short; another has most of B's, which are long.
    let mut blocks = vec![[(100, 103), (100, 100)]; 10];
    blocks.extend([[(9_000, 52), (100, 50)], [(100, 206), (9_000, 200)]]);
    let found = judged(&uneven(&blocks));
    let median = of(&found, P50);
    let (a, b, ratio) = (median.a.unwrap(), median.b.unwrap(), median.ratio.unwrap().value);
    assert!(ratio > 1.02 && (a / b - ratio).abs() < 1e-9, "{median:?}");
    assert!((b - 100.0).abs() < 2.0, "the level is that of most pairs: {median:?}");
    for compared in found.metrics.iter().filter(|of| of.method == EffectMethod::Blocks) {
        let shown = compared.a.unwrap() / compared.b.unwrap();
        assert!((shown - compared.ratio.unwrap().value).abs() < 1e-9, "{compared:?}");
    }
}

#[test]
fn omits_metrics_without_figures() {
    let names = |pairs: &[BlockPair]| -> Vec<String> {
        judged(pairs).metrics.iter().map(|of| of.metric.to_string()).collect()
    };
    let all = names(&pairs(6, 1.0, 50, 3));
    let response = ["response.p50", "response.p90", "response.p99", "response.p999"];
    assert_eq!(all, [&response[..], &["requests_per_s", "goodput", "failures"]].concat());
    assert!(names(&[]).is_empty());
    assert!(names(&vec![BlockPair::default(); 12]).is_empty());
}

#[test]
fn swapping_the_sides_mirrors_everything() {
    for (factor, n) in [(1.0, 12), (1.1, 12), (0.8, 20), (1.03, 7)] {
        let pairs = pairs(n, factor, 1_500, 4);
        let (one, other) = (judged(&pairs), judged(&mirrored(&pairs)));
        for (a, b) in one.metrics.iter().zip(&other.metrics) {
            assert_eq!(a.verdict, opposite(b.verdict), "{a:?} {b:?}");
            assert_eq!((a.p, a.p_holm), (b.p, b.p_holm));
            let Some((a, b)) = a.ratio.zip(b.ratio) else { continue };
            for (a, b) in [(a.value, b.value), (a.low, b.high), (a.high, b.low)] {
                assert!((a * b - 1.0).abs() < 1e-9, "{a} {b}");
            }
        }
    }
}

#[test]
fn the_order_of_pairs_does_not_change_the_result() {
    let mut pairs = pairs(12, 1.02, 500, 5);
    let one = judged(&pairs);
    pairs.reverse();
    pairs.swap(2, 7);
    let other = judged(&pairs);
    for (a, b) in one.metrics.iter().zip(&other.metrics) {
        assert_eq!((a.p, a.verdict), (b.p, b.verdict), "{a:?} {b:?}");
        if a.method == EffectMethod::Blocks {
            assert_eq!((a.ratio, a.difference), (b.ratio, b.difference));
        }
    }
}

#[test]
fn gives_a_reason_for_too_few_tail_samples_or_too_few_pairs() {
    let found = judged(&pairs(12, 1.2, 500, 6));
    let p999 = of(&found, Metric::Time(TimedPhase::Response, TimePoint::P999));
    assert_eq!((p999.verdict, p999.ratio, p999.p), (Verdict::Inconclusive, None, None));
    assert!(p999.reason.as_ref().unwrap().contains("only 6 samples"), "{p999:?}");
    assert_eq!(p999.effects.len(), 12, "they can be drawn all the same");
    let few = judged(&pairs(5, 1.2, 500, 7));
    let p50 = of(&few, P50);
    assert!(p50.reason.as_ref().unwrap().contains("6 are needed"), "{p50:?}");
}

#[test]
fn tests_the_primary_metric_first_and_others_as_pairs_allow() {
    for (n, allowed) in [(5, 0), (6, 1), (7, 3), (8, 6), (9, 12)] {
        let found = judged(&pairs(n, 1.5, 2_000, 8));
        let candidates = found.metrics.iter().filter(|of| of.p.is_some()).count();
        let tested: Vec<_> = found.metrics.iter().filter(|of| of.p_holm.is_some()).collect();
        assert_eq!(tested.len(), allowed.clamp(1, candidates), "{n} pairs of {candidates}");
        let decided = if allowed > 0 { Verdict::Worse } else { Verdict::Inconclusive };
        assert_eq!(of(&found, P50).verdict, decided, "{n} pairs: {:?}", of(&found, P50));
        let doubts = doubts_of_comparison(&found);
        let few = doubts.iter().find(|doubt| doubt.code() == "too_few_blocks");
        assert_eq!(few.is_some(), allowed < candidates, "{n} pairs: {doubts:?}");
        let untested = found.metrics.iter().filter(|of| of.p.is_some() && of.p_holm.is_none());
        for of in untested.filter(|of| allowed > 0 && of.verdict == Verdict::Inconclusive) {
            assert!(of.reason.as_ref().unwrap().starts_with("not tested: "), "{of:?}");
        }
    }
    let early = doubt_before_comparison(8, &Settings::usual(1)).unwrap().to_string();
    assert!(early.contains("6 metrics only (response.p50 first)"), "{early}");
    assert_eq!(doubt_before_comparison(12, &Settings::usual(1)), None);
}

#[test]
fn judges_failures_even_if_the_sides_are_not_comparable() {
    let mut eight = pairs(8, 1.0, 2_000, 8);
    for pair in &mut eight {
        (pair.a.unaccepted, pair.a.failed) = (pair.a.completed, pair.a.completed);
        let answers = |status: u16| {
            let mut given = TargetAnswers::default();
            given.status.add(status, 2_000);
            Answers::of_all(given)
        };
        (pair.a.answers, pair.b.answers) = (answers(503), answers(200));
    }
    let found = judged(&eight);
    assert!(found.not_same().is_some(), "{:?}", found.sameness);
    let failures = of(&found, Metric::Quantity(Quantity::Failures));
    assert_eq!((failures.a, failures.b), (Some(1.0), Some(0.0)));
    assert_eq!((failures.verdict, failures.p), (Verdict::Worse, failures.p_holm));
    assert!(doubts_of_comparison(&found).is_empty());
}

#[test]
fn finds_no_equivalence_if_a_side_completed_nothing_in_a_block() {
    let mut pairs = pairs(12, 1.0, 2_000, 9);
    pairs[3].a = Stretch { elapsed_s: 1.0, sent: 32, failed: 32, ..Stretch::default() };
    let found = judged(&pairs);
    for metric in [P50, P99, Metric::Quantity(Quantity::RequestsPerS)] {
        let compared = of(&found, metric);
        assert_eq!(compared.verdict, Verdict::Inconclusive, "{compared:?}");
        assert!(compared.reason.as_ref().unwrap().contains("in 1 of the pairs"), "{compared:?}");
        assert_eq!(compared.effects.len(), 11);
    }
}

fn failing(share_a: &[u64], share_b: &[u64]) -> Vec<BlockPair> {
    let side = |failed| Stretch {
        elapsed_s: 1.0,
        sent: 1_000,
        completed: 1_000 - failed,
        failed,
        ..Stretch::default()
    };
    share_a.iter().zip(share_b).map(|(&a, &b)| BlockPair { a: side(a), b: side(b) }).collect()
}

#[test]
fn judges_steady_failures_but_not_a_single_burst() {
    let verdict = |a: &[u64], b: &[u64]| {
        of(&judged(&failing(a, b)), Metric::Quantity(Quantity::Failures)).verdict
    };
    assert_eq!(verdict(&[50; 12], &[10; 12]), Verdict::Worse);
    assert_eq!(verdict(&[10; 12], &[50; 12]), Verdict::Better);
    assert_eq!(verdict(&[0; 12], &[0; 12]), Verdict::Equivalent);
    let mut burst = [0; 12];
    burst[4] = 900;
    // Fisher's test alone would find the strongest evidence possible.
    assert_eq!(verdict(&burst, &[0; 12]), Verdict::Inconclusive);
    let slow: Vec<BlockPair> = failing(&burst, &[0; 12])
        .into_iter()
        .enumerate()
        .map(|(i, mut pair)| {
            pair.b.completed = 3_000 + i as u64;
            pair
        })
        .collect();
    // Nor if side A has fewer exchanges in every block.
    assert_eq!(
        of(&judged(&slow), Metric::Quantity(Quantity::Failures)).verdict,
        Verdict::Inconclusive
    );
    assert_eq!(verdict(&[1_000; 12], &[1_000; 12]), Verdict::Equivalent);
}

#[test]
fn makes_differences_below_the_noise_floor_inconclusive() {
    let noise = judged(&pairs(12, 1.03, 2_000, 10));
    let found = judged(&pairs(12, 1.06, 5_000, 11));
    assert_eq!(of(&found, P50).verdict, Verdict::Worse);
    let with = with_noise(found.clone(), &noise);
    let floor = of(&with, P50).noise_floor.unwrap();
    assert!(floor > 0.03 && floor < 0.06, "{floor}");
    assert_eq!(of(&with, P50).verdict, Verdict::Worse);
    let loud = with_noise(found, &judged(&pairs(12, 0.9, 2_000, 12)));
    assert_eq!(of(&loud, P50).verdict, Verdict::Inconclusive);
    assert!(doubts_of_comparison(&loud).iter().any(|doubt| doubt.code() == "below_noise_floor"));
}

#[test]
fn judges_goodput_also_with_a_correction_for_header_size() {
    assert_eq!(header_ratio(1500), Some(1428.0 / 1448.0));
    assert_eq!((header_ratio(1279), header_ratio(0)), (None, None));
    let mut pairs = pairs(12, 1.0, 2_000, 13);
    for (i, pair) in pairs.iter_mut().enumerate() {
        let around = 1.0 + (i as f64 - 5.5) * 1e-4;
        pair.a.body_bytes = (1e9 * 1428.0 / 1448.0 * around) as u64;
        pair.b.body_bytes = 1_000_000_000;
    }
    let strict = Settings { margin: 0.01, ..Settings::usual(1) };
    let found = compare(("ipv6", "ipv4"), &pairs, 0, &strict);
    assert_eq!(of(&found, Metric::Quantity(Quantity::Goodput)).verdict, Verdict::Worse);
    let found = header_corrected(found, 1428.0 / 1448.0);
    let corrected = of(&found, Metric::Quantity(Quantity::Goodput)).header_corrected.unwrap();
    assert_eq!(corrected.verdict, Verdict::Equivalent);
    assert!((corrected.ratio.value - 1.0).abs() < 1e-3, "{corrected:?}");
}

#[test]
fn a_lower_false_alarm_rate_needs_more_pairs() {
    // Six pairs on one side have p = 2/2^6.
    let pairs = pairs(6, 1.2, 500, 16);
    assert_eq!(of(&judged(&pairs), P50).verdict, Verdict::Worse);
    let strict = Settings { false_alarms: 0.01, ..Settings::usual(1) };
    let found = compare(("ipv6", "ipv4"), &pairs, 0, &strict);
    let few = of(&found, P50);
    assert_eq!((few.verdict, few.p), (Verdict::Inconclusive, Some(0.031_25)));
    assert_eq!(few.reason.as_deref(), Some("too few pairs to show a difference: 8 are needed"));
}

/// The comment of the CI action: three comparisons that share 1 %. docs/ci.md has the count of more of them.
#[test]
fn ci_comments_on_equal_sides_are_rarely_wrong() {
    let comments =
        std::env::var("SIXMARK_COMMENTS").ok().and_then(|n| n.parse().ok()).unwrap_or(30);
    let settings = Settings { false_alarms: 0.01 / 3.0, ..Settings::usual(1) };
    let is_wrong = |seed: u64| {
        let mut random = Random::new(seed, 1);
        // Blocks vary by 14 %, with outliers, beyond what their exchanges do.
        let mut side = || {
            let factor = 1.0 + 0.1 * (random.exponential() - random.exponential());
            stretch(&mut random, factor.max(0.1), 400)
        };
        let pairs: Vec<_> = (0..14).map(|_| BlockPair { a: side(), b: side() }).collect();
        let found = compare(("head", "base"), &pairs, 0, &settings);
        let wrong = [Verdict::Better, Verdict::Worse, Verdict::NotComparable];
        found.metrics.iter().any(|of| wrong.contains(&of.verdict))
    };
    let wrong = (0..comments).filter(|comment| (0..3).any(|part| is_wrong(3 * comment + part)));
    let wrong = wrong.count() as u64;
    println!("{wrong} of {comments} comments with a false verdict");
    // The probability of more is 0.3 % if the rate is what it may be.
    assert!(wrong <= 2 + comments / 50, "{wrong} of {comments}");
}

#[test]
fn splits_the_default_false_alarm_rate_over_metrics_and_responses() {
    let usual = Settings::usual(1);
    assert!((usual.level_of_difference() - 0.05).abs() < 1e-12);
    assert!((usual.level_of_sameness() - 0.01).abs() < 1e-12);
    let json = serde_json::to_string(&usual).unwrap().replace("\"false_alarms\":0.06,", "");
    assert!(!json.contains("false_alarms"), "{json}");
    assert_eq!(serde_json::from_str::<Settings>(&json).unwrap(), usual);
}

#[test]
fn tolerates_invalid_settings() {
    let pairs = pairs(8, 1.1, 200, 14);
    for (margin, confidence, resamples) in [
        (f64::NAN, 0.95, 100),
        (0.05, f64::NAN, 100),
        (0.05, 1.0, 100),
        (0.05, 0.0, 100),
        (-2.0, 0.95, 100),
        (f64::INFINITY, 0.95, 100),
        (0.05, 0.95, 0),
    ] {
        let false_alarms = margin;
        let settings =
            Settings { margin, confidence, false_alarms, resamples, ..Settings::usual(1) };
        let found = compare(("a", "b"), &pairs, 0, &settings);
        assert_eq!(found.metrics.len(), 7, "{margin} {confidence} {resamples}");
    }
}

#[test]
fn a_comparison_survives_a_json_round_trip() {
    let found = judged(&pairs(7, 1.05, 1_200, 15));
    let text = serde_json::to_string(&found).unwrap();
    let read: Comparison = serde_json::from_str(&text).unwrap();
    for (a, b) in read.metrics.iter().zip(&found.metrics) {
        // JSON may lose the last digit of a number.
        assert_eq!((a.metric, a.verdict, &a.reason), (b.metric, b.verdict, &b.reason));
        assert_eq!((a.effects.len(), a.p.is_some()), (b.effects.len(), b.p.is_some()));
    }
}
