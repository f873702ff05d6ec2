//! Which endpoint a worker's next exchange goes to, and whether there is a next one.

use sixmark_core::family::{Family, PerFamily};
use sixmark_core::mix::{Deal, Mix, share};

use super::prepare::Prepared;

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
        let workers = u64::from(load.threads.get());
        let stretch = |total: u64| share(total, workers, worker.into());
        match load.requests {
            Some(total) => {
                let (position, count) = stretch(total.get());
                Schedule::at(prepared, position, Some(count))
            }
            // Without a total, workers begin evenly spaced within one period of the ratio.
            None => Schedule::at(prepared, stretch(prepared.plan.ratio.sum()).0, None),
        }
    }

    /// The warm-up's, which never ends by itself.
    pub(super) fn warm_up(prepared: &Prepared, worker: u32) -> Schedule {
        Schedule::at(prepared, worker.into(), None)
    }

    fn at(prepared: &Prepared, position: u64, left: Option<u64>) -> Schedule {
        let deal = |family: Family| {
            let weights: Vec<f64> = prepared.of_family[family].iter().map(|&(_, w)| w).collect();
            // Workers begin at different addresses, so that they don't march in step.
            let turns = prepared.plan.seed.wrapping_add(position) % weights.len().max(1) as u64;
            Deal::new(&weights, turns)
        };
        let mix = Mix::at(prepared.plan.ratio, position);
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
