//! The closed loop: whenever a place is free, an exchange may begin.

use super::Turn;
use crate::load::prepare::Prepared;
use crate::load::schedule::Schedule;

/// Arrivals that come when a place does.
#[derive(Debug)]
pub(in crate::load) struct Closed {
    schedule: Schedule,
    warm_up: Schedule,
    measure_from: u64,
    end: u64,
}

impl Closed {
    pub(super) fn new(prepared: &Prepared, worker: u32, measure_from: u64, end: u64) -> Closed {
        let schedule = Schedule::measured(prepared, worker);
        Closed { schedule, warm_up: Schedule::warm_up(prepared, worker), measure_from, end }
    }

    pub(super) fn may_begin(&self, now: u64) -> bool {
        let left = now < self.measure_from || !self.schedule.is_over();
        left && now < self.end
    }

    pub(super) fn take(&mut self, prepared: &Prepared, now: u64) -> Turn {
        let counted = now >= self.measure_from;
        let schedule = if counted { &mut self.schedule } else { &mut self.warm_up };
        Turn { endpoint: schedule.draw(prepared), counted, due: None, waited: false, request: 0 }
    }

    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// What is in flight at the end of the time is cut off.
    pub(super) fn is_over(&self, now: u64, in_flight: bool) -> bool {
        now >= self.end || (self.schedule.is_over() && !in_flight)
    }
}
