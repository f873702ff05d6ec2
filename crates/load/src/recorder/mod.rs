//! The counts and times of a worker, for the run and for the current second, and the trace of each
//! connection and exchange if one is wanted.

mod connections;
mod events;
mod exchanges;
mod sampling;
mod tenths;
mod trace;

use std::sync::Arc;

use sixmark_plan::plan::LoadPlan;
use sixmark_plan::plan::accept::AcceptStatus;
use sixmark_plan::plan::timestamps::Timestamps;
use sixmark_tally::by_request::RequestTally;
use sixmark_tally::by_step::LoadSteps;
use sixmark_tally::client_records::ClientRecords;
use sixmark_tally::clocks::Clocks;
use sixmark_tally::lapses::Lapses;
use sixmark_tally::tally::{RunningCounts, Slice, SliceTally, Tally};
use sixmark_units::family::{Family, PerFamily};

use super::STALL_NS;
use super::exchange::Exchange;
use super::prepare::PreparedLoad;
use sampling::Sampling;
use tenths::Tenths;
use trace::Trace;

/// Length of a slice in nanoseconds.
const SECOND_NS: u64 = 1_000_000_000;

/// On each worker, the paths of this many connections of each family are all asked about.
const PATHS: u64 = 256;
/// On each worker, this many connections of each family have timestamps of what they receive, and
/// few of the others up to a number: a timestamp makes a small exchange a tenth dearer.
const ARRIVALS: [u64; 2] = [2, 64];

/// The counts of a worker.
#[derive(Debug)]
pub(crate) struct Recorder {
    tally: Tally,
    clocks: Clocks,
    lapses: Lapses,
    /// The time at which the worker last resumed after a stall; 0 if it never stalled.
    back_at: u64,
    /// The samples of connections for which the kernel is asked about the path, and for timestamps
    /// of what they receive.
    paths: Sampling,
    arrivals: Sampling,
    accepted: AcceptStatus,
    /// The number of each request's name. Empty unless requests are counted by name.
    names: Arc<[u32]>,
    /// The steps of the rate. None unless exchanges are counted by step.
    steps: LoadSteps,
    /// The protocol violation in the responses being processed, if any.
    violation: Option<&'static str>,
    /// The trace of each connection and exchange, if one is wanted.
    trace: Option<Box<Trace>>,
    /// The current slice; if tenths are recorded, the current tenth of it.
    slice: Slice,
    tenths: Option<Box<Tenths>>,
    /// True if each slice contains all counts so far.
    whole: bool,
    worker: u32,
    /// The time at which the measurement begins.
    begin: u64,
    /// True while a load of a number of requests awaits the first of them: its measurement begins
    /// with that, see [`Recorder::begin_with_first`].
    awaits_first: bool,
    /// How much later than planned the measurement began for that reason, in nanoseconds.
    put_off: u64,
    second: u64,
    /// The start of the current slice, and how long the worker had been idle by then.
    slice_start: u64,
    idle_ns: u64,
    /// The time at which the duration of the load was over, and how long the worker had been idle by
    /// then. Set while the worker waits for the exchanges in flight; no new second begins then.
    drained_from: Option<(u64, u64)>,
    /// The time at which the last measured exchange ended.
    last_end: u64,
    /// True if times are taken from the kernel.
    kernel: bool,
}

impl Recorder {
    /// Creates the recorder of worker number `worker`, whose measurement begins at `begin`.
    pub(crate) fn new(begin: u64, worker: u32, prepared: &PreparedLoad) -> Recorder {
        let (tally, slice) = (Tally::default(), Slice::default());
        Recorder {
            tally,
            clocks: Clocks::default(),
            lapses: Lapses::default(),
            back_at: 0,
            paths: Sampling::of_first(PATHS, 0),
            arrivals: Sampling::of_first(ARRIVALS[0], ARRIVALS[1]),
            accepted: prepared.plan.accept_status,
            names: Arc::clone(&prepared.names),
            steps: LoadSteps::new(&prepared.plan),
            violation: None,
            trace: prepared.told.then(Box::default),
            slice,
            tenths: prepared.tenths.then(|| Box::new(Tenths::new(begin))),
            whole: prepared.whole,
            worker,
            begin,
            awaits_first: begins_with_first(&prepared.plan.load),
            put_off: 0,
            second: 0,
            slice_start: begin,
            idle_ns: 0,
            drained_from: None,
            last_end: begin,
            kernel: prepared.plan.load.timestamps == Timestamps::Kernel,
        }
    }

    /// Changes the time at which the measurement begins.
    pub(crate) fn begin_at(&mut self, begin: u64) {
        (self.begin, self.slice_start, self.last_end) = (begin, begin, begin);
        self.tenths.iter_mut().for_each(|tenths| **tenths = Tenths::new(begin));
    }

    /// Begins the measurement of a number of requests when the first of them starts, at `now`.
    /// `idle_ns` is how long the worker has been idle in all. When the warm-up is over, all places may
    /// be taken by its exchanges: the time until one of them ends, and what it receives, belong to
    /// no measured exchange, and would lower the rate of a few requests by half.
    #[inline]
    pub(crate) fn begin_with_first(&mut self, now: u64, idle_ns: impl FnOnce() -> u64) {
        if !self.awaits_first {
            return;
        }
        self.awaits_first = false;
        self.put_off = now.saturating_sub(self.begin);
        if self.put_off == 0 {
            return;
        }
        for family in Family::BOTH {
            let tally = &mut self.tally[family];
            (tally.bytes, tally.io) = Default::default();
        }
        self.begin_at(now.max(self.begin));
        self.begin_idling(idle_ns());
    }

    /// Returns how much later than planned the measurement began, in nanoseconds. `None` if it
    /// awaited the first request, and none started.
    pub(crate) fn put_off(&self) -> Option<u64> {
        (!self.awaits_first).then_some(self.put_off)
    }

    /// Returns when the measurement begins.
    pub(crate) fn begin(&self) -> u64 {
        self.begin
    }

    /// Returns true if the time `at` belongs to the measurement.
    #[inline]
    pub(crate) fn measures(&self, at: u64) -> bool {
        at >= self.begin
    }

    /// Returns when the last measured exchange ended or, if there is none, when the measurement
    /// began.
    pub(crate) fn last_end(&self) -> u64 {
        self.last_end
    }

    /// Records the end of a measured exchange.
    #[inline]
    pub(crate) fn note_end(&mut self, at: u64) {
        self.last_end = self.last_end.max(at);
    }

    /// Counts a time that this process took because the kernel gave none, if times are the kernel's.
    #[inline]
    pub(crate) fn note_missing_timestamp(&mut self) {
        self.clocks.missing += u64::from(self.kernel);
    }

    /// Returns how reliable the times are, as far as the recorder knows.
    pub(crate) fn clocks(&self) -> Clocks {
        self.clocks
    }

    /// Records that a response was checked from `before` to `now`.
    #[inline]
    pub(crate) fn note_check(&mut self, before: u64, now: u64) {
        if self.measures(now) {
            self.lapses.checked(now.saturating_sub(before));
        }
    }

    /// Returns the stalls and other lapses, and forgets them.
    pub(crate) fn take_lapses(&mut self) -> Lapses {
        std::mem::take(&mut self.lapses)
    }

    /// Sets the protocol violation in the responses that are processed next, or none.
    pub(crate) fn set_violation(&mut self, violation: Option<&'static str>) {
        self.violation = violation;
    }

    /// Returns when the worker last resumed after a stall; 0 if it never stalled.
    #[inline]
    pub(crate) fn back_at(&self) -> u64 {
        self.back_at
    }

    /// Counts bytes handed over at once, at `now`.
    #[inline]
    pub(crate) fn bytes_sent(&mut self, family: Family, count: usize, now: u64) {
        if self.measures(now) {
            self.tally[family].bytes.sent += count as u64;
            self.tally[family].io.sends += 1;
        }
    }

    /// Counts bytes received at once, at `at`.
    #[inline]
    pub(crate) fn bytes_received(&mut self, family: Family, count: usize, at: u64) {
        if self.measures(at) {
            self.tally[family].bytes.received += count as u64;
            self.tally[family].io.receives += 1;
        }
    }

    /// Counts datagrams of up to `segment` bytes handed over at once, at `now`.
    #[inline]
    pub(crate) fn datagrams_sent(
        &mut self,
        family: Family,
        count: usize,
        segment: usize,
        now: u64,
    ) {
        self.bytes_sent(family, count, now);
        if self.measures(now) {
            self.tally[family].io.datagrams_sent += count.div_ceil(segment.max(1)) as u64;
        }
    }

    /// Counts datagrams of up to `segment` bytes received at once, at `at`.
    #[inline]
    pub(crate) fn datagrams_received(
        &mut self,
        family: Family,
        count: usize,
        segment: usize,
        at: u64,
    ) {
        self.bytes_received(family, count, at);
        if self.measures(at) {
            self.tally[family].io.datagrams_received += count.div_ceil(segment.max(1)) as u64;
        }
    }

    /// Records that `concurrency_slots` concurrency slots were blocked for lack of a connection of a
    /// family from `since` to `now`.
    pub(crate) fn count_blocked(
        &mut self,
        family: Family,
        concurrency_slots: usize,
        [since, now]: [u64; 2],
    ) {
        let blocked_ns = now.saturating_sub(since.max(self.begin));
        self.tally[family].connections.awaited_ns += blocked_ns * concurrency_slots as u64;
    }

    /// Counts the start of an exchange, in the measurement if `counted`, else in the warm-up.
    pub(crate) fn sent(&mut self, family: Family, counted: bool) {
        if !counted {
            self.tally[family].warm_up.sent += 1;
            return;
        }
        self.tally[family].sent += 1;
        self.slice.families[family].sent += 1;
    }

    /// Counts an exchange of the warm-up that got no response in the measurement among the measured
    /// ones.
    pub(crate) fn carry_over(&mut self, family: Family) {
        self.tally[family].carry_over();
        self.slice.families[family].sent += 1;
    }

    /// Moves an exchange to the other family, because the peer's family differs from that of the
    /// endpoint. Slices that are already out do not change, and a resent request still counts for
    /// the family whose server did not process it.
    pub(crate) fn moved(&mut self, from: Family, exchange: &Exchange) {
        if !exchange.counted {
            let warm_up = &mut self.tally[from].warm_up;
            warm_up.sent = warm_up.sent.saturating_sub(1);
            self.tally[from.other()].warm_up.sent += 1;
            return;
        }
        self.tally[from].sent -= 1;
        self.tally[from.other()].sent += 1;
        self.tally[from].followed -= u64::from(exchange.followed);
        self.tally[from.other()].followed += u64::from(exchange.followed);
        let slice = &mut self.slice.families;
        if slice[from].sent > 0 {
            slice[from].sent -= 1;
            slice[from.other()].sent += 1;
        } else if let Some(tenths) = &mut self.tenths {
            tenths.moved(from);
        }
    }

    /// Detects a stall: what was planned for `due` happens at `now`, much later. The process was
    /// stopped, the machine was paused, or the worker was busy with one task. The servers are not
    /// the cause of what exchanges in flight seem to have taken.
    pub(crate) fn note_stall(&mut self, due: u64, now: u64) {
        let late = now.saturating_sub(due.max(self.back_at));
        if late < STALL_NS {
            return;
        }
        self.back_at = now;
        if self.measures(now) {
            self.lapses.stood_still(late);
        }
    }

    /// Detects a stall between the driver's last wait and an event at `at`. This is done only with
    /// the client's clock, since the kernel's may be set.
    #[inline]
    pub(crate) fn note_late_news(&mut self, woke: u64, at: u64) {
        if at.saturating_sub(woke) >= STALL_NS && !self.kernel {
            self.note_stall(woke, at);
        }
    }

    /// Returns whether a duration that began at `since` includes no stall of this worker.
    fn is_timed(&self, since: u64) -> bool {
        since >= self.back_at
    }

    /// Returns the counts of the exchange's request, if requests are counted by name, and of the
    /// step in which it was due, if the rate has steps.
    #[inline]
    fn counted_apart(
        &mut self,
        family: Family,
        exchange: &Exchange,
    ) -> impl Iterator<Item = &mut RequestTally> {
        let (name, step) = (self.name_of(exchange), self.step_of(exchange));
        self.tally[family].counted_apart(name, step)
    }

    /// Returns the number of the name of the exchange's request, if requests are counted by name.
    #[inline]
    fn name_of(&self, exchange: &Exchange) -> Option<usize> {
        self.names.get(exchange.request as usize).map(|&name| name as usize)
    }

    /// Returns the number of the step in which the exchange was due, if the rate has steps.
    #[inline]
    fn step_of(&self, exchange: &Exchange) -> Option<usize> {
        self.step_of_due(exchange.due.unwrap_or(exchange.start))
    }

    #[inline]
    fn step_of_due(&self, due: u64) -> Option<usize> {
        self.steps.step_of(due.saturating_sub(self.begin))
    }

    /// Counts an exchange that was dropped because the limit of exchanges in flight was reached
    /// when it was due, at `due`.
    pub(crate) fn dropped(&mut self, family: Family, due: u64) {
        self.tally[family].dropped += 1;
        if let Some(step) = self.step_of_due(due) {
            self.tally[family].step(step).dropped += 1;
        }
    }

    /// Counts an exchange that was due at `due` but had not started when the run ended.
    pub(crate) fn unsent(&mut self, family: Family, due: u64) {
        self.tally[family].unsent += 1;
        if let Some(step) = self.step_of_due(due) {
            self.tally[family].step(step).unsent += 1;
        }
    }

    /// Returns true if each connection and exchange is recorded individually.
    #[inline]
    pub(crate) fn is_traced(&self) -> bool {
        self.trace.is_some()
    }

    /// Returns the trace, after the measurement ended at `last`.
    pub(crate) fn end_trace(&mut self, last: u64) -> ClientRecords {
        let begin = self.begin;
        self.trace.take().map_or_else(ClientRecords::default, |trace| trace.end(begin, last))
    }

    /// Returns the counts and times of the current slice or, if tenths are recorded, of the current
    /// tenth.
    pub(crate) fn current(&self) -> &PerFamily<SliceTally> {
        &self.slice.families
    }

    /// Returns when the current slice ends; never before the measurement has begun, and while the
    /// exchanges in flight at the end are awaited.
    pub(crate) fn slice_end(&self) -> u64 {
        if self.is_between_ends() { self.begin + (self.second + 1) * SECOND_NS } else { u64::MAX }
    }

    /// Returns true unless the measurement awaits its first request, or the last responses.
    fn is_between_ends(&self) -> bool {
        !self.awaits_first && self.drained_from.is_none()
    }

    /// Returns when the current slice or the current tenth ends, whichever is first.
    pub(crate) fn next_cut(&self) -> u64 {
        let tenth = self.tenths.as_ref().filter(|_| self.is_between_ends());
        tenth.map_or(u64::MAX, |tenths| tenths.end()).min(self.slice_end())
    }

    /// Ends the current tenth if it is over at `now`.
    pub(crate) fn keep_tenths(&mut self, now: u64) {
        if self.is_between_ends() && self.tenths.as_ref().is_some_and(|of| now >= of.end()) {
            self.cut_tenth(now);
        }
    }

    fn cut_tenth(&mut self, now: u64) {
        if let Some(tenths) = &mut self.tenths {
            tenths.cut(now, std::mem::take(&mut self.slice.families));
        }
    }

    /// Records that the duration of the load is over at `now`, and that the worker has been idle
    /// `idle_ns` nanoseconds in all. The exchanges in flight count for the last slice.
    pub(crate) fn begin_draining(&mut self, now: u64, idle_ns: u64) {
        self.drained_from.get_or_insert((now, idle_ns));
    }

    /// Returns the shortest response time of a family so far, in nanoseconds.
    pub(crate) fn shortest_response(&self, family: Family) -> Option<u64> {
        let slice = self.slice.families[family].response.min();
        let earlier = self.tenths.as_ref().and_then(|of| of.shortest_response(family));
        let whole = self.tally[family].phases.response.min();
        slice.into_iter().chain(earlier).chain(whole).min()
    }

    /// Ends the slice at `now` and returns it; the next one begins. `idle_ns` is how long the worker
    /// has been idle in all, and `oldest_ns` the age of the oldest exchange in flight, both in
    /// nanoseconds. Durations in the slice are added to the tally only here:
    /// recording each in both would cost as much for every exchange as this costs per second.
    pub(crate) fn cut(&mut self, now: u64, idle_ns: u64, oldest_ns: u64) -> Slice {
        let idle_ns = self.drained_from.map_or(idle_ns, |(_, idle_ns)| idle_ns);
        self.cut_tenth(now);
        let mut slice = std::mem::take(&mut self.slice);
        if let Some(tenths) = &mut self.tenths {
            (slice.tenths, slice.families) = tenths.take();
        }
        self.tenths = self.tenths.take().filter(|of| !of.are_enough());
        for (family, of) in slice.families.iter() {
            let phases = &mut self.tally[family].phases;
            phases.connect += &of.connect;
            phases.wait += &of.wait;
            phases.response += &of.response;
        }
        slice.whole = self.whole.then(|| Box::new(self.tally.clone()));
        slice.running = Some(Box::new(RunningCounts::of(&self.tally, oldest_ns)));
        (slice.worker, slice.second) = (self.worker, self.second);
        slice.length_ns = now.saturating_sub(self.slice_start);
        slice.busy_ns = slice.length_ns.saturating_sub(idle_ns.saturating_sub(self.idle_ns));
        self.slice_start = now.max(self.slice_start);
        // The number comes from the clock, so that one late slice does not make all later ones
        // late.
        self.second = (self.slice_start - self.begin) / SECOND_NS;
        self.idle_ns = idle_ns;
        slice
    }

    /// Begins the measurement: `idle_ns` nanoseconds of idling before it do not count.
    pub(crate) fn begin_idling(&mut self, idle_ns: u64) {
        self.idle_ns = idle_ns;
    }
}

/// Returns true for a load of a number of requests in a closed loop, which lasts from the start of
/// the first to the end of the last. An open loop lasts as long as its schedule.
fn begins_with_first(load: &LoadPlan) -> bool {
    load.requests.is_some() && load.pace.open().is_none()
}
