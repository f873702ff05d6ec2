//! The closed loop: an exchange may start whenever a concurrency slot is free.

use super::{ScheduledExchange, TakenExchange};
use crate::prepare::PreparedLoad;
use crate::scheduler::LoadTimes;
use crate::scheduler::schedule::{MOST_DEFICIT, Schedule};

/// Near the end of the load, the deficit of a family may be less and less. This part lasts 1/`TAIL`
/// of the measurement, at least `SHORTEST_TAIL` and at most `LONGEST_TAIL` nanoseconds, but never
/// more than half of the measurement. In its last 1/`WITHOUT_DEFICIT`, there may be none, so that
/// the counts are exact at the end.
const TAIL: u64 = 8;
const LONGEST_TAIL: u64 = 500_000_000;
const SHORTEST_TAIL: u64 = 200_000_000;
const WITHOUT_DEFICIT: u64 = 8;

/// Arrivals of a closed loop.
#[derive(Debug)]
pub(crate) struct Closed {
    schedule: Schedule,
    warm_up: Schedule,
    measure_from: u64,
    /// The time from which on the deficit of a family may be less.
    tail_from: u64,
    end: u64,
    /// The time at which the exchanges still in flight are cut off.
    drained: u64,
}

impl Closed {
    pub(super) fn new(prepared: &PreparedLoad, worker: u32, times: LoadTimes) -> Closed {
        let LoadTimes { measure_from, end, .. } = times;
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
    ) -> TakenExchange<W> {
        let counted = now >= self.measure_from;
        if now >= self.tail_from {
            self.schedule.limit_deficit(self.ceiling(now));
        }
        let schedule = if counted { &mut self.schedule } else { &mut self.warm_up };
        let (endpoint, way) = schedule.next(prepared, held, way)?;
        Ok((ScheduledExchange { endpoint, counted, due: None, was_queued: false, request: 0 }, way))
    }

    /// Returns the maximum deficit of a family at `now`, near the end.
    fn ceiling(&self, now: u64) -> u64 {
        let tail = self.end - self.tail_from;
        let left = self.end.saturating_sub(now).saturating_sub(tail / WITHOUT_DEFICIT);
        MOST_DEFICIT * left / tail.max(1)
    }

    /// See [`Schedule::may_shift`].
    pub(super) fn may_shift(&mut self, now: u64) -> bool {
        let counted = now >= self.measure_from;
        if counted { self.schedule.may_shift() } else { self.warm_up.may_shift() }
    }

    /// Returns true if as many exchanges as the plan asks for have been drawn.
    pub(super) fn is_drawn(&self, now: u64) -> bool {
        now >= self.measure_from && self.schedule.is_drawn()
    }

    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// Returns the next time at which the clock must be checked: the end of the load, or the end of
    /// the drain after it.
    pub(super) fn closing(&self, now: u64) -> u64 {
        if now < self.end { self.end } else { self.drained }
    }

    /// Returns true after the end of the load, while exchanges in flight are awaited.
    pub(super) fn is_draining(&self, now: u64) -> bool {
        now >= self.end && self.drained > self.end
    }

    /// Returns true if the worker is done. Exchanges still in flight at the end of the load, or of
    /// the drain after it, are cut off.
    pub(super) fn is_over(&self, now: u64, in_flight: bool) -> bool {
        let drawn = self.schedule.is_over() || now >= self.end;
        now >= self.drained || (drawn && !in_flight)
    }
}

/// Returns when the last part of the load begins; never if the load has no end.
fn tail_from(measure_from: u64, end: u64) -> u64 {
    if end == u64::MAX {
        return end;
    }
    let whole = end.saturating_sub(measure_from);
    let tail = (whole / TAIL).clamp(SHORTEST_TAIL, LONGEST_TAIL).min(whole / 2);
    end - tail
}
