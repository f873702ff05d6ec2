//! Constant arrivals and timetables: evenly spaced, at the ratio, on every worker and agent.

use std::time::Duration;

use super::{SECOND, level, of_worker, plan_of};
use crate::dues::*;
use crate::mix::share_of_worker;
use crate::pace::{RateStage, RequestRate, Timetable};
use crate::plan::ratio::PlanRatio;

fn constant(per_s: f64) -> OpenLoop {
    level(per_s, ArrivalProcess::Constant)
}

fn until(dues: Dues, end: u64) -> impl Iterator<Item = Due> {
    dues.take_while(move |due| due.at < end)
}

#[test]
fn times_do_not_drift() {
    const K: u64 = 1_000_000_000;
    let due = |per_s: f64, number: u64| {
        Curve::new(&constant(per_s), Duration::ZERO).time_of(number as f64, &mut 0).unwrap()
    };
    for rate in [1, 3, 7, 200, 999_983, 10_000_000] {
        // In integers: K seconds divided by the rate, rounded.
        let exact = (u128::from(K) * u128::from(SECOND) * 2 + rate) / (2 * rate);
        let error = (due(rate as f64, K) as f64 - exact as f64).abs();
        // The rounding error of 53 bits; at 1/s the time is 31 years.
        assert!(error <= (exact as f64 * 2.3e-16).max(1.0), "{rate}/s: {error} ns");
    }
    assert_eq!(due(10_000_000.0, K), 100 * SECOND);
    assert_eq!(due(0.001, 3), 3_000 * SECOND);
    // A time beyond the range of the clock is never reached; it does not wrap around.
    assert_eq!(due(0.001, K), u64::MAX);
}

#[test]
fn arrivals_of_all_workers_are_evenly_spaced() {
    let plan = plan_of(constant(300.0), [1, 1], 5);
    for (workers, agents) in [(1, 1), (2, 1), (3, 1), (7, 1), (8, 2), (9, 9), (6, 4)] {
        let of = |worker| until(of_worker(&plan, worker, workers, agents), 2 * SECOND);
        let mut all: Vec<u64> = (0..workers).flat_map(of).map(|due| due.at).collect();
        all.sort_unstable();
        assert_eq!(all.len(), 600, "{workers} workers");
        for (k, due) in all.iter().enumerate() {
            assert!(due.abs_diff(k as u64 * SECOND / 300) <= 1);
        }
    }
}

#[test]
fn arrival_count_equals_rate_times_duration() {
    for per_s in [0.1, 1.0, 3.0, 200.0, 1_000.0, 99_991.0] {
        let plan = plan_of(constant(per_s), [1, 1], 0);
        let count = until(of_worker(&plan, 0, 1, 1), 10 * SECOND).count();
        assert_eq!(count as f64, per_s * 10.0, "{per_s}/s");
    }
}

/// How far the IPv6 arrivals of some workers, in order of time, ever are from the ratio.
fn furthest_off(mut dues: Vec<Due>, ratio: PlanRatio) -> f64 {
    dues.sort_unstable_by_key(|due| due.at);
    let share = ratio.v6() as f64 / ratio.sum() as f64;
    let mut v6 = 0.0;
    let off = dues.iter().zip(1u32..).map(|(due, count)| {
        v6 += f64::from(u8::from(due.family == Family::Ipv6));
        f64::abs(v6 - f64::from(count) * share)
    });
    off.fold(0.0, f64::max)
}

/// An agent that is further away must not look like a slow family: before, one of two agents sent
/// 272 over IPv6 and 228 over IPv4.
#[test]
fn every_agent_and_worker_stays_close_to_the_ratio_at_any_time() {
    for [v6, v4] in [[1, 1], [3, 1], [1, 4], [100, 1], [2, 3]] {
        let ratio = PlanRatio::new(v6, v4).unwrap();
        for (workers, agents) in [(2, 2), (4, 2), (8, 2), (9, 3), (5, 1), (16, 1)] {
            for (seed, warmup) in [(1, 0), (2, 0), (3, 1_357)] {
                let mut plan = plan_of(constant(1_000.0), [v6, v4], seed);
                plan.load.warmup = Duration::from_millis(warmup);
                let end = SECOND / 1_000 * (warmup + 10_100);
                let of = |worker| {
                    let all = until(of_worker(&plan, worker, workers, agents), end);
                    all.filter(|due| due.measured).collect::<Vec<_>>()
                };
                let all: Vec<Vec<Due>> = (0..workers).map(of).collect();
                // The whole is off by what a period, or 64 of a long one, allows, and what is out
                // of turn within one row. A part is off by its part of that and by one.
                let whole = furthest_off(all.concat(), ratio);
                assert!(whole <= (ratio.sum() as f64 / 4.0 + 0.5).min(8.0), "{ratio}: {whole}");
                let name = format!("{ratio}, {workers} over {agents}, seed {seed}");
                for agent in all.chunks((workers / agents) as usize) {
                    let off = furthest_off(agent.concat(), ratio);
                    assert!(off <= 2.0 + whole / f64::from(agents), "{name}: an agent {off}");
                }
                for worker in &all {
                    let off = furthest_off(worker.clone(), ratio);
                    assert!(off <= 3.0 + whole / f64::from(workers), "{name}: a worker {off}");
                }
            }
        }
    }
}

/// Any division must yield each arrival once, with the same family.
#[test]
fn schedule_is_the_same_for_any_number_of_workers_and_agents() {
    for requests in [None, Some(777)] {
        let mut plan = plan_of(constant(1_000.0), [3, 2], 9);
        plan.load.requests = requests.and_then(std::num::NonZeroU64::new);
        plan.load.warmup = Duration::from_millis(111);
        let together = |workers, agents| {
            let of = |worker| until(of_worker(&plan, worker, workers, agents), 2 * SECOND);
            let mut all: Vec<Due> = (0..workers).flat_map(of).collect();
            all.sort_unstable_by_key(|due| due.at);
            all
        };
        let one = together(1, 1);
        assert_eq!(
            one.iter().filter(|due| due.measured).count(),
            requests.unwrap_or(1_889) as usize
        );
        for (workers, agents) in [(2, 1), (2, 2), (12, 3), (7, 7), (7, 2), (64, 8), (5, 0)] {
            assert_eq!(together(workers, agents), one, "{workers} over {agents}");
        }
    }
}

#[test]
fn schedules_exactly_the_requested_number_of_requests() {
    for workers in [1, 3, 100] {
        let mut plan = plan_of(constant(100.0), [1, 1], 2);
        plan.load.requests = std::num::NonZeroU64::new(50);
        let mut counts = Vec::new();
        for worker in 0..workers {
            let mut dues = of_worker(&plan, worker, workers, 1);
            counts.push(dues.by_ref().count() as u64);
            assert!(dues.are_spent() && dues.next().is_none());
        }
        let shares = (0..workers.into()).map(|w| share_of_worker(50, workers.into(), w).1);
        assert_eq!(counts.iter().sum::<u64>(), 50);
        assert!(counts.iter().max() <= shares.max().as_ref());
    }
}

#[test]
fn constant_and_poisson_arrivals_share_a_ramp() {
    let stage = RateStage {
        from: RequestRate::ZERO,
        to: RequestRate::new(2_000.0).unwrap(),
        duration: Some(Duration::from_secs(100)),
    };
    for arrivals in [ArrivalProcess::Constant, ArrivalProcess::Poisson] {
        let open = OpenLoop { arrivals, ..OpenLoop::new(vec![stage]).unwrap() };
        let plan = plan_of(open, [1, 1], 5);
        let all: Vec<u64> = of_worker(&plan, 0, 1, 1).map(|due| due.at).collect();
        assert!(all.is_sorted());
        for (until, expected) in [(25, 6_250.0), (50, 25_000.0), (100, 100_000.0f64)] {
            let found = all.iter().filter(|&&due| due < until * SECOND).count() as f64;
            let error =
                if arrivals == ArrivalProcess::Constant { 1.0 } else { 5.0 * expected.sqrt() };
            assert!((found - expected).abs() <= error, "{arrivals} {until} s: {found}");
        }
    }
}

#[test]
fn assigns_each_timetable_entry_to_exactly_one_worker() {
    let entries = (0..1_000u32).map(|k| (u64::from(k) * 7, k % 3)).collect();
    let open = OpenLoop::replay(Timetable::new(entries, 1.0).unwrap());
    let plan = plan_of(open, [1, 1], 5);
    for (workers, agents) in [(1, 1), (2, 1), (3, 1), (7, 1), (8, 4)] {
        let of = |worker| of_worker(&plan, worker, workers, agents);
        let mut all: Vec<Due> = (0..workers).flat_map(of).collect();
        all.sort_unstable_by_key(|due| due.at);
        let entries = all.iter().map(|due| (due.at, due.request));
        assert!(entries.eq((0..1_000).map(|k| (k * 7, Some((k % 3) as u32)))), "{workers}");
        assert_eq!(all.iter().filter(|due| due.family == Family::Ipv6).count(), 500);
    }
}
