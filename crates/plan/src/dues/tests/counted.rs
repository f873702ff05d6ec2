//! A given number of Poisson arrivals: exact counts, at times that are uniform in the measure of the
//! rate.

use std::num::NonZeroU64;
use std::time::Duration;

use super::poisson::amount;
use super::{FAR, arrivals, gaps, kolmogorov, level, of_worker, plan_of, seconds_of, variation};
use crate::dues::*;
use crate::pace::{RateStage, RequestRate};

fn rate(per_s: f64) -> RequestRate {
    RequestRate::new(per_s).unwrap()
}

fn stages(stages: Vec<RateStage>) -> OpenLoop {
    OpenLoop { arrivals: ArrivalProcess::Poisson, ..OpenLoop::new(stages).unwrap() }
}

fn counted(open: OpenLoop, ratio: [u32; 2], seed: u64, requests: u64) -> Plan {
    let mut plan = plan_of(open, ratio, seed);
    plan.load.requests = NonZeroU64::new(requests);
    plan
}

fn count(family: Family, dues: &[Due]) -> u64 {
    dues.iter().filter(|due| due.family == family).count() as u64
}

#[test]
fn splits_a_fixed_number_of_requests_exactly_by_the_ratio() {
    for (v6, v4, total, expected) in [
        (4, 1, 10_000, 8_000),
        (1, 1, 9_999, 5_000),
        (2, 1, 10_000, 6_667),
        (100, 1, 101, 100),
        (100, 1, 10, 10),
        (1, 1_000_000, 600_000, 1),
        (1, 0, 7, 7),
        (0, 1, 7, 0),
        (1, 1, 1, 1),
    ] {
        for workers in [1, 2, 7, 64] {
            for (seed, warmup) in [(0, 0), (1, 250)] {
                let mut plan =
                    counted(level(500.0, ArrivalProcess::Poisson), [v6, v4], seed, total);
                plan.load.warmup = Duration::from_millis(warmup);
                let all = arrivals(&plan, 0..workers, workers, u64::MAX);
                let found = (count(Family::Ipv6, &all), count(Family::Ipv4, &all));
                assert_eq!(found, (expected, total - expected), "{v6}:{v4} over {workers}");
            }
        }
    }
}

#[test]
fn every_agent_stays_within_two_requests_of_the_ratio() {
    for seed in 0..50 {
        let plan = counted(level(500.0, ArrivalProcess::Poisson), [3, 1], seed, 1_003);
        for (workers, agents) in [(8, 2), (9, 3), (5, 5)] {
            let of_each = workers / agents;
            for agent in 0..agents {
                let some = agent * of_each..(agent + 1) * of_each;
                let all = arrivals(&plan, some, workers, u64::MAX);
                let [v6, v4] = Family::BOTH.map(|family| count(family, &all) as f64);
                assert!((v6 - 0.75 * (v6 + v4)).abs() <= 2.0, "seed {seed}: {v6} {v4}");
            }
        }
    }
}

#[test]
fn distributes_arrivals_as_uniform_draws_weighted_by_the_rate() {
    let minute = Some(Duration::from_secs(60));
    let ramp = stages(vec![RateStage { from: rate(0.0), to: rate(1_000.0), duration: minute }]);
    let steps = stages(vec![
        RateStage::level(rate(100.0), Duration::from_secs(100)),
        RateStage::level(rate(900.0), Duration::from_secs(100)),
    ]);
    let level = level(1_000.0, ArrivalProcess::Poisson);
    for (open, total) in [(level, 20_000.0), (ramp, 30_000.0), (steps, 20_000.0)] {
        for (ratio, workers) in [([1, 1], 1), ([3, 1], 3), ([100, 1], 2)] {
            let plan = counted(open.clone(), ratio, 4, total as u64);
            let all = arrivals(&plan, 0..workers, workers, u64::MAX);
            for family in Family::BOTH {
                let times = seconds_of(family, &all);
                let amounts: Vec<f64> = times.iter().map(|&time| amount(&open, time)).collect();
                let far = kolmogorov(&amounts, |amount| amount / total);
                assert!(far < FAR, "{open} {family} at {}: {far}", plan.ratio);
                let (spread, n) = (variation(&gaps(&amounts)), times.len() as f64);
                assert!((spread - 1.0).abs() < 4.0 / n.sqrt(), "{open} {family}: {spread}");
            }
        }
    }
}

/// An order is drawn as a whole: neither begins a family earlier nor do periods show.
#[test]
fn every_order_of_the_families_is_equally_likely() {
    let mut orders = std::collections::BTreeMap::new();
    for seed in 0..12_000 {
        let plan = counted(level(500.0, ArrivalProcess::Poisson), [1, 1], seed, 4);
        let all = of_worker(&plan, 0, 1, 1).map(|due| due.family == Family::Ipv6);
        *orders.entry(all.collect::<Vec<_>>()).or_insert(0u32) += 1;
    }
    assert_eq!(orders.len(), 6);
    // 2,000 each; five standard deviations.
    assert!(orders.values().all(|count| count.abs_diff(2_000) < 205), "{orders:?}");
}

#[test]
fn leaves_requests_unsent_if_the_stages_end_too_early() {
    let short = stages(vec![RateStage::level(rate(100.0), Duration::from_secs(1))]);
    let plan = counted(short, [1, 1], 3, 1_000);
    let mut dues = of_worker(&plan, 0, 1, 1);
    let sent = dues.by_ref().count();
    assert!((60..140).contains(&sent), "{sent}");
    assert!(!dues.are_spent());
    let plan = counted(level(100.0, ArrivalProcess::Poisson), [1, 1], 3, 1_000);
    let mut dues = of_worker(&plan, 0, 1, 1);
    let last = dues.by_ref().last().unwrap();
    assert!(dues.are_spent() && last.at < 10_000_000_000, "{last:?}");
}
