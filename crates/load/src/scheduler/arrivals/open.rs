//! The open loop: exchanges start when they are due, whatever the server does.
//!
//! Exchanges that could not start in time need no queue: the next due time is then in the past.

use sixmark_plan::dues::{Due, Dues};
use sixmark_plan::pace::{self, Overload};
use sixmark_units::family::Family;

use super::{ScheduledExchange, TakenExchange};
use crate::LATE_NS;
use crate::prepare::PreparedLoad;
use crate::scheduler::LoadTimes;
use crate::scheduler::endpoint_order::EndpointOrder;

/// The time of an arrival that never comes.
const NEVER: u64 = u64::MAX;
/// A wait longer than this, in nanoseconds, is split into two. The kernel may wake a thousandth of
/// the wait too late (select_estimate_accuracy); the short second wait corrects that.
const LONG_NS: u64 = 1_000_000;

/// Arrivals of an open loop.
#[derive(Debug)]
pub(crate) struct Open {
    dues: Dues,
    /// The next arrival, and when it is due on the driver's clock.
    due: Option<Due>,
    next: u64,
    endpoints: EndpointOrder,
    warm_up: EndpointOrder,
    begin: u64,
    measure_from: u64,
    end: u64,
    spin: u64,
    drops: bool,
    /// Arrivals due until this time had to wait for a concurrency slot.
    full_until: u64,
    /// The exchange that is due and has no connection, and its family.
    held: Option<(ScheduledExchange, Family)>,
    /// True after the end, when nothing more starts.
    shut: bool,
}

impl Open {
    pub(super) fn new(
        prepared: &PreparedLoad,
        open: &pace::OpenLoop,
        worker: u32,
        times: LoadTimes,
    ) -> Open {
        let mut arrivals = Open {
            dues: Dues::new(&prepared.plan, open, worker, prepared.agents),
            due: None,
            next: times.begin,
            endpoints: EndpointOrder::new(prepared, worker, true),
            warm_up: EndpointOrder::new(prepared, worker, false),
            begin: times.begin,
            measure_from: times.measure_from,
            end: times.end,
            spin: open.spin.as_nanos().try_into().unwrap_or(u64::MAX),
            drops: open.overload == Overload::Drop,
            full_until: 0,
            held: None,
            shut: false,
        };
        arrivals.turn_to_next();
        arrivals
    }

    fn turn_to_next(&mut self) {
        self.due = self.dues.next();
        self.next = self.due.map_or(NEVER, |due| self.begin.saturating_add(due.at));
    }

    pub(super) fn may_begin(&self, now: u64) -> bool {
        (self.next <= now && self.pending()) || self.holds()
    }

    /// Returns true if an exchange that is due waits for a connection.
    fn holds(&self) -> bool {
        self.held.is_some() && !self.shut
    }

    /// Returns true if there is a next arrival before the end.
    fn pending(&self) -> bool {
        self.next < self.end && !self.shut && !self.is_exhausted()
    }

    /// Returns the exchange that is due. Order is kept: no other goes before it.
    pub(super) fn take<W>(
        &mut self,
        prepared: &PreparedLoad,
        mut way: impl FnMut(usize) -> Option<W>,
    ) -> TakenExchange<W> {
        let Some((scheduled, family)) = self.held.take().or_else(|| self.take_due(prepared)) else {
            // There is always a next one where this is called.
            return Err(0);
        };
        match way(scheduled.endpoint) {
            Some(way) => Ok((scheduled, way)),
            None => {
                self.held = Some((scheduled, family));
                Err(scheduled.endpoint)
            }
        }
    }

    fn take_due(&mut self, prepared: &PreparedLoad) -> Option<(ScheduledExchange, Family)> {
        let Due { family, measured: counted, request, .. } = self.due?;
        let endpoints = if counted { &mut self.endpoints } else { &mut self.warm_up };
        let (due, endpoint) = (self.next, endpoints.next(prepared, family));
        self.turn_to_next();
        let (was_queued, request) = (due <= self.full_until, request.unwrap_or(0));
        Some((ScheduledExchange { endpoint, counted, due: Some(due), was_queued, request }, family))
    }

    /// Removes the next arrival due before `until`, which does not start. Returns its family and
    /// when it was due, or `Some(None)` if it is not measured, and `None` if there is no such
    /// arrival.
    fn leave_out(&mut self, until: u64) -> Option<Option<(Family, u64)>> {
        if let Some((scheduled, family)) = self.held.take() {
            return Some(self.measured(&scheduled, family));
        }
        if self.next >= until.min(self.end) || self.is_exhausted() {
            return None;
        }
        let (due, at) = (self.due?, self.next);
        self.turn_to_next();
        Some(due.measured.then_some((due.family, at)))
    }

    /// Returns the family of an exchange that does not start and when it was due, if it is
    /// measured.
    fn measured(&self, scheduled: &ScheduledExchange, family: Family) -> Option<(Family, u64)> {
        scheduled.counted.then_some((family, scheduled.due.unwrap_or(self.measure_from)))
    }

    /// Marks the exchange that has no connection as waiting.
    pub(super) fn wait(&mut self) {
        if let Some((scheduled, _)) = &mut self.held {
            scheduled.was_queued = true;
        }
    }

    /// Drops the exchange that has no connection, if the plan drops such ones.
    pub(super) fn drop_held(&mut self, mut dropped: impl FnMut(Family, u64)) -> bool {
        let held = if self.drops { self.held.take() } else { None };
        let measured = held.and_then(|(scheduled, family)| self.measured(&scheduled, family));
        measured.into_iter().for_each(|(family, due)| dropped(family, due));
        held.is_some()
    }

    /// Handles that no concurrency slot, or no connection for the next exchange, was free until
    /// `now`: what is due by then has to wait or is dropped.
    pub(super) fn all_taken(&mut self, now: u64, mut dropped: impl FnMut(Family, u64)) {
        self.full_until = now;
        while self.drops
            && !self.shut
            && let Some(left_out) = self.leave_out(now.saturating_add(1))
        {
            left_out.into_iter().for_each(|(family, due)| dropped(family, due));
        }
        self.shut |= now >= self.end;
    }

    /// Ends the load. Exchanges that were due just before the end may still start within the time
    /// by which the generator itself may be late.
    pub(super) fn keep_time(&mut self, now: u64) {
        self.shut |= now >= self.end.saturating_add(LATE_NS);
    }

    /// Removes the arrivals that were due before `until` and did not start.
    pub(super) fn leave_rest(&mut self, until: u64, mut unsent: impl FnMut(Family, u64)) {
        while let Some(left_out) = self.leave_out(until) {
            left_out.into_iter().for_each(|(family, due)| unsent(family, due));
        }
    }

    /// Returns when to check whether an exchange is due.
    pub(super) fn look(&self, now: u64) -> Option<u64> {
        if self.holds() {
            return Some(now);
        }
        self.pending().then(|| approach(now, self.next.saturating_sub(self.spin)))
    }

    /// Returns when something other than an arrival is to be done.
    pub(super) fn closing(&self, now: u64) -> Option<u64> {
        let end = if now < self.end { self.end } else { self.end.saturating_add(LATE_NS) };
        (!self.shut).then_some(end)
    }

    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// Returns true if no more exchanges will be due and none waits.
    pub(super) fn is_drawn(&self) -> bool {
        (self.is_exhausted() || self.shut) && !self.holds()
    }

    /// Returns true if as many exchanges as the plan asks for have started or been dropped.
    pub(super) fn is_exhausted(&self) -> bool {
        self.due.is_none() && self.dues.are_spent()
    }

    /// Returns true if the worker is done. Exchanges in flight at the end are awaited.
    pub(super) fn is_over(&self, now: u64, in_flight: bool) -> bool {
        let over = self.is_exhausted() || (now >= self.end && !self.pending());
        over && !self.holds() && !in_flight
    }
}

/// Returns when to wake for something that is due at `due`.
fn approach(now: u64, due: u64) -> u64 {
    match due.saturating_sub(now) {
        left if left > LONG_NS => due - left / 512,
        _ => due,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_a_long_wait_in_two() {
        assert_eq!(approach(5, 4), 4);
        assert_eq!(approach(5, 5 + LONG_NS), 5 + LONG_NS);
        let long = 5 + 512 * LONG_NS;
        let first = approach(5, long);
        // The first wait ends earlier by more than the thousandth that the kernel may be late; the
        // second is short.
        assert_eq!((first, approach(first, long)), (long - LONG_NS, long));
    }
}
