//! What arrivals mean for a server: the wait in a queue of each family's own.

use super::{arrivals, level, plan_of, seconds_of};
use crate::dues::*;
use crate::mix::FamilyMix;
use crate::plan::ratio::PlanRatio;
use sixmark_units::random::Random;

const RATE: f64 = 1_000.0;
/// The share of time in which the server of a queue is busy.
const BUSY: f64 = 0.7;

/// Returns the mean time from arrival to the start of service, where one server takes exponentially
/// distributed times with the mean 1 / `per_s` (Lindley's recursion).
fn mean_wait(arrivals: &[f64], per_s: f64, seed: u64) -> f64 {
    let mut random = Random::new(seed, 0);
    let (mut free_at, mut waits) = (0.0f64, 0.0);
    for &arrival in arrivals {
        let start = free_at.max(arrival);
        waits += start - arrival;
        free_at = start + random.exponential() / per_s;
    }
    waits / arrivals.len() as f64
}

/// Returns the mean wait of each family in a queue of its own, relative to that of an M/M/1 queue:
/// rho / (mu - lambda).
fn relative_waits(dues: &[Due], ratio: PlanRatio) -> [f64; 2] {
    Family::BOTH.map(|family| {
        let part = if family == Family::Ipv6 { ratio.v6() } else { ratio.v4() };
        let arrive = RATE * part as f64 / ratio.sum() as f64;
        let serve = arrive / BUSY;
        mean_wait(&seconds_of(family, dues), serve, 77) / (BUSY / (serve - arrive))
    })
}

/// With half a million arrivals of the rarer family, the standard error is 1.1 %.
#[test]
fn mean_wait_of_each_family_matches_queueing_theory() {
    for (ratio, total) in [([1, 1], 1_000_000), ([3, 1], 2_000_000)] {
        for workers in [1, 4] {
            let plan = plan_of(level(RATE, ArrivalProcess::Poisson), ratio, 21);
            let end = (f64::from(total) / RATE * 1e9) as u64;
            let all = arrivals(&plan, 0..workers, workers, end);
            for wait in relative_waits(&all, plan.ratio) {
                assert!((wait - 1.0).abs() < 0.04, "{} over {workers}: {wait}", plan.ratio);
            }
            // What is wrong with a ratio that is exact in each period.
            let mut exact = all;
            let mut mix = FamilyMix::new(plan.ratio, 3, None);
            exact.iter_mut().for_each(|due| due.family = mix.draw());
            let [v6, v4] = relative_waits(&exact, plan.ratio);
            assert!(v6 < 0.95 && v4 < 0.85, "{}: {v6} {v4}", plan.ratio);
        }
    }
}
