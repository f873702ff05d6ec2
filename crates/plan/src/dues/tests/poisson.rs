//! Poisson arrivals: each family is a Poisson process of its own rate, and independent of the other.

use std::ops::Range;
use std::time::Duration;

use super::{
    FAR, SECOND, arrivals, gaps, kolmogorov, level, moments, of_worker, plan_of, seconds_of,
    variation,
};
use crate::dues::*;
use crate::mix::FamilyMix;
use crate::pace::{RateStage, RequestRate};
use crate::plan::ratio::PlanRatio;

const RATE: f64 = 1_000.0;
const RATIOS: [[u32; 2]; 5] = [[1, 1], [3, 1], [1, 3], [100, 1], [3, 2]];
/// Some of the workers, and all: one thread, several, an agent of a fleet, a whole fleet.
const PLACES: [(Range<u32>, u32); 5] = [(0..1, 1), (0..2, 2), (0..7, 7), (2..4, 8), (0..8, 8)];

fn poisson() -> OpenLoop {
    level(RATE, ArrivalProcess::Poisson)
}

/// The rate of a family on some of the workers.
fn rate_of(family: Family, ratio: PlanRatio, (some, all): &(Range<u32>, u32)) -> f64 {
    let part = if family == Family::Ipv6 { ratio.v6() } else { ratio.v4() };
    RATE * part as f64 / ratio.sum() as f64 * some.len() as f64 / f64::from(*all)
}

/// How times of a Poisson process of this rate up to `end` do not look like one.
fn doubts(times: &[f64], per_s: f64, end_s: f64) -> Vec<String> {
    let (n, expected) = (times.len() as f64, per_s * end_s);
    let mut doubts = Vec::new();
    let mut hold = |holds: bool, what: String| doubts.extend((!holds).then_some(what));
    hold((n - expected).abs() < 4.0 * expected.sqrt(), format!("{n} of {expected}"));
    let gaps = gaps(times);
    let spread = variation(&gaps);
    hold((spread - 1.0).abs() < 4.0 / n.sqrt(), format!("gaps vary by {spread}"));
    let far = kolmogorov(&gaps, |gap| 1.0 - (-per_s * gap).exp());
    hold(far < FAR, format!("gaps are off by {far}"));
    // One gap says nothing of the next.
    let [mean, variance] = moments(&gaps);
    let together = gaps.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean));
    let correlation = together.sum::<f64>() / variance / n;
    hold(correlation.abs() < 4.0 / n.sqrt(), format!("gaps correlate by {correlation}"));
    for per_window in [1.0, 5.0, 20.0] {
        let windows = (expected / per_window) as usize;
        let counts = counts(times, per_window / per_s, windows);
        let [mean, variance] = moments(&counts);
        let error = 4.0 * (2.0 / windows as f64 + 1.0 / (windows as f64 * per_window)).sqrt();
        let dispersion = variance / mean;
        hold((dispersion - 1.0).abs() < error, format!("dispersion {dispersion} of {per_window}"));
    }
    doubts
}

/// How many of the times are in each window of `length` seconds.
fn counts(times: &[f64], length: f64, windows: usize) -> Vec<f64> {
    let mut counts = vec![0.0; windows];
    for time in times {
        if let Some(count) = counts.get_mut((time / length) as usize) {
            *count += 1.0;
        }
    }
    counts
}

/// The correlation of the counts of both families in windows.
fn correlation(one: &[f64], other: &[f64]) -> f64 {
    let ([one_mean, one_variance], [mean, variance]) = (moments(one), moments(other));
    let products = one.iter().zip(other).map(|(a, b)| (a - one_mean) * (b - mean));
    products.sum::<f64>() / (one_variance * variance).sqrt() / (one.len() - 1) as f64
}

#[test]
fn each_family_is_a_poisson_process_in_total_and_on_every_agent() {
    // A load without an end, and one whose counts workers divide.
    for (ratio, ends) in RATIOS.into_iter().flat_map(|ratio| [(ratio, false), (ratio, true)]) {
        let mut plan = plan_of(poisson(), ratio, 11);
        plan.load.duration = ends.then(|| Duration::from_secs(200));
        for place in &PLACES {
            let end_s = 200.0;
            let all = arrivals(&plan, place.0.clone(), place.1, (end_s * 1e9) as u64);
            let by_family = Family::BOTH.map(|family| seconds_of(family, &all));
            for (family, times) in Family::BOTH.into_iter().zip(&by_family) {
                let doubts = doubts(times, rate_of(family, plan.ratio, place), end_s);
                assert!(doubts.is_empty(), "{family} at {}, {place:?}: {doubts:?}", plan.ratio);
            }
            for length in [0.002, 0.02, 0.2] {
                let windows = (end_s / length) as usize;
                let [one, other] = by_family.each_ref().map(|all| counts(all, length, windows));
                let found = correlation(&one, &other);
                let most = 4.0 / (windows as f64).sqrt();
                assert!(found.abs() < most, "{} {place:?} {length} s: {found}", plan.ratio);
            }
        }
    }
}

/// The test above is able to fail: with the ratio exact in every period, as constant arrivals have
/// it, the gaps vary by 0.79 at 1:1 and by 0.64 of the rarer family at 3:1, and the families go
/// together.
#[test]
fn poisson_checks_reject_a_ratio_that_is_exact_in_each_period() {
    for (ratio, varies) in [([1, 1], 0.79), ([3, 1], 0.64)] {
        let plan = plan_of(poisson(), ratio, 11);
        let mut all = arrivals(&plan, 0..1, 1, 200 * SECOND);
        let mut mix = FamilyMix::new(plan.ratio, 5, None);
        all.iter_mut().for_each(|due| due.family = mix.draw());
        let times = seconds_of(Family::Ipv4, &all);
        let per_s = rate_of(Family::Ipv4, plan.ratio, &(0..1, 1));
        assert!((variation(&gaps(&times)) - varies).abs() < 0.01);
        assert!(doubts(&times, per_s, 200.0).len() >= 4);
        let [one, other] = Family::BOTH.map(|f| counts(&seconds_of(f, &all), 0.2, 1_000));
        assert!(correlation(&one, &other) > 0.9);
    }
}

#[test]
fn each_family_is_a_poisson_process_in_ramps_and_steps() {
    let rate = |per_s| RequestRate::new(per_s).unwrap();
    let duration = Some(Duration::from_secs(100));
    let ramp = vec![RateStage { from: rate(100.0), to: rate(900.0), duration }];
    let steps = vec![
        RateStage::level(rate(50.0), Duration::from_secs(100)),
        RateStage::level(rate(0.0), Duration::from_secs(10)),
        RateStage::level(rate(450.0), Duration::from_secs(100)),
    ];
    for (stages, total) in [(ramp, 50_000.0), (steps, 50_000.0)] {
        let open = OpenLoop::new(stages).unwrap();
        let open = OpenLoop { arrivals: ArrivalProcess::Poisson, ..open };
        let mut plan = plan_of(open.clone(), [3, 1], 2);
        plan.load.warmup = Duration::from_secs(3);
        let all = arrivals(&plan, 0..3, 3, u64::MAX);
        for (family, part) in [(Family::Ipv6, 0.75), (Family::Ipv4, 0.25)] {
            let times = seconds_of(family, &all);
            // In the measure of the rate, the process is one of the rate 1.
            let of_rate: Vec<f64> = times.iter().map(|&time| amount(&open, time - 3.0)).collect();
            let doubts = doubts(&of_rate, part, total);
            assert!(doubts.is_empty(), "{open} {family}: {doubts:?}");
        }
    }
}

/// How many arrivals the rate predicts up to a time.
pub(super) fn amount(open: &OpenLoop, mut time: f64) -> f64 {
    let mut amount = 0.0;
    for stage in &open.stages {
        let lasts = stage.duration.map_or(f64::INFINITY, |duration| duration.as_secs_f64());
        let (from, to, part) = (stage.from.per_s(), stage.to.per_s(), time.clamp(0.0, lasts));
        amount += from * part + (to - from) * part * part / (2.0 * lasts);
        time -= lasts;
    }
    amount
}

/// Both sides of a pair of a comparison have the same seed, and so the same times, whichever family
/// each of them uses.
#[test]
fn the_times_do_not_depend_on_the_ratio() {
    for (requests, lasts) in [(None, None), (Some(1_000), None), (None, Some(1))] {
        let of = |ratio| {
            let mut plan = plan_of(poisson(), ratio, 7);
            plan.load.duration = lasts.map(Duration::from_secs);
            plan.load.requests = requests.and_then(std::num::NonZeroU64::new);
            plan.load.warmup = Duration::from_millis(500);
            let all = arrivals(&plan, 0..3, 3, SECOND);
            all.iter().map(|due| due.at).collect::<Vec<_>>()
        };
        let one = of([1, 0]);
        assert!(one.len() > 300);
        assert_eq!(of([0, 1]), one);
        if lasts.is_none() {
            assert_eq!((of([1, 1]), of([100, 1])), (one.clone(), one));
        }
    }
}

/// An agent that is further away must not have more of one family, and the counts of all agents
/// together must vary as those of a Poisson process do.
#[test]
fn agents_share_a_load_evenly_and_total_counts_are_poisson_variates() {
    let mut of_family = [Vec::new(), Vec::new()];
    for seed in 0..2_000 {
        let mut plan = plan_of(poisson(), [3, 1], seed);
        plan.load.duration = Some(Duration::from_millis(100));
        let agents = [0..2, 2..4].map(|some| arrivals(&plan, some, 4, u64::MAX));
        for (family, counts) in Family::BOTH.into_iter().zip(&mut of_family) {
            let each = agents.each_ref().map(|agent| seconds_of(family, agent).len());
            assert!(each[0].abs_diff(each[1]) <= 1, "seed {seed}: {each:?}");
            counts.push((each[0] + each[1]) as f64);
        }
    }
    for (counts, expected) in of_family.iter().zip([75.0, 25.0]) {
        let [mean, variance] = moments(counts);
        assert!((mean - expected).abs() < 4.0 * (expected / 2_000.0f64).sqrt(), "{mean}");
        assert!((variance / expected - 1.0).abs() < 4.0 * (2.0f64 / 2_000.0).sqrt(), "{variance}");
    }
    let [one, other] = &of_family;
    assert!(correlation(one, other).abs() < 4.0 / 2_000.0f64.sqrt());
}

#[test]
fn arrivals_repeat_for_a_seed_and_differ_between_workers() {
    let first = |seed, worker| {
        let plan = plan_of(poisson(), [1, 1], seed);
        of_worker(&plan, worker, 2, 1).take(20).collect::<Vec<_>>()
    };
    assert_eq!(first(9, 0), first(9, 0));
    assert_ne!(first(9, 0), first(9, 1));
    assert_ne!(first(9, 0), first(10, 0));
    let families = |seed, worker| first(seed, worker).iter().map(|d| d.family).collect::<Vec<_>>();
    assert_ne!(families(9, 0), families(9, 1));
}
