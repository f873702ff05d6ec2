//! When the exchanges of a worker start, where each goes, and how many may be in flight.
//!
//! A *permit* is the right to have one exchange in flight. A worker has a fixed number of them. A
//! free permit takes the next exchange: at once in a closed loop, when it is due in an open loop.
//! This module sends nothing and closes nothing.

mod arrivals;
mod batcher;
mod blocked;
mod debts;
mod doubt;
mod endpoint_order;
mod permits;
mod schedule;
mod silence;
mod steps;

use sixmark_record::outcome::FailurePhase;
use sixmark_record::plan::{LoadPlan, Plan};
use sixmark_sys::driver::Slot;
use sixmark_units::family::Family;

use super::exchange::{Exchange, Permit};
use super::prepare::PreparedLoad;
use super::recorder::Recorder;
use arrivals::Arrivals;
pub(super) use arrivals::Turn;
use batcher::Batcher;
use blocked::Blocked;
use doubt::Doubt;
pub(super) use permits::Permits;
pub(super) use schedule::Schedule;
use silence::Silence;
pub(super) use steps::NextStep;

/// How long a permit rests after a connection could not be established, in nanoseconds. A peer that
/// refuses connections must not make the closed loop a busy loop.
const REST: u64 = 50_000_000;
/// A worker that never established a connection gives up after at least this many attempts.
const HOPELESS: u64 = 16;

/// The schedule and the permits of a worker. Times are in nanoseconds of the driver's clock.
#[derive(Debug)]
pub(super) struct Scheduler {
    arrivals: Arrivals,
    pub(super) permits: Permits,
    /// Set while permits are free and exchanges may start, but there is no connection for them.
    blocked: Option<Blocked>,
    /// The families and servers that do not respond.
    pub(super) silence: Silence,
    /// The servers whose most recent result was a failure.
    doubt: Doubt,
    /// Exchanges to which redirects lead and that have not started.
    following: Vec<(Permit, Turn)>,
    /// The worker's number.
    number: u32,
    /// The time at which the load begins, including the warm-up.
    begin: u64,
    timeout: u64,
}

impl Scheduler {
    /// Creates the scheduler of worker number `number`, which uses `usual` connections at once.
    /// `times` are when the load begins, when the measurement begins, and when the load ends.
    pub(super) fn new(
        prepared: &PreparedLoad,
        number: u32,
        usual: u64,
        times: [u64; 3],
    ) -> Scheduler {
        let (plan, load) = (&prepared.plan, &prepared.plan.load);
        let permits = (usual * u64::from(plan.http.streams.get())) as usize;
        Scheduler {
            arrivals: Arrivals::new(prepared, number, times),
            permits: Permits::new(permits, batcher(plan, permits)),
            blocked: None,
            silence: Silence::new(load, usual.max(HOPELESS)),
            doubt: Doubt::new(prepared),
            following: Vec::new(),
            number,
            begin: times[0],
            timeout: load.timeout.as_nanos() as u64,
        }
    }

    /// Changes the times at which the load begins, the measurement begins, and the load ends.
    pub(super) fn begin_at(&mut self, prepared: &PreparedLoad, times: [u64; 3]) {
        self.begin = times[0];
        self.arrivals = Arrivals::new(prepared, self.number, times);
    }

    /// Returns when the load begins.
    pub(super) fn begin(&self) -> u64 {
        self.begin
    }

    /// Returns the maximum duration of an exchange, in nanoseconds.
    pub(super) fn timeout(&self) -> u64 {
        self.timeout
    }

    /// Returns true for an open loop, where exchanges start at exact times.
    #[inline]
    pub(super) fn is_timed(&self) -> bool {
        self.arrivals.are_timed()
    }

    /// Returns true if the worker is done.
    pub(super) fn is_over(&self, now: u64) -> bool {
        self.arrivals.is_over(now, self.permits.longest_in_flight().is_some())
    }

    /// Returns true if the duration of a closed loop is over and exchanges in flight are awaited.
    pub(super) fn is_draining(&self, now: u64) -> bool {
        self.arrivals.is_draining(now)
    }

    /// Returns when the load ended, given that it was over at `now` and its last exchange ended at
    /// `last_end`.
    pub(super) fn ended_at(&self, now: u64, last_end: u64) -> u64 {
        self.arrivals.ended_at(now, last_end)
    }

    /// Returns when the clock must be checked again for any of this, at the latest.
    pub(super) fn next_due(&mut self, now: u64, recorder: &Recorder) -> Option<u64> {
        let may = self.permits.free() > 0 && self.blocked.is_none();
        let look = if may { self.arrivals.look(now) } else { None };
        if look.is_some_and(|look| look <= now) {
            return Some(now);
        }
        let stalled =
            self.blocked.as_ref().and_then(|blocked| blocked.stalled_until(now, recorder));
        let (timeout, rested) = (self.next_timeout(recorder), self.permits.next_waking());
        let all = [look, stalled, timeout, rested, self.arrivals.closing(now)];
        all.into_iter().flatten().min()
    }

    /// Returns when the oldest exchange in flight times out.
    pub(super) fn next_timeout(&mut self, recorder: &Recorder) -> Option<u64> {
        let permit = self.permits.longest_in_flight()?;
        Some(self.deadline(permit, recorder))
    }

    /// Returns the age of the oldest exchange in flight in nanoseconds; 0 if there is none.
    pub(super) fn oldest_age(&mut self, now: u64) -> u64 {
        let Some(permit) = self.permits.longest_in_flight() else { return 0 };
        now.saturating_sub(self.permits.get(permit).start)
    }

    /// Returns when an exchange times out. If the worker stalled meanwhile, the time counts from
    /// the end of the stall.
    #[inline]
    pub(super) fn deadline(&mut self, permit: Permit, recorder: &Recorder) -> u64 {
        let start = self.permits.get(permit).start.max(recorder.back_at());
        start.saturating_add(self.timeout)
    }

    /// Returns an exchange that has timed out by `now`.
    pub(super) fn next_overdue(&mut self, now: u64, recorder: &Recorder) -> Option<Permit> {
        let permit = self.permits.longest_in_flight()?;
        (self.deadline(permit, recorder) <= now).then_some(permit)
    }

    /// Does what is due by the clock at `now`. Called before exchanges are cut off that have timed
    /// out.
    pub(super) fn keep_time(&mut self, now: u64) {
        self.arrivals.keep_time(now);
    }

    /// If no permit or no connection was free until now, marks exchanges that were due as waiting,
    /// or drops them.
    pub(super) fn note_full(&mut self, now: u64, recorder: &mut Recorder) {
        if self.permits.free() == 0 || self.blocked.is_some() {
            self.arrivals.all_taken(now, |family, due| recorder.dropped(family, due));
        }
    }

    /// Returns true if an exchange may start at `now`.
    #[inline]
    pub(super) fn may_begin(&self, now: u64) -> bool {
        self.arrivals.may_begin(now)
    }

    /// Returns true if idle connections are of no more use at `now`.
    pub(super) fn is_drawn(&self, now: u64) -> bool {
        self.arrivals.is_drawn(now)
    }

    /// Leaves out an exchange if its family was given up. Returns true if it was.
    #[inline]
    pub(super) fn leaves_out(&self, turn: &Turn, family: Family, recorder: &mut Recorder) -> bool {
        let given_up = self.silence.is_given_up(family);
        if given_up && turn.counted {
            recorder.tally[family].given_up += 1;
        }
        given_up
    }

    /// Takes a permit for an exchange on a connection that exists or is about to be opened.
    #[inline]
    pub(super) fn begin_exchange(&mut self, turn: &Turn, slot: Slot, now: u64) -> Permit {
        self.permits.take(exchange(turn, slot, now))
    }

    /// Gives a permit back at `now`, for the next exchange in turn.
    #[inline]
    pub(super) fn give_back(&mut self, permit: Permit, now: u64) {
        self.permits.leave_in_turn(permit, now);
    }

    /// Records that an exchange with this endpoint failed.
    pub(super) fn note_failure(&mut self, endpoint: usize) {
        self.doubt.note_failure(endpoint);
    }

    /// Records a complete response from this endpoint.
    #[inline]
    pub(super) fn note_answer(&mut self, endpoint: usize) {
        self.doubt.note_answer(endpoint);
    }

    /// Gives a permit back whose connection could not be established, after a rest. No rest is
    /// needed in an open loop, where the clock prevents flooding a peer that refuses connections.
    pub(super) fn rest(&mut self, permit: Permit, now: u64) {
        match self.arrivals.are_timed() {
            true => self.permits.leave(permit),
            false => self.permits.leave_to_rest(permit, now + REST),
        }
    }

    /// Returns true if the target of a redirect received at `at` may still be requested.
    pub(super) fn may_follow(&self, at: u64) -> bool {
        self.arrivals.may_follow(at)
    }

    /// Queues the exchange to which a redirect leads. The exchange before it ended at `at`; in an
    /// open loop the new one is due at that time.
    pub(super) fn follow(
        &mut self,
        permit: Permit,
        endpoint: usize,
        request: u32,
        at: u64,
        counted: bool,
    ) {
        let due = self.arrivals.are_timed().then_some(at);
        self.following.push((permit, Turn { endpoint, counted, due, waited: false, request }));
    }

    /// Returns true if a redirect is to be followed.
    #[inline]
    pub(super) fn has_following(&self) -> bool {
        !self.following.is_empty()
    }

    /// Removes and returns an exchange to which a redirect leads, and the permit that it takes
    /// over.
    pub(super) fn next_following(&mut self) -> Option<(Permit, Turn)> {
        self.following.pop()
    }

    /// Replaces the exchange of a permit by the one to which its redirect leads.
    pub(super) fn go_on_with(&mut self, permit: Permit, turn: &Turn, slot: Slot, now: u64) {
        self.permits.renew(permit, Exchange { followed: true, ..exchange(turn, slot, now) });
    }

    /// Ends the load at `now`, and counts the exchanges that were due but did not start.
    pub(super) fn end(&mut self, now: u64, recorder: &mut Recorder) {
        self.unblock(now, recorder);
        self.arrivals.leave_rest(now, |family, due| recorder.unsent(family, due));
    }

    /// Returns the order in which connections are opened before the load.
    pub(super) fn opening_order(&self, prepared: &PreparedLoad) -> Schedule {
        Schedule::warm_up(prepared, self.number)
    }
}

/// Returns the batcher. Exchanges are batched only in a closed loop, since the clock decides in an
/// open one, and only if they share connections, since there is no gain otherwise.
fn batcher(plan: &Plan, permits: usize) -> Batcher {
    match plan.http.streams.get() > 1 && plan.load.pace.open().is_none() {
        true => Batcher::of(permits),
        false => Batcher::none(),
    }
}

/// Returns when a load ends whose measurement begins at `measure_from`.
pub(super) fn end_of(load: &LoadPlan, measure_from: u64) -> u64 {
    load.duration.map_or(u64::MAX, |duration| measure_from + duration.as_nanos() as u64)
}

#[inline]
fn exchange(turn: &Turn, slot: Slot, now: u64) -> Exchange {
    let Turn { counted, due, waited, request, .. } = *turn;
    Exchange {
        slot,
        phase: FailurePhase::Send,
        counted,
        due,
        waited,
        start: now,
        sent: 0,
        first: None,
        late: None,
        interims: 0,
        interim: None,
        tries: 0,
        followed: false,
        request,
        length: 0,
    }
}
