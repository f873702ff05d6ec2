//! The closed loop: whenever a permit is free, an exchange may begin.

use super::{TakenTurn, Turn};
use crate::prepare::PreparedLoad;
use crate::scheduler::schedule::{MOST_OWED, Schedule};

/// The last part of the time of a load, one in so many, but in nanoseconds never more than the one
/// nor less than the other, in which less and less may be owed to a family; in the last part of that,
/// nothing at all, so that the counts are exact when the time is over.
const TAIL: u64 = 8;
const LONGEST_TAIL: u64 = 500_000_000;
const SHORTEST_TAIL: u64 = 200_000_000;
const OWING_NOTHING: u64 = 8;

/// Arrivals that come when a permit does.
#[derive(Debug)]
pub(crate) struct Closed {
    schedule: Schedule,
    warm_up: Schedule,
    measure_from: u64,
    /// When the last part of the time begins.
    tail_from: u64,
    end: u64,
    /// When what is in flight at the end is cut off.
    drained: u64,
}

impl Closed {
    pub(super) fn new(prepared: &PreparedLoad, worker: u32, measure_from: u64, end: u64) -> Closed {
        let schedule = Schedule::measured(prepared, worker);
        let warm_up = Schedule::warm_up(prepared, worker);
        let drained = end.saturating_add(prepared.plan.load.drain.as_nanos() as u64);
        let tail_from = tail_from(measure_from, end);
        Closed { schedule, warm_up, measure_from, tail_from, end, drained }
    }

    pub(super) fn may_begin(&self, now: u64) -> bool {
        let left = now < self.measure_from || !self.schedule.is_over();
        left && now < self.end
    }

    pub(super) fn take<W>(
        &mut self,
        prepared: &PreparedLoad,
        now: u64,
        held: impl Fn(usize) -> bool,
        way: impl FnMut(usize) -> Option<W>,
    ) -> TakenTurn<W> {
        let counted = now >= self.measure_from;
        if now >= self.tail_from {
            self.schedule.owe_at_most(self.ceiling(now));
        }
        let schedule = if counted { &mut self.schedule } else { &mut self.warm_up };
        let (endpoint, way) = schedule.next(prepared, held, way)?;
        Ok((Turn { endpoint, counted, due: None, waited: false, request: 0 }, way))
    }

    /// The most that may be owed to a family at `now`, in the last part of the time.
    fn ceiling(&self, now: u64) -> u64 {
        let tail = self.end - self.tail_from;
        let left = self.end.saturating_sub(now).saturating_sub(tail / OWING_NOTHING);
        MOST_OWED * left / tail.max(1)
    }

    /// See [`Schedule::may_shift`].
    pub(super) fn may_shift(&mut self, now: u64) -> bool {
        let counted = now >= self.measure_from;
        if counted { self.schedule.may_shift() } else { self.warm_up.may_shift() }
    }

    /// So many were asked for that none is drawn any more.
    pub(super) fn is_drawn(&self, now: u64) -> bool {
        now >= self.measure_from && self.schedule.is_drawn()
    }

    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// When to look at the clock for the end, or for the end of the wait after it.
    pub(super) fn closing(&self, now: u64) -> u64 {
        if now < self.end { self.end } else { self.drained }
    }

    /// True from the end of the time on, while what is in flight is waited for.
    pub(super) fn is_draining(&self, now: u64) -> bool {
        now >= self.end && self.drained > self.end
    }

    /// What is in flight at the end of the time, or of the wait after it, is cut off.
    pub(super) fn is_over(&self, now: u64, in_flight: bool) -> bool {
        let drawn = self.schedule.is_over() || now >= self.end;
        now >= self.drained || (drawn && !in_flight)
    }
}

/// When the last part of the time begins; never where there is no end.
fn tail_from(measure_from: u64, end: u64) -> u64 {
    if end == u64::MAX {
        return end;
    }
    let whole = end.saturating_sub(measure_from);
    let tail = (whole / TAIL).clamp(SHORTEST_TAIL, LONGEST_TAIL).min(whole / 2);
    end - tail
}
