//! When a worker's exchanges begin, where each goes, and how many may be in flight.
//!
//! A *permit* is the right to have one exchange in flight. A worker has a fixed number of them. A permit
//! that is free takes the next exchange that may begin, at once in a closed loop, when it is due in an
//! open one. Nothing is sent or closed here.

mod arrivals;
mod batcher;
mod blocked;
mod debts;
mod doubt;
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

/// How long a permit rests after a connection could not be established, in nanoseconds: a peer that
/// refuses must not turn the closed loop into a busy one.
const REST: u64 = 50_000_000;
/// A worker that never got a connection gives up after at least this many attempts.
const HOPELESS: u64 = 16;

/// One worker's schedule and permits. Times are the driver's nanoseconds.
#[derive(Debug)]
pub(super) struct Scheduler {
    arrivals: Arrivals,
    pub(super) permits: Permits,
    /// Permits are free and exchanges may begin, but there is no connection for them.
    blocked: Option<Blocked>,
    /// Who has given nothing but silence.
    pub(super) silence: Silence,
    /// Whose last news was a failure.
    doubt: Doubt,
    /// Exchanges that redirects lead to and that have not begun.
    following: Vec<(Permit, Turn)>,
    /// The worker's number.
    number: u32,
    /// When the load begins, warm-up included.
    begin: u64,
    timeout: u64,
}

impl Scheduler {
    /// That of worker number `number`, which uses `usual` connections at once, for a load that begins, is
    /// measured and ends at these times.
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

    /// The load is to begin, to be measured and to end at other times than it was to.
    pub(super) fn begin_at(&mut self, prepared: &PreparedLoad, times: [u64; 3]) {
        self.begin = times[0];
        self.arrivals = Arrivals::new(prepared, self.number, times);
    }

    /// When the load begins.
    pub(super) fn begin(&self) -> u64 {
        self.begin
    }

    /// How long an exchange may take, in nanoseconds.
    pub(super) fn timeout(&self) -> u64 {
        self.timeout
    }

    /// True where the clock says when to begin: then it matters what time it is exactly.
    #[inline]
    pub(super) fn is_timed(&self) -> bool {
        self.arrivals.are_timed()
    }

    /// True where the worker has done what it was to do.
    pub(super) fn is_over(&self, now: u64) -> bool {
        self.arrivals.is_over(now, self.permits.longest_in_flight().is_some())
    }

    /// True where the time of a closed loop is over and what is in flight is waited for.
    pub(super) fn is_draining(&self, now: u64) -> bool {
        self.arrivals.is_draining(now)
    }

    /// When a load that was over at `now`, its last exchange having ended at `last_end`, was over.
    pub(super) fn ended_at(&self, now: u64, last_end: u64) -> u64 {
        self.arrivals.ended_at(now, last_end)
    }

    /// When to look at the clock again for any of this, at the latest.
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

    /// When the exchange in flight that began first has lasted too long.
    pub(super) fn next_timeout(&mut self, recorder: &Recorder) -> Option<u64> {
        let permit = self.permits.longest_in_flight()?;
        Some(self.deadline(permit, recorder))
    }

    /// When an exchange has lasted too long. Whoever stood still has not waited: then the time begins
    /// anew.
    #[inline]
    pub(super) fn deadline(&mut self, permit: Permit, recorder: &Recorder) -> u64 {
        let start = self.permits.get(permit).start.max(recorder.back_at());
        start.saturating_add(self.timeout)
    }

    /// An exchange that has lasted too long by `now`.
    pub(super) fn next_overdue(&mut self, now: u64, recorder: &Recorder) -> Option<Permit> {
        let permit = self.permits.longest_in_flight()?;
        (self.deadline(permit, recorder) <= now).then_some(permit)
    }

    /// Does what is due by the clock at `now`, before exchanges are cut off that have lasted too long.
    pub(super) fn keep_time(&mut self, now: u64) {
        self.arrivals.keep_time(now);
    }

    /// Where all permits were taken until now, or all connections, what fell due had to wait for one.
    pub(super) fn note_full(&mut self, now: u64, recorder: &mut Recorder) {
        if self.permits.free() == 0 || self.blocked.is_some() {
            self.arrivals.all_taken(now, |family| recorder.dropped(family));
        }
    }

    /// True where an exchange may begin at `now`.
    #[inline]
    pub(super) fn may_begin(&self, now: u64) -> bool {
        self.arrivals.may_begin(now)
    }

    /// True where, at `now`, an idle connection is of no more use.
    pub(super) fn is_drawn(&self, now: u64) -> bool {
        self.arrivals.is_drawn(now)
    }

    /// Leaves out an exchange over a family that was given up: true where it was.
    #[inline]
    pub(super) fn leaves_out(&self, turn: &Turn, family: Family, recorder: &mut Recorder) -> bool {
        let given_up = self.silence.is_given_up(family);
        if given_up && turn.counted {
            recorder.tally[family].given_up += 1;
        }
        given_up
    }

    /// Takes a permit for an exchange whose turn it is, on a connection that is there or about to be.
    #[inline]
    pub(super) fn begin_exchange(&mut self, turn: &Turn, slot: Slot, now: u64) -> Permit {
        self.permits.take(exchange(turn, slot, now))
    }

    /// An exchange gives its permit back at `now`, which is for the next one in its turn.
    #[inline]
    pub(super) fn give_back(&mut self, permit: Permit, now: u64) {
        self.permits.leave_in_turn(permit, now);
    }

    /// An exchange with this endpoint failed.
    pub(super) fn note_failure(&mut self, endpoint: usize) {
        self.doubt.note_failure(endpoint);
    }

    /// A whole response came from this endpoint.
    #[inline]
    pub(super) fn note_answer(&mut self, endpoint: usize) {
        self.doubt.note_answer(endpoint);
    }

    /// Sets a permit aside whose connection could not be established. In an open loop the clock keeps
    /// a peer that refuses from being flooded.
    pub(super) fn rest(&mut self, permit: Permit, now: u64) {
        match self.arrivals.are_timed() {
            true => self.permits.leave(permit),
            false => self.permits.leave_to_rest(permit, now + REST),
        }
    }

    /// True where what a response that came at `at` leads to may still begin.
    pub(super) fn may_follow(&self, at: u64) -> bool {
        self.arrivals.may_follow(at)
    }

    /// The exchange under a permit is over at `at`, and leads to another. In an open loop that is due then.
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

    /// True where something is to be followed.
    #[inline]
    pub(super) fn has_following(&self) -> bool {
        !self.following.is_empty()
    }

    /// An exchange that a redirect leads to, and its permit, which it has not given back.
    pub(super) fn next_following(&mut self) -> Option<(Permit, Turn)> {
        self.following.pop()
    }

    /// Puts what a redirect leads to under the permit of the exchange before.
    pub(super) fn go_on_with(&mut self, permit: Permit, turn: &Turn, slot: Slot, now: u64) {
        self.permits.renew(permit, Exchange { followed: true, ..exchange(turn, slot, now) });
    }

    /// The load is over at `now`, whatever had fallen due.
    pub(super) fn end(&mut self, now: u64, recorder: &mut Recorder) {
        self.unblock(now, recorder);
        self.arrivals.leave_rest(now, |family| recorder.unsent(family));
    }

    /// The order in which connections are opened before the load.
    pub(super) fn opening_order(&self, prepared: &PreparedLoad) -> Schedule {
        Schedule::warm_up(prepared, self.number)
    }
}

/// In an open loop the clock says when exchanges begin, and only those that share a connection gain.
fn batcher(plan: &Plan, permits: usize) -> Batcher {
    match plan.http.streams.get() > 1 && plan.load.pace.open().is_none() {
        true => Batcher::of(permits),
        false => Batcher::none(),
    }
}

/// When a load ends whose measurement begins then.
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
        tries: 0,
        followed: false,
        request,
        length: 0,
    }
}
