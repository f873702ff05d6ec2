//! When the exchanges of a worker may start, and where each goes.

mod closed;
mod open;

use sixmark_plan::pace::Pace;
use sixmark_units::family::Family;

use crate::prepare::PreparedLoad;
use crate::scheduler::LoadTimes;
use closed::Closed;
use open::Open;

/// Decides what may start now, and when to check again.
#[derive(Debug)]
pub(crate) enum Arrivals {
    Closed(Box<Closed>),
    Open(Box<Open>),
}

/// An exchange that is to start next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScheduledExchange {
    pub(crate) endpoint: usize,
    /// True if it belongs to the measurement, false if to the warm-up.
    pub(crate) counted: bool,
    /// The time at which it is due. `None` in a closed loop.
    pub(crate) due: Option<u64>,
    /// True if it had to wait for a concurrency slot or a connection.
    pub(crate) was_queued: bool,
    /// The number of its request: given by the timetable, or else 0 until a mix chooses.
    pub(crate) request: u32,
}

/// The exchange that starts and its way, or the endpoint for which there is no way now.
pub(crate) type TakenExchange<W> = Result<(ScheduledExchange, W), usize>;

impl Arrivals {
    /// Creates the arrivals of worker number `worker`.
    pub(crate) fn new(prepared: &PreparedLoad, worker: u32, times: LoadTimes) -> Arrivals {
        match &prepared.plan.load.pace {
            Pace::Closed => Arrivals::Closed(Box::new(Closed::new(prepared, worker, times))),
            Pace::Open(open) => Arrivals::Open(Box::new(Open::new(prepared, open, worker, times))),
        }
    }

    /// Returns true for an open loop, where exchanges start at exact times.
    pub(crate) fn are_timed(&self) -> bool {
        matches!(self, Arrivals::Open(_))
    }

    /// Returns true if an exchange may start at `now`, given that a concurrency slot is free.
    pub(crate) fn may_begin(&self, now: u64) -> bool {
        match self {
            Arrivals::Closed(closed) => closed.may_begin(now),
            Arrivals::Open(open) => open.may_begin(now),
        }
    }

    /// Returns the exchange that starts at `now`, and the way to its endpoint, which `way` looks
    /// up. Must be called only if an exchange may start. In a closed loop, no exchanges of a
    /// deficit go to endpoints that are `held`; an open loop has no deficits.
    pub(crate) fn take<W>(
        &mut self,
        prepared: &PreparedLoad,
        now: u64,
        held: impl Fn(usize) -> bool,
        way: impl FnMut(usize) -> Option<W>,
    ) -> TakenExchange<W> {
        match self {
            Arrivals::Closed(closed) => closed.take(prepared, now, held, way),
            Arrivals::Open(open) => open.take(prepared, way),
        }
    }

    /// Returns true if idle connections are of no more use at `now`.
    pub(crate) fn is_drawn(&self, now: u64) -> bool {
        match self {
            Arrivals::Closed(closed) => closed.is_drawn(now),
            Arrivals::Open(open) => open.is_drawn(),
        }
    }

    /// Returns true if the target of a redirect may still be requested at `now`.
    pub(crate) fn may_follow(&self, now: u64) -> bool {
        match self {
            Arrivals::Closed(closed) => now < closed.end(),
            // Exchanges in flight are awaited, including those that follow from redirects.
            Arrivals::Open(_) => true,
        }
    }

    /// Returns when to check again whether an exchange may start, given that a concurrency slot is
    /// free. `None` if not before another event.
    pub(crate) fn look(&self, now: u64) -> Option<u64> {
        match self {
            Arrivals::Closed(closed) => closed.may_begin(now).then_some(now),
            Arrivals::Open(open) => open.look(now),
        }
    }

    /// Returns when exchanges can no longer start.
    pub(crate) fn closing(&self, now: u64) -> Option<u64> {
        match self {
            Arrivals::Closed(closed) => Some(closed.closing(now)),
            Arrivals::Open(open) => open.closing(now),
        }
    }

    /// Handles that no concurrency slot was free until `now`, before the events up to then are
    /// processed. Calls `dropped` for each measured arrival that is dropped, with the time at which
    /// it was due.
    pub(crate) fn all_taken(&mut self, now: u64, dropped: impl FnMut(Family, u64)) {
        if let Arrivals::Open(open) = self {
            open.all_taken(now, dropped);
        }
    }

    /// Returns true if, at `now`, an idle connection may be closed in favour of another one to an
    /// endpoint that already has some. Always false in an open loop, where the wait of the exchange
    /// that is due decides.
    pub(crate) fn may_shift(&mut self, now: u64) -> bool {
        match self {
            Arrivals::Closed(closed) => closed.may_shift(now),
            Arrivals::Open(_) => false,
        }
    }

    /// Marks the exchange that is due and has no connection as waiting.
    pub(crate) fn wait(&mut self) {
        if let Arrivals::Open(open) = self {
            open.wait();
        }
    }

    /// Drops the exchange that is due and has no connection, if the plan drops such ones. Returns
    /// true if it did.
    pub(crate) fn drop_held(&mut self, dropped: impl FnMut(Family, u64)) -> bool {
        match self {
            Arrivals::Closed(_) => false,
            Arrivals::Open(open) => open.drop_held(dropped),
        }
    }

    /// Does what is due by the clock.
    pub(crate) fn keep_time(&mut self, now: u64) {
        if let Arrivals::Open(open) = self {
            open.keep_time(now);
        }
    }

    /// Calls `unsent` for each measured arrival that was due before `until` and did not start. This
    /// is the last call.
    pub(crate) fn leave_rest(&mut self, until: u64, unsent: impl FnMut(Family, u64)) {
        if let Arrivals::Open(open) = self {
            open.leave_rest(until, unsent);
        }
    }

    /// Returns true if the duration of a closed loop is over and exchanges in flight are awaited.
    pub(crate) fn is_draining(&self, now: u64) -> bool {
        matches!(self, Arrivals::Closed(closed) if closed.is_draining(now))
    }

    /// Returns true if the worker is done.
    pub(crate) fn is_over(&self, now: u64, in_flight: bool) -> bool {
        match self {
            Arrivals::Closed(closed) => closed.is_over(now, in_flight),
            Arrivals::Open(open) => open.is_over(now, in_flight),
        }
    }

    /// Returns when the load ended, given that it was over at `now` and its last exchange ended at
    /// `last_end`.
    pub(crate) fn ended_at(&self, now: u64, last_end: u64) -> u64 {
        match self {
            Arrivals::Closed(closed) if closed.is_draining(now) => closed.end(),
            Arrivals::Closed(closed) if now >= closed.end() => now,
            Arrivals::Open(open) if !open.is_exhausted() => last_end.max(open.end()),
            _ => last_end,
        }
    }
}
