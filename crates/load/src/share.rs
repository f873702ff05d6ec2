//! The part of a load that runs here. The workers of a load have numbers, by which connections,
//! requests, arrivals and random numbers are divided exactly; those of a fleet are spread over its
//! agents.

use std::ops::Range;
use std::sync::mpsc::{Receiver, Sender};

use sixmark_plan::plan::Plan;

/// The workers of a load that run in this process.
#[derive(Debug)]
pub struct LoadShare {
    /// The numbers of these workers, among the plan's `load.threads`.
    pub workers: Range<u32>,
    /// The number of agents among which the plan's workers are divided; 1 if there is no fleet. All
    /// of them must be given the same.
    pub agents: u32,
    /// Delivers the time at which they begin, on the clock of `sixmark_sys::clock::now`. If the
    /// sender is dropped, nothing begins. `None`: they begin as soon as all are ready.
    pub begin: Option<Receiver<u64>>,
    /// Is told when all workers are ready to begin. `None`: nobody wants to know.
    pub ready: Option<Sender<()>>,
    /// Whether each slice contains all counts so far ([`Slice::whole`]).
    ///
    /// [`Slice::whole`]: sixmark_tally::tally::Slice::whole
    pub whole: bool,
}

impl LoadShare {
    /// Returns the share that is the whole load.
    pub fn all(plan: &Plan) -> LoadShare {
        let workers = 0..plan.load.threads.get();
        LoadShare { workers, agents: 1, begin: None, ready: None, whole: false }
    }

    /// Returns the number of workers.
    pub(crate) fn number(&self) -> u32 {
        self.workers.end.saturating_sub(self.workers.start)
    }
}
