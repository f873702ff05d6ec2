//! When a worker's exchanges may begin, and where each goes.

mod closed;

use super::prepare::Prepared;
use closed::Closed;

/// Says what may begin now and when to look again.
#[derive(Debug)]
pub(super) enum Arrivals {
    Closed(Closed),
}

/// One exchange whose turn it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    pub(super) endpoint: usize,
    /// It belongs to the measurement, not to the warm-up.
    pub(super) counted: bool,
}

impl Arrivals {
    /// Those of worker number `worker`, whose measurement goes from `measure_from` to `end`.
    pub(super) fn new(prepared: &Prepared, worker: u32, measure_from: u64, end: u64) -> Arrivals {
        Arrivals::Closed(Closed::new(prepared, worker, measure_from, end))
    }

    /// True where an exchange may begin at `now`, a place being free.
    pub(super) fn may_begin(&self, now: u64) -> bool {
        match self {
            Arrivals::Closed(closed) => closed.may_begin(now),
        }
    }

    /// The exchange that begins at `now`; to be called only where one may.
    pub(super) fn take(&mut self, prepared: &Prepared, now: u64) -> Turn {
        match self {
            Arrivals::Closed(closed) => closed.take(prepared, now),
        }
    }

    /// True where the worker has done what it was to do.
    pub(super) fn is_over(&self, now: u64, in_flight: bool) -> bool {
        match self {
            Arrivals::Closed(closed) => closed.is_over(now, in_flight),
        }
    }
}
