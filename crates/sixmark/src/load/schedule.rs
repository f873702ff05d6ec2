//! Which endpoint a worker's next exchange goes to, and whether there is a next one.

use std::num::NonZeroU64;

use sixmark_core::family::{Family, PerFamily};
use sixmark_core::mix::{Deal, Mix, share};
use sixmark_core::pace::Random;

use super::prepare::Prepared;

/// Tell the schedules apart that come of one seed: those of the warm-up, and of workers that share no
/// numbers.
const WARM_UP: u64 = 0x7761_726d_0000_0000;
const LONE: u64 = 0x6c6f_6e65_0000_0000;

/// One worker's part of the run's schedule.
#[derive(Debug)]
pub(super) struct Schedule {
    mix: Mix,
    deals: PerFamily<Deal>,
    /// Exchanges still to begin; no end where absent.
    left: Option<u64>,
}

impl Schedule {
    /// The measured part of worker number `worker`.
    pub(super) fn measured(prepared: &Prepared, worker: u32) -> Schedule {
        let load = &prepared.plan.load;
        let Some(total) = load.requests.map(NonZeroU64::get) else {
            // Nobody knows how far each worker will come: each has a schedule of its own.
            return Schedule::alone(prepared, worker, LONE);
        };
        let (position, count) = share(total, load.threads.get().into(), worker.into());
        let mix = Mix::new(prepared.plan.ratio, prepared.plan.seed, Some(total));
        Schedule::of(prepared, worker, mix.starting_at(position), Some(count))
    }

    /// The warm-up's, which never ends by itself.
    pub(super) fn warm_up(prepared: &Prepared, worker: u32) -> Schedule {
        Schedule::alone(prepared, worker, WARM_UP)
    }

    fn alone(prepared: &Prepared, worker: u32, stream: u64) -> Schedule {
        let seed = Random::new(prepared.plan.seed, stream + u64::from(worker)).bits();
        Schedule::of(prepared, worker, Mix::new(prepared.plan.ratio, seed, None), None)
    }

    fn of(prepared: &Prepared, worker: u32, mix: Mix, left: Option<u64>) -> Schedule {
        let plan = &prepared.plan;
        let deal = |family: Family| {
            let weights: Vec<f64> = prepared.of_family[family].iter().map(|&(_, w)| w).collect();
            let shift = f64::from(worker) / f64::from(plan.load.threads.get());
            Deal::new(&weights, plan.seed, family as u64, shift)
        };
        Schedule { mix, deals: PerFamily::from_fn(deal), left }
    }

    /// True where nothing is left to begin.
    pub(super) fn is_over(&self) -> bool {
        self.left == Some(0)
    }

    /// The number of the endpoint of the next exchange; not to be called when the schedule is over.
    pub(super) fn draw(&mut self, prepared: &Prepared) -> usize {
        let family = self.leave_out();
        self.endpoint(prepared, family)
    }

    /// The number of the next endpoint of a family that was not drawn here.
    pub(super) fn endpoint(&mut self, prepared: &Prepared, family: Family) -> usize {
        prepared.of_family[family][self.deals[family].draw()].0
    }

    /// The family of the next exchange, which is not to be.
    pub(super) fn leave_out(&mut self) -> Family {
        self.left = self.left.map(|left| left.saturating_sub(1));
        self.mix.draw()
    }
}
