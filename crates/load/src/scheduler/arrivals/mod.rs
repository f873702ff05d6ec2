//! When a worker's exchanges may begin, and where each goes.

mod closed;
mod open;

use sixmark_record::pace::Pace;
use sixmark_units::family::Family;

use crate::prepare::PreparedLoad;
use closed::Closed;
use open::Open;

/// Says what may begin now and when to look again.
#[derive(Debug)]
pub(crate) enum Arrivals {
    Closed(Box<Closed>),
    Open(Box<Open>),
}

/// One exchange whose turn it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    pub(crate) endpoint: usize,
    /// It belongs to the measurement, not to the warm-up.
    pub(crate) counted: bool,
    /// When it was to begin; in a closed loop it begins when it can.
    pub(crate) due: Option<u64>,
    /// It had to wait for a permit.
    pub(crate) waited: bool,
    /// The number of the request that it sends: a timetable's, else the first one's, until a mix says
    /// otherwise.
    pub(crate) request: u32,
}

/// The exchange that begins and its way, or the endpoint to which there is none just now.
pub(crate) type TakenTurn<W> = Result<(Turn, W), usize>;

impl Arrivals {
    /// Those of worker number `worker`, whose load begins, is measured and ends at these times.
    pub(crate) fn new(prepared: &PreparedLoad, worker: u32, times: [u64; 3]) -> Arrivals {
        let [_, measure_from, end] = times;
        match &prepared.plan.load.pace {
            Pace::Closed => {
                Arrivals::Closed(Box::new(Closed::new(prepared, worker, measure_from, end)))
            }
            Pace::Open(open) => Arrivals::Open(Box::new(Open::new(prepared, open, worker, times))),
        }
    }

    /// True where the clock says when to begin: then it matters what time it is exactly.
    pub(crate) fn are_timed(&self) -> bool {
        matches!(self, Arrivals::Open(_))
    }

    /// True where an exchange may begin at `now`, a permit being free.
    pub(crate) fn may_begin(&self, now: u64) -> bool {
        match self {
            Arrivals::Closed(closed) => closed.may_begin(now),
            Arrivals::Open(open) => open.may_begin(now),
        }
    }

    /// The exchange that begins at `now`, on one of the ways to its endpoint that `way` knows; to be
    /// called only where one may. In a closed loop nothing is made up for with those that are `held`; in
    /// an open one nothing ever is.
    pub(crate) fn take<W>(
        &mut self,
        prepared: &PreparedLoad,
        now: u64,
        held: impl Fn(usize) -> bool,
        way: impl FnMut(usize) -> Option<W>,
    ) -> TakenTurn<W> {
        match self {
            Arrivals::Closed(closed) => closed.take(prepared, now, held, way),
            Arrivals::Open(open) => open.take(prepared, way),
        }
    }

    /// True where, at `now`, an idle connection is of no more use.
    pub(crate) fn is_drawn(&self, now: u64) -> bool {
        match self {
            Arrivals::Closed(closed) => closed.is_drawn(now),
            Arrivals::Open(open) => open.is_drawn(),
        }
    }

    /// True where what a response leads to may still begin at `now`.
    pub(crate) fn may_follow(&self, now: u64) -> bool {
        match self {
            Arrivals::Closed(closed) => now < closed.end(),
            // What is in flight is waited for, and so is what becomes of it.
            Arrivals::Open(_) => true,
        }
    }

    /// When to ask again whether an exchange may begin, a permit being free; none where not before
    /// something else happens.
    pub(crate) fn look(&self, now: u64) -> Option<u64> {
        match self {
            Arrivals::Closed(closed) => closed.may_begin(now).then_some(now),
            Arrivals::Open(open) => open.look(now),
        }
    }

    /// When the time for beginning anything ends.
    pub(crate) fn closing(&self, now: u64) -> Option<u64> {
        match self {
            Arrivals::Closed(closed) => Some(closed.closing(now)),
            Arrivals::Open(open) => open.closing(now),
        }
    }

    /// No permit is free at `now`, before it is dealt with what has happened by then. Tells of each
    /// measured arrival that is dropped.
    pub(crate) fn all_taken(&mut self, now: u64, dropped: impl FnMut(Family)) {
        if let Arrivals::Open(open) = self {
            open.all_taken(now, dropped);
        }
    }

    /// True where at `now` an idle connection may make room for another one to where there are some. In
    /// an open loop only what is due and has waited for long says so.
    pub(crate) fn may_shift(&mut self, now: u64) -> bool {
        match self {
            Arrivals::Closed(closed) => closed.may_shift(now),
            Arrivals::Open(_) => false,
        }
    }

    /// The one that is due and has no way has to wait for one.
    pub(crate) fn wait(&mut self) {
        if let Arrivals::Open(open) = self {
            open.wait();
        }
    }

    /// Leaves out the one that is due and has no way, where such ones are left out: true where it was.
    pub(crate) fn drop_held(&mut self, dropped: impl FnMut(Family)) -> bool {
        match self {
            Arrivals::Closed(_) => false,
            Arrivals::Open(open) => open.drop_held(dropped),
        }
    }

    /// Does what is to be done by the clock.
    pub(crate) fn keep_time(&mut self, now: u64) {
        if let Arrivals::Open(open) = self {
            open.keep_time(now);
        }
    }

    /// Tells of each measured arrival that fell due before `until` and did not begin: the last call.
    pub(crate) fn leave_rest(&mut self, until: u64, unsent: impl FnMut(Family)) {
        if let Arrivals::Open(open) = self {
            open.leave_rest(until, unsent);
        }
    }

    /// True where the time of a closed loop is over and what is in flight is waited for.
    pub(crate) fn is_draining(&self, now: u64) -> bool {
        matches!(self, Arrivals::Closed(closed) if closed.is_draining(now))
    }

    /// True where the worker has done what it was to do.
    pub(crate) fn is_over(&self, now: u64, in_flight: bool) -> bool {
        match self {
            Arrivals::Closed(closed) => closed.is_over(now, in_flight),
            Arrivals::Open(open) => open.is_over(now, in_flight),
        }
    }

    /// When a load that was over at `now`, its last exchange having ended at `last_end`, was over.
    pub(crate) fn ended_at(&self, now: u64, last_end: u64) -> u64 {
        match self {
            Arrivals::Closed(closed) if closed.is_draining(now) => closed.end(),
            Arrivals::Closed(closed) if now >= closed.end() => now,
            Arrivals::Open(open) if !open.is_exhausted() => last_end.max(open.end()),
            _ => last_end,
        }
    }
}
