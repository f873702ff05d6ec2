//! When the exchanges of a worker start, where each goes, and how many may be in flight.
//!
//! A *concurrency slot* is the right to have one exchange in flight. A worker has a fixed number of
//! them. A free concurrency slot takes the next exchange: at once in a closed loop, when it is due
//! in an open loop. This module sends nothing and closes nothing.

mod arrivals;
mod batcher;
mod blocked;
mod concurrency_slots;
mod endpoint_order;
mod fairness_deficits;
mod load_times;
mod schedule;
mod steps;
mod suspect_servers;
mod unresponsive_peers;

use sixmark_plan::plan::Plan;
use sixmark_sys::driver::Slot;
use sixmark_tally::outcome::FailurePhase;
use sixmark_units::family::Family;

use super::exchange::{ConcurrencySlot, Exchange};
use super::prepare::PreparedLoad;
use super::recorder::Recorder;
use arrivals::Arrivals;
pub(super) use arrivals::ScheduledExchange;
use batcher::Batcher;
use blocked::Blocked;
pub(super) use concurrency_slots::ConcurrencySlots;
pub(crate) use load_times::LoadTimes;
pub(super) use schedule::Schedule;
pub(super) use steps::NextStep;
use suspect_servers::SuspectServers;
use unresponsive_peers::UnresponsivePeers;

/// How long a concurrency slot rests after a connection could not be established, in nanoseconds. A
/// peer that refuses connections must not make the closed loop a busy loop.
const REST_NS: u64 = 50_000_000;
/// A worker that never established a connection gives up after at least this many attempts.
const HOPELESS: u64 = 16;

/// The schedule and the concurrency slots of a worker. Times are in nanoseconds of the driver's
/// clock.
#[derive(Debug)]
pub(super) struct Scheduler {
    arrivals: Arrivals,
    pub(super) concurrency_slots: ConcurrencySlots,
    /// Set while concurrency slots are free and exchanges may start, but there is no connection for
    /// them.
    blocked: Option<Blocked>,
    /// The families and servers that do not respond.
    pub(super) unresponsive_peers: UnresponsivePeers,
    /// The servers whose most recent result was a failure.
    suspect_servers: SuspectServers,
    /// Exchanges to which redirects lead and that have not started.
    following: Vec<(ConcurrencySlot, ScheduledExchange)>,
    /// The worker's number.
    number: u32,
    /// The time at which the load begins, including the warm-up.
    begin: u64,
    timeout: u64,
}

impl Scheduler {
    /// Creates the scheduler of worker number `number`, which uses `usual` connections at once.
    pub(super) fn new(
        prepared: &PreparedLoad,
        number: u32,
        usual: u64,
        times: LoadTimes,
    ) -> Scheduler {
        let (plan, load) = (&prepared.plan, &prepared.plan.load);
        let concurrency_slots = (usual * u64::from(plan.http.streams.get())) as usize;
        Scheduler {
            arrivals: Arrivals::new(prepared, number, times),
            concurrency_slots: ConcurrencySlots::new(
                concurrency_slots,
                batcher(plan, concurrency_slots),
            ),
            blocked: None,
            unresponsive_peers: UnresponsivePeers::new(load, usual.max(HOPELESS)),
            suspect_servers: SuspectServers::new(prepared),
            following: Vec::new(),
            number,
            begin: times.begin,
            timeout: load.timeout.as_nanos() as u64,
        }
    }

    /// Changes when the load begins and ends.
    pub(super) fn begin_at(&mut self, prepared: &PreparedLoad, times: LoadTimes) {
        self.begin = times.begin;
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
        self.arrivals.is_over(now, self.concurrency_slots.longest_in_flight().is_some())
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
        let may = self.concurrency_slots.free() > 0 && self.blocked.is_none();
        let look = if may { self.arrivals.look(now) } else { None };
        if look.is_some_and(|look| look <= now) {
            return Some(now);
        }
        let stalled =
            self.blocked.as_ref().and_then(|blocked| blocked.stalled_until(now, recorder));
        let (timeout, rested) = (self.next_timeout(recorder), self.concurrency_slots.next_waking());
        let all = [look, stalled, timeout, rested, self.arrivals.closing(now)];
        all.into_iter().flatten().min()
    }

    /// Returns when the oldest exchange in flight times out.
    pub(super) fn next_timeout(&mut self, recorder: &Recorder) -> Option<u64> {
        let concurrency_slot = self.concurrency_slots.longest_in_flight()?;
        Some(self.deadline(concurrency_slot, recorder))
    }

    /// Returns the age of the oldest exchange in flight in nanoseconds; 0 if there is none.
    pub(super) fn oldest_age(&mut self, now: u64) -> u64 {
        let Some(concurrency_slot) = self.concurrency_slots.longest_in_flight() else { return 0 };
        now.saturating_sub(self.concurrency_slots.get(concurrency_slot).start)
    }

    /// Returns when an exchange times out. If the worker stalled meanwhile, the time counts from
    /// the end of the stall.
    #[inline]
    pub(super) fn deadline(
        &mut self,
        concurrency_slot: ConcurrencySlot,
        recorder: &Recorder,
    ) -> u64 {
        let start = self.concurrency_slots.get(concurrency_slot).start.max(recorder.back_at());
        start.saturating_add(self.timeout)
    }

    /// Returns an exchange that has timed out by `now`.
    pub(super) fn next_overdue(
        &mut self,
        now: u64,
        recorder: &Recorder,
    ) -> Option<ConcurrencySlot> {
        let concurrency_slot = self.concurrency_slots.longest_in_flight()?;
        (self.deadline(concurrency_slot, recorder) <= now).then_some(concurrency_slot)
    }

    /// Does what is due by the clock at `now`. Called before exchanges are cut off that have timed
    /// out.
    pub(super) fn keep_time(&mut self, now: u64) {
        self.arrivals.keep_time(now);
    }

    /// If no concurrency slot or no connection was free until now, marks exchanges that were due as
    /// waiting, or drops them.
    pub(super) fn note_full(&mut self, now: u64, recorder: &mut Recorder) {
        if self.concurrency_slots.free() == 0 || self.blocked.is_some() {
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
    pub(super) fn leaves_out(
        &self,
        scheduled: &ScheduledExchange,
        family: Family,
        recorder: &mut Recorder,
    ) -> bool {
        let given_up = self.unresponsive_peers.is_given_up(family);
        if given_up && scheduled.counted {
            recorder.count_given_up(family);
        }
        given_up
    }

    /// Takes a concurrency slot for an exchange on a connection that exists or is about to be
    /// opened.
    #[inline]
    pub(super) fn begin_exchange(
        &mut self,
        scheduled: &ScheduledExchange,
        slot: Slot,
        now: u64,
    ) -> ConcurrencySlot {
        self.concurrency_slots.take(exchange(scheduled, slot, now))
    }

    /// Gives a concurrency slot back at `now`, for the next exchange in turn.
    #[inline]
    pub(super) fn give_back(&mut self, concurrency_slot: ConcurrencySlot, now: u64) {
        self.concurrency_slots.give_back(concurrency_slot, now);
    }

    /// Records that an exchange with this endpoint failed.
    pub(super) fn note_failure(&mut self, endpoint: usize) {
        self.suspect_servers.note_failure(endpoint);
    }

    /// Records a complete response from this endpoint.
    #[inline]
    pub(super) fn note_answer(&mut self, endpoint: usize) {
        self.suspect_servers.note_answer(endpoint);
    }

    /// Gives a concurrency slot back whose connection could not be established, after a rest. No
    /// rest is needed in an open loop, where the clock prevents flooding a peer that refuses
    /// connections.
    pub(super) fn rest(&mut self, concurrency_slot: ConcurrencySlot, now: u64) {
        if self.arrivals.are_timed() {
            self.concurrency_slots.leave(concurrency_slot)
        } else {
            self.concurrency_slots.leave_to_rest(concurrency_slot, now + REST_NS)
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
        concurrency_slot: ConcurrencySlot,
        endpoint: usize,
        request: u32,
        at: u64,
        counted: bool,
    ) {
        let due = self.arrivals.are_timed().then_some(at);
        self.following.push((
            concurrency_slot,
            ScheduledExchange { endpoint, counted, due, was_queued: false, request },
        ));
    }

    /// Returns true if a redirect is to be followed.
    #[inline]
    pub(super) fn has_following(&self) -> bool {
        !self.following.is_empty()
    }

    /// Removes and returns an exchange to which a redirect leads, and the concurrency slot that it
    /// takes over.
    pub(super) fn next_following(&mut self) -> Option<(ConcurrencySlot, ScheduledExchange)> {
        self.following.pop()
    }

    /// Replaces the exchange of a concurrency slot by the one to which its redirect leads.
    pub(super) fn go_on_with(
        &mut self,
        concurrency_slot: ConcurrencySlot,
        scheduled: &ScheduledExchange,
        slot: Slot,
        now: u64,
    ) {
        self.concurrency_slots
            .renew(concurrency_slot, Exchange { followed: true, ..exchange(scheduled, slot, now) });
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
fn batcher(plan: &Plan, concurrency_slots: usize) -> Batcher {
    if plan.http.streams.get() > 1 && plan.load.pace.open().is_none() {
        Batcher::of(concurrency_slots)
    } else {
        Batcher::none()
    }
}

#[inline]
fn exchange(scheduled: &ScheduledExchange, slot: Slot, now: u64) -> Exchange {
    let ScheduledExchange { counted, due, was_queued, request, .. } = *scheduled;
    Exchange {
        slot,
        phase: FailurePhase::Send,
        counted,
        due,
        was_queued,
        start: now,
        sent: 0,
        first: None,
        arrived: 0,
        late: None,
        paused: None,
        interims: 0,
        interim: None,
        tries: 0,
        followed: false,
        request,
        length: 0,
    }
}
