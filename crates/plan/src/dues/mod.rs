//! The arrivals of one worker in an open loop: when each is due, and over which family.

mod dealer;
mod numbered;
mod poisson;
mod poisson_variate;

use sixmark_units::family::Family;

use crate::pace::{ArrivalProcess, Curve, OpenLoop};
use crate::plan::Plan;
use numbered::Numbered;
use poisson::Poisson;

pub use poisson::counts_of_worker;

/// One worker's arrivals, in order of time.
///
/// **Constant arrivals** have numbers over all workers, and so have the entries of a timetable. The
/// family of a number is that of the run's [`FamilyMix`], so that each period of the ratio has the
/// ratio exactly. Of each row of as many consecutive numbers as there are agents, each agent takes
/// one, and of its own each of its workers likewise, so that all together are evenly spaced. Which
/// one of a row depends on the seed, within one limit: the arrivals over IPv6 are dealt evenly, so
/// that every agent and every worker has the ratio too. Without that limit an agent that is further
/// from the server than the others would look like a slow family.
///
/// **Poisson arrivals** are a Poisson process of each family, at that family's rate, and the families
/// are independent. The count of each family is a Poisson variate, or exact where the number of
/// requests is given; given the counts, the arrivals of a Poisson process are uniform order
/// statistics in the measure of the rate (Kingman, Poisson Processes, 1993, section 2.4). Workers
/// divide the counts evenly. Where a load has no end, each worker has an independent process with an
/// equal part of the rate, and the family of each arrival is drawn independently (ibid., sections
/// 2.2 and 5.2).
///
/// [`FamilyMix`]: crate::mix::FamilyMix
#[derive(Clone, Debug)]
pub struct Dues {
    curve: Curve,
    piece: usize,
    source: Source,
}

/// Determines the next arrival.
#[derive(Clone, Debug)]
enum Source {
    Numbered(Box<Numbered>),
    Poisson(Box<Poisson>),
}

/// One arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// When it is due, in nanoseconds from the start of the load.
    pub at: u64,
    /// The family over which it is sent.
    pub family: Family,
    /// True if it belongs to the measurement, false if to the warm-up.
    pub measured: bool,
    /// The index of the request to send; `None` if there is no timetable.
    pub request: Option<u32>,
}

impl Dues {
    /// Creates the arrivals of worker number `worker` of the plan, whose pace is `open`. The workers
    /// are divided among `agents` agents; 1 if there is no fleet.
    pub fn new(plan: &Plan, open: &OpenLoop, worker: u32, agents: u32) -> Dues {
        let curve = Curve::new(open, plan.load.warmup);
        let listed = open.timetable.is_some();
        let source = match open.arrivals {
            ArrivalProcess::Poisson if !listed => {
                Source::Poisson(Box::new(Poisson::new(plan, open, worker)))
            }
            _ => Source::Numbered(Box::new(Numbered::new(plan, open, &curve, worker, agents))),
        };
        Dues { curve, piece: 0, source }
    }

    /// Returns true if as many arrivals as the plan asks for have been returned.
    pub fn are_spent(&self) -> bool {
        match &self.source {
            Source::Numbered(numbered) => numbered.is_spent(),
            Source::Poisson(poisson) => poisson.is_spent(),
        }
    }
}

impl Iterator for Dues {
    type Item = Due;

    fn next(&mut self) -> Option<Due> {
        let (amount, family, measured) = match &mut self.source {
            Source::Numbered(numbered) => {
                let (number, family, measured) = numbered.next()?;
                if let Some(table) = numbered.timetable() {
                    let (at, request) = table.get(number)?;
                    return Some(Due { at, family, measured, request: Some(request) });
                }
                (number as f64, family, measured)
            }
            Source::Poisson(poisson) => poisson.next()?,
        };
        let at = self.curve.time_of(amount, &mut self.piece)?;
        Some(Due { at, family, measured, request: None })
    }
}

#[cfg(test)]
mod tests;
