//! The endpoint of a family's next exchange.

use sixmark_plan::mix::{Deal, Turns, WeightedDraw};
use sixmark_units::family::{Family, PerFamily};
use sixmark_units::random::Random;

use crate::drawn::{counts_of_endpoints, is_poisson};
use crate::prepare::PreparedLoad;

/// Separates these random numbers from others with the same seed.
const ENDPOINTS: u64 = 0x656e_6470_0000_0001;

/// Selects the endpoints of each family in proportion to their weights.
#[derive(Debug)]
pub(crate) struct EndpointOrder {
    turns: PerFamily<Turns>,
}

impl EndpointOrder {
    /// Creates the order of worker number `worker`, in the measurement if `counted`, else in the
    /// warm-up.
    pub(crate) fn new(prepared: &PreparedLoad, worker: u32, counted: bool) -> EndpointOrder {
        let weights = |family: Family| -> Vec<f64> {
            prepared.of_family[family].iter().map(|&(_, weight)| weight).collect()
        };
        let turns = PerFamily::from_fn(|family| {
            if is_poisson(prepared) {
                Turns::Drawn(drawn(prepared, worker, counted, family, &weights(family)))
            } else {
                Turns::Dealt(dealt(prepared, worker, family, &weights(family)))
            }
        });
        EndpointOrder { turns }
    }

    /// Returns the number of the next endpoint of `family`.
    pub(crate) fn next(&mut self, prepared: &PreparedLoad, family: Family) -> usize {
        prepared.of_family[family][self.turns[family].draw()].0
    }
}

fn dealt(prepared: &PreparedLoad, worker: u32, family: Family, weights: &[f64]) -> Deal {
    let plan = &prepared.plan;
    let shift = f64::from(worker) / f64::from(plan.load.threads.get());
    Deal::new(weights, plan.seed, family as u64, shift)
}

fn drawn(
    prepared: &PreparedLoad,
    worker: u32,
    counted: bool,
    family: Family,
    weights: &[f64],
) -> WeightedDraw {
    let stream = u64::from(worker) << 2 | u64::from(counted) << 1 | family as u64;
    let draw = WeightedDraw::new(weights, Random::new(prepared.plan.seed ^ ENDPOINTS, stream));
    let counts = if counted { counts_of_endpoints(prepared, worker) } else { None };
    match counts {
        Some(counts) => draw.with_counts(&counts[family]),
        None => draw,
    }
}
