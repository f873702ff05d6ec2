//! Arrivals that have numbers over all workers: constant ones, and those of a timetable.

use std::num::NonZeroU64;
use std::sync::Arc;

use sixmark_units::family::Family;

use super::dealer::{Dealer, NumberedFamily};
use crate::mix::FamilyMix;
use crate::pace::{Curve, OpenLoop, Timetable};
use crate::plan::Plan;

/// The seed of the warm-up's families differs from that of the measurement by this.
const WARM_UP: u64 = 0x7761_726d_0000_0001;

/// The numbers that one worker takes, with their families.
#[derive(Clone, Debug)]
pub(super) struct Numbered {
    table: Option<Arc<Timetable>>,
    /// The numbers of the first measured arrival and of the first one after the measurement.
    first: u64,
    last: u64,
    /// `None` when the warm-up is over.
    warm_up: Option<WorkerNumbers>,
    measured: WorkerNumbers,
    spent: bool,
}

impl Numbered {
    pub(super) fn new(
        plan: &Plan,
        open: &OpenLoop,
        curve: &Curve,
        worker: u32,
        agents: u32,
    ) -> Numbered {
        let load = &plan.load;
        let entries = open.timetable.as_ref().map(|table| table.entries());
        let asked = load.requests.map(NonZeroU64::get);
        let about = open.first_rate().per_s() * load.warmup.as_secs_f64();
        let first = first_at(curve, load.warmup.as_nanos() as u64, about);
        let place = WorkerPlace { worker, workers: load.threads.get(), agents };
        let numbers = |seed, total, first| {
            let mix = FamilyMix::new(plan.ratio, seed, total);
            WorkerNumbers::new(mix, place, seed, first)
        };
        Numbered {
            table: open.timetable.clone(),
            first,
            last: asked.map_or(u64::MAX, |total| first.saturating_add(total)),
            warm_up: (first > 0).then(|| numbers(plan.seed ^ WARM_UP, None, 0)),
            measured: numbers(plan.seed, asked.or(entries), first),
            spent: false,
        }
    }

    pub(super) fn is_spent(&self) -> bool {
        self.spent
    }

    pub(super) fn timetable(&self) -> Option<&Timetable> {
        self.table.as_deref()
    }

    /// Returns the next number, its family, and whether it is measured.
    pub(super) fn next(&mut self) -> Option<(u64, Family, bool)> {
        if let Some(warm_up) = &mut self.warm_up {
            let (number, family) = warm_up.next();
            if number < self.first {
                return Some((number, family, false));
            }
            // The rows of the measurement begin with its first number.
            self.warm_up = None;
        }
        let (number, family) = self.measured.next();
        self.spent |= number >= self.last;
        (!self.spent).then_some((number, family, true))
    }
}

/// A worker, and how all of them are divided.
#[derive(Clone, Copy, Debug)]
struct WorkerPlace {
    worker: u32,
    workers: u32,
    agents: u32,
}

impl WorkerPlace {
    /// Returns the number of agents among which arrivals are divided before each divides its own
    /// among its workers. If agents have different numbers of workers, arrivals are divided among
    /// all workers at once.
    fn agents(self) -> u32 {
        match self.agents {
            agents if agents > 0 && self.workers.is_multiple_of(agents) => agents,
            _ => 1,
        }
    }
}

/// Consecutive numbers with their families, of which one worker takes its part.
#[derive(Clone, Debug)]
struct WorkerNumbers {
    mix: FamilyMix,
    /// The first number, and the next one that is not divided yet.
    first: u64,
    next: u64,
    /// The division among agents, and that of an agent's arrivals among its workers.
    agents: Dealer,
    workers: Dealer,
}

impl WorkerNumbers {
    fn new(mix: FamilyMix, place: WorkerPlace, seed: u64, first: u64) -> WorkerNumbers {
        let agents = place.agents();
        let of_each = place.workers / agents;
        let (agent, worker) = (place.worker / of_each, place.worker % of_each);
        WorkerNumbers {
            mix,
            first,
            next: first,
            agents: Dealer::new(agents, agent, seed, 0),
            workers: Dealer::new(of_each, worker, seed, 1 + u64::from(agent)),
        }
    }

    fn next(&mut self) -> NumberedFamily {
        let WorkerNumbers { mix, first, next, agents, workers } = self;
        let mut undivided = || {
            let number = *next;
            *next = number.saturating_add(1);
            (number, mix.family_at(number - *first))
        };
        workers.take(|| agents.take(&mut undivided))
    }
}

/// Returns the number of the first constant arrival that is due at `time` or later. `about` is an
/// estimate of it, from the rate before `time`, where the search starts.
fn first_at(curve: &Curve, time: u64, about: f64) -> u64 {
    let due = |number: u64| curve.time_of(number as f64, &mut 0).unwrap_or(u64::MAX);
    let mut number = about as u64;
    while number > 0 && due(number - 1) >= time {
        number -= 1;
    }
    while due(number) < time {
        number += 1;
    }
    number
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::pace::{RateStage, RequestRate};

    #[test]
    fn finds_the_first_arrival_after_the_warm_up() {
        for (per_s, warmup, expected) in
            [(10.0, 3_000, 30), (10.0, 2_950, 30), (0.1, 3_000, 1), (3.0, 333, 1), (5.0, 0, 0)]
        {
            let rate = RequestRate::new(per_s).unwrap();
            let open = OpenLoop::new(vec![RateStage::endless(rate)]).unwrap();
            let warmup = Duration::from_millis(warmup);
            let curve = Curve::new(&open, warmup);
            let about = per_s * warmup.as_secs_f64();
            assert_eq!(first_at(&curve, warmup.as_nanos() as u64, about), expected, "{per_s}");
        }
    }
}
