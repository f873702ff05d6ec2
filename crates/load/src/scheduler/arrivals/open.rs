//! The open loop: exchanges begin when they are due, whatever the server does.
//!
//! What could not begin in time needs no queue: the next due time then lies in the past.

use std::num::NonZeroU64;

use sixmark_record::mix::FamilyMix;
use sixmark_record::pace::{self, ArrivalProcess, Curve, Dues, Overload, first_at};
use sixmark_record::plan::Plan;
use sixmark_units::family::Family;

use super::{TakenTurn, Turn};
use crate::LATE;
use crate::prepare::PreparedLoad;
use crate::scheduler::schedule::Schedule;

/// No arrival.
const NEVER: u64 = u64::MAX;
/// A wait that is longer is made in two, in nanoseconds: the kernel rounds up by a thousandth of a
/// wait (select_estimate_accuracy), and a short second one brings it back in time.
const LONG: u64 = 1_000_000;

/// Arrivals at times of their own.
#[derive(Debug)]
pub(crate) struct Open {
    dues: Dues,
    /// When the next one is due, on the driver's clock, and its number where it has one.
    next: u64,
    number: Option<u64>,
    /// The request that it sends, where a timetable says so.
    request: Option<u32>,
    /// The run's one schedule of families, of those arrivals that have numbers.
    mix: FamilyMix,
    /// The numbers of the first that is measured and the first after.
    first: u64,
    last: u64,
    schedule: Schedule,
    warm_up: Schedule,
    begin: u64,
    measure_from: u64,
    end: u64,
    spin: u64,
    drops: bool,
    /// What was due by then had to wait for a permit.
    full_until: u64,
    /// The one that was due and found no connection, and its family.
    held: Option<(Turn, Family)>,
    /// Past the end, and nothing more begins.
    shut: bool,
}

impl Open {
    pub(super) fn new(
        prepared: &PreparedLoad,
        open: &pace::OpenLoop,
        worker: u32,
        [begin, measure_from, end]: [u64; 3],
    ) -> Open {
        let plan = &prepared.plan;
        let curve = Curve::new(open, plan.load.warmup);
        let [first, last] = measured_dues(plan, open, &curve);
        let schedule = match open.arrivals {
            // Only the endpoints come from it: the run's one schedule has the families.
            ArrivalProcess::Constant => Schedule::warm_up(prepared, worker),
            ArrivalProcess::Poisson => Schedule::measured(prepared, worker),
        };
        let (workers, seed) = (plan.load.threads.get(), plan.seed);
        let mut arrivals = Open {
            mix: FamilyMix::new(plan.ratio, seed, measured_total(plan, open)),
            first,
            last,
            schedule,
            dues: Dues::new(open, curve, seed, worker, workers),
            next: begin,
            number: None,
            request: None,
            warm_up: Schedule::warm_up(prepared, worker),
            begin,
            measure_from,
            end,
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
        let due = self.dues.next();
        self.next = due.map_or(NEVER, |due| self.begin.saturating_add(due.at));
        self.number = due.and_then(|due| due.number);
        self.request = due.and_then(|due| due.request);
    }

    pub(super) fn may_begin(&self, now: u64) -> bool {
        (self.next <= now && self.pending()) || self.holds()
    }

    /// One that was due still waits for a connection.
    fn holds(&self) -> bool {
        self.held.is_some() && !self.shut
    }

    /// There is a next one in the time of the run.
    fn pending(&self) -> bool {
        self.next < self.end && !self.shut && !self.is_exhausted()
    }

    /// The one that is due, in its order: no other goes before it.
    pub(super) fn take<W>(
        &mut self,
        prepared: &PreparedLoad,
        mut way: impl FnMut(usize) -> Option<W>,
    ) -> TakenTurn<W> {
        let (turn, family) = self.held.take().unwrap_or_else(|| self.take_due(prepared));
        match way(turn.endpoint) {
            Some(way) => Ok((turn, way)),
            None => {
                self.held = Some((turn, family));
                Err(turn.endpoint)
            }
        }
    }

    fn take_due(&mut self, prepared: &PreparedLoad) -> (Turn, Family) {
        let (due, counted) = (self.next, self.next >= self.measure_from);
        let request = self.request.unwrap_or(0);
        let family = self.family(counted);
        let endpoint = self.schedule(counted).endpoint(prepared, family);
        self.turn_to_next();
        let waited = due <= self.full_until;
        (Turn { endpoint, counted, due: Some(due), waited, request }, family)
    }

    fn schedule(&mut self, counted: bool) -> &mut Schedule {
        if counted { &mut self.schedule } else { &mut self.warm_up }
    }

    /// The family of the next one.
    fn family(&mut self, counted: bool) -> Family {
        match self.number {
            Some(number) if counted => self.mix.family_at(number - self.first.min(number)),
            _ => self.schedule(counted).leave_out(),
        }
    }

    /// The family of an arrival due before `until` that does not begin; none where it doesn't count.
    fn leave_out(&mut self, until: u64) -> Option<Option<Family>> {
        if let Some((turn, family)) = self.held.take() {
            return Some(turn.counted.then_some(family));
        }
        if self.next >= until.min(self.end) || self.is_exhausted() {
            return None;
        }
        let counted = self.next >= self.measure_from;
        let family = self.family(counted);
        self.turn_to_next();
        Some(counted.then_some(family))
    }

    /// The one that found no connection has to wait for one.
    pub(super) fn wait(&mut self) {
        if let Some((turn, _)) = &mut self.held {
            turn.waited = true;
        }
    }

    /// Leaves out the one that found no connection, where such ones are left out.
    pub(super) fn drop_held(&mut self, dropped: impl FnMut(Family)) -> bool {
        let held = if self.drops { self.held.take() } else { None };
        held.filter(|(turn, _)| turn.counted)
            .map(|(_, family)| family)
            .into_iter()
            .for_each(dropped);
        held.is_some()
    }

    /// All permits are taken at `now`, or all connections to where the next goes: what is due by then has to wait, or is dropped.
    pub(super) fn all_taken(&mut self, now: u64, mut dropped: impl FnMut(Family)) {
        self.full_until = now;
        while self.drops
            && !self.shut
            && let Some(family) = self.leave_out(now.saturating_add(1))
        {
            family.into_iter().for_each(&mut dropped);
        }
        self.shut |= now >= self.end;
    }

    /// What came too late to begin before the end is nevertheless begun if that is for no more than
    /// the generator's own lateness.
    pub(super) fn keep_time(&mut self, now: u64) {
        self.shut |= now >= self.end.saturating_add(LATE);
    }

    /// What fell due before `until` and never began.
    pub(super) fn leave_rest(&mut self, until: u64, mut unsent: impl FnMut(Family)) {
        while let Some(family) = self.leave_out(until) {
            family.into_iter().for_each(&mut unsent);
        }
    }

    /// When to look whether one is due.
    pub(super) fn look(&self, now: u64) -> Option<u64> {
        if self.holds() {
            return Some(now);
        }
        self.pending().then(|| approach(now, self.next.saturating_sub(self.spin)))
    }

    /// When something else than an arrival is to be done.
    pub(super) fn closing(&self, now: u64) -> Option<u64> {
        let end = if now < self.end { self.end } else { self.end.saturating_add(LATE) };
        (!self.shut).then_some(end)
    }

    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// No more will be due, and none waits.
    pub(super) fn is_drawn(&self) -> bool {
        (self.is_exhausted() || self.shut) && !self.holds()
    }

    /// As many as were asked for have begun, or been left out.
    pub(super) fn is_exhausted(&self) -> bool {
        self.schedule.is_over() || self.number.is_some_and(|number| number >= self.last)
    }

    /// What is in flight at the end of the time is waited for.
    pub(super) fn is_over(&self, now: u64, in_flight: bool) -> bool {
        let over = self.is_exhausted() || (now >= self.end && !self.pending());
        over && !self.holds() && !in_flight
    }
}

/// When to wake for something that is due at `due`.
fn approach(now: u64, due: u64) -> u64 {
    match due.saturating_sub(now) {
        left if left > LONG => due - left / 512,
        _ => due,
    }
}

/// Which of the constant arrivals are measured: the number of the first, and of the first after.
fn measured_dues(plan: &Plan, open: &pace::OpenLoop, curve: &Curve) -> [u64; 2] {
    let load = &plan.load;
    let about = open.first_rate().per_s() * load.warmup.as_secs_f64();
    let first = first_at(curve, load.warmup.as_nanos() as u64, about);
    [first, load.requests.map_or(NEVER, |total| first.saturating_add(total.get()))]
}

/// How many of these arrivals are measured, where that is known before.
fn measured_total(plan: &Plan, open: &pace::OpenLoop) -> Option<u64> {
    let entries = open.timetable.as_ref().map(|table| table.entries());
    plan.load.requests.map(NonZeroU64::get).or(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_wait_is_made_in_two() {
        assert_eq!(approach(5, 4), 4);
        assert_eq!(approach(5, 5 + LONG), 5 + LONG);
        let long = 5 + 512 * LONG;
        let first = approach(5, long);
        // More than the thousandth that the kernel may be late, and then a short one.
        assert_eq!((first, approach(first, long)), (long - LONG, long));
    }
}
