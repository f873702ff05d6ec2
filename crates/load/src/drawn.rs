//! How many exchanges each endpoint and each request gets where the plan gives their number and
//! their order is drawn: with Poisson arrivals.

use sixmark_plan::dues::counts_of_worker;
use sixmark_plan::mix::divide_by_weights;
use sixmark_plan::pace::{ArrivalProcess, Pace};
use sixmark_units::family::{Family, PerFamily};
use sixmark_units::random::Random;

use super::prepare::PreparedLoad;

/// Separates these random numbers from others with the same seed.
const COUNTS: u64 = 0x636f_756e_0000_0001;

/// Returns true if arrivals are a Poisson process.
pub(super) fn is_poisson(prepared: &PreparedLoad) -> bool {
    let pace = &prepared.plan.load.pace;
    matches!(pace, Pace::Open(open) if open.arrivals == ArrivalProcess::Poisson)
}

/// Returns how many measured exchanges of worker number `worker` go to each endpoint of a family, in
/// the family's order. `None` if the plan does not give the number of exchanges.
pub(super) fn counts_of_endpoints(
    prepared: &PreparedLoad,
    worker: u32,
) -> Option<PerFamily<Vec<u64>>> {
    let plan = &prepared.plan;
    let of_worker = counts_of_worker(plan, plan.load.requests?, worker);
    let counts = |family: Family| {
        let endpoints = prepared.of_family[family].iter();
        let weights: Vec<f64> = endpoints.map(|&(_, weight)| weight).collect();
        let stream = u64::from(worker) << 1 | family as u64;
        divide_by_weights(of_worker[family], &weights, &mut Random::new(plan.seed ^ COUNTS, stream))
    };
    Some(PerFamily::from_fn(counts))
}
