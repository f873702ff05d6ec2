//! Plans for the tests of arrivals, and what statistics say of them.

mod constant;
mod counted;
mod poisson;
mod queue;

use std::num::NonZeroU32;
use std::time::Duration;

use super::*;
use crate::fixture;
use crate::pace::{Pace, RateStage, RequestRate};
use crate::plan::ratio::PlanRatio;

const SECOND: u64 = 1_000_000_000;

/// An open loop of a constant rate without an end.
fn level(per_s: f64, arrivals: ArrivalProcess) -> OpenLoop {
    let stage = RateStage::endless(RequestRate::new(per_s).unwrap());
    OpenLoop { arrivals, ..OpenLoop::new(vec![stage]).unwrap() }
}

/// A plan of this pace at this ratio, without a number of requests, a duration or a warm-up.
fn plan_of(open: OpenLoop, ratio: [u32; 2], seed: u64) -> Plan {
    let mut plan = fixture::plan();
    plan.ratio = PlanRatio::new(ratio[0], ratio[1]).unwrap();
    plan.seed = seed;
    (plan.load.requests, plan.load.duration) = (None, None);
    plan.load.warmup = Duration::ZERO;
    plan.load.pace = Pace::Open(open);
    plan
}

/// The arrivals of one of so many workers, divided among so many agents.
fn of_worker(plan: &Plan, worker: u32, workers: u32, agents: u32) -> Dues {
    let mut plan = plan.clone();
    plan.load.threads = NonZeroU32::new(workers).unwrap();
    Dues::new(&plan, plan.load.pace.open().unwrap(), worker, agents)
}

/// The measured arrivals of some of so many workers before `end`, in order of time.
fn arrivals(plan: &Plan, some: std::ops::Range<u32>, workers: u32, end: u64) -> Vec<Due> {
    let of = |worker| of_worker(plan, worker, workers, 1).take_while(|due| due.at < end);
    let mut all: Vec<Due> = some.flat_map(of).filter(|due| due.measured).collect();
    all.sort_unstable_by_key(|due| due.at);
    all
}

/// The seconds at which those of a family are due.
fn seconds_of(family: Family, dues: &[Due]) -> Vec<f64> {
    dues.iter().filter(|due| due.family == family).map(|due| due.at as f64 / 1e9).collect()
}

/// The gaps between times, with that before the first.
fn gaps(times: &[f64]) -> Vec<f64> {
    let before = std::iter::once(&0.0).chain(times);
    times.iter().zip(before).map(|(time, before)| time - before).collect()
}

/// Mean and variance.
fn moments(values: &[f64]) -> [f64; 2] {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    [mean, squares / (values.len() - 1) as f64]
}

/// The coefficient of variation.
fn variation(values: &[f64]) -> f64 {
    let [mean, variance] = moments(values);
    variance.sqrt() / mean
}

/// How far values may be off by [`kolmogorov`]: one case of 8,000 is further.
const FAR: f64 = 2.2;

/// The statistic of Kolmogorov and Smirnov, times the square root of the number of values.
fn kolmogorov(values: &[f64], distribution: impl Fn(f64) -> f64) -> f64 {
    let mut values: Vec<f64> = values.iter().copied().map(distribution).collect();
    values.sort_unstable_by(f64::total_cmp);
    let n = values.len() as f64;
    let off = values.iter().zip(0u32..).map(|(value, before)| {
        let [low, high] = [f64::from(before) / n, f64::from(before + 1) / n];
        (value - low).max(high - value)
    });
    off.fold(0.0, f64::max) * n.sqrt()
}
