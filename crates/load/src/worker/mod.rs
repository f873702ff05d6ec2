//! A worker: a loop over a driver. Its [`Scheduler`] decides when exchanges start, its [`Network`]
//! has the connections, its [`RequestBuilder`] builds the requests, and its [`Recorder`] counts the
//! results.

mod begin;
mod end;
mod event;
mod follow;
mod linger;
mod observer;
mod opening;
mod pause;
mod quic;
mod resend;
mod secure;
mod serial;
mod streams;

use std::sync::atomic::{AtomicBool, Ordering};

use sixmark_document::provenance::Ended;
use sixmark_plan::mix::share_of_worker;
use sixmark_sys::driver::{Driver, Event, Slot};
use sixmark_tally::client_records::ClientRecords;
use sixmark_tally::clocks::Clocks;
use sixmark_tally::lapses::Lapses;
use sixmark_tally::tally::{Slice, Tally};

use super::builder::RequestBuilder;
use super::exchange::ConcurrencySlot;
use super::lateness::Lateness;
use super::network::Network;
use super::prepare::PreparedLoad;
use super::protocol::Memory;
use super::recorder::Recorder;
use super::scheduler::{LoadTimes, Scheduler};
use observer::StreamEnd;
use opening::FirstConnections;

/// Number of exchanges started before the driver is asked for events. With many at once, the
/// responses to the first ones would seem late.
const BURST: usize = 8;
/// Maximum number of exchanges started while the events of one wait are processed.
const MOST_BEGUN: u32 = 1_024;
/// Maximum number of events processed before the requests that they free are sent.
const MOST_GATHERED: u32 = 256;
/// Maximum duration of a wait, in nanoseconds: how late the worker may see the stop flag.
const PATIENCE_NS: u64 = 100_000_000;

/// A worker over a driver, which may be a simulated one.
pub struct Worker<'a, D> {
    prepared: &'a PreparedLoad,
    network: Network<'a, D>,
    scheduler: Scheduler,
    recorder: Recorder,
    requests: RequestBuilder,
    /// What is remembered of peers across connections.
    memory: Memory,
    buffers: Buffers,
    /// How long the bytes of the event that is being processed lay unread, if they have timestamps.
    late: Option<Lateness>,
    /// When the first byte of the TLS record that is being processed was received.
    first_arrival: Option<u64>,
    /// When it is decided again how much the driver may batch.
    batch_due: u64,
    /// The connections being opened before the load. `None` once the load has begun.
    opening: Option<FirstConnections>,
}

/// Reused buffers. They are empty between uses.
#[derive(Debug, Default)]
struct Buffers {
    /// The exchanges that a protocol reported as ended.
    over: Vec<(ConcurrencySlot, StreamEnd)>,
    /// Decrypted data.
    plain: Vec<u8>,
    /// Exchanges that are processed one after the other.
    concurrency_slots: Vec<ConcurrencySlot>,
}

/// The counts of one worker.
#[derive(Debug)]
pub struct Report {
    /// The counts over the whole measurement.
    pub tally: Tally,
    /// Nanoseconds from the beginning of the measurement to the end of the last exchange.
    pub elapsed_ns: u64,
    /// Nanoseconds from the end of the warm-up to the beginning of the measurement: 0 unless the
    /// load is a number of requests, which begins with the first of them. `None` if it awaited
    /// that, and none started.
    pub put_off_ns: Option<u64>,
    /// How much later than planned it began, in nanoseconds.
    pub begun_late_ns: u64,
    /// Why it ended.
    pub ended: Ended,
    /// The driver's name.
    pub driver: &'static str,
    /// Missing, inverted and stepped timestamps, which make times doubtful.
    pub clocks: Clocks,
    /// Stalls and other lapses of the worker that distort times.
    pub lapses: Lapses,
    /// Every connection and exchange. Empty unless they were asked for.
    pub client_records: ClientRecords,
}

impl<'a, D: Driver> Worker<'a, D> {
    /// Creates worker number `number` of a run that begins at `begin` on the driver's clock.
    pub fn new(driver: D, prepared: &'a PreparedLoad, number: u32, begin: u64) -> Self {
        let load = &prepared.plan.load;
        let usual = load.connections.get();
        let usual = share_of_worker(usual.into(), load.threads.get().into(), number.into()).1;
        let times = LoadTimes::from_begin(load, begin);
        let requests = RequestBuilder::new(prepared, number, driver.now());
        Worker {
            prepared,
            network: Network::new(driver, prepared, number, usual, begin),
            scheduler: Scheduler::new(prepared, number, usual, times),
            recorder: Recorder::new(times.measure_from, number, prepared),
            requests,
            memory: Memory::default(),
            buffers: Buffers::default(),
            late: None,
            first_arrival: None,
            batch_due: 0,
            opening: None,
        }
    }

    /// Postpones the beginning to `begin`. Must be called before anything is sent.
    pub fn begin_at(&mut self, begin: u64) {
        let planned = begin.max(self.scheduler.begin());
        let times = LoadTimes::from_begin(&self.prepared.plan.load, planned);
        self.scheduler.begin_at(self.prepared, LoadTimes { begin, ..times });
        self.recorder.begin_at(times.measure_from);
        self.recorder.begin_idling(self.network.driver.idle_ns());
    }

    /// Generates load until the plan is done, `stop` is set, or nothing can be reached. Passes the
    /// counts of each second to `slices` when it ends.
    // A separate function, so that profiles and `make instructions` can distinguish it.
    #[inline(never)]
    pub fn run(mut self, stop: &AtomicBool, mut slices: impl FnMut(Slice)) -> Report {
        self.set_first_batch();
        // The driver last woke before the run; without this wait, exchanges started now would count
        // as warm-up.
        self.network.driver.wait(self.scheduler.begin());
        let late = self.network.driver.woke().saturating_sub(self.scheduler.begin());
        // Connections that were opened beforehand may have ended since.
        while let Some(event) = self.network.driver.next() {
            self.handle(event);
        }
        self.flush_touched();
        let ended = loop {
            if let Some(ended) = self.is_over(stop) {
                break ended;
            }
            self.begin_some();
            let due = self.next_due();
            self.wait(due);
            self.scheduler.note_full(self.network.driver.woke(), &mut self.recorder);
            self.deal();
            self.keep_time(&mut slices);
        };
        Report { begun_late_ns: late, ..self.finish(ended, slices) }
    }

    /// Processes the events that are ready, and starts exchanges for the concurrency slots that
    /// they free. The number of starts is limited: a connection that fails at once is an event too,
    /// and the clock must be checked.
    fn deal(&mut self) {
        let (gathers, mut gathered, mut begun) = (self.gathers(), 0, 0);
        while let Some(event) = self.next_event(gathered > 0) {
            self.handle(event);
            if gathers && gathered < MOST_GATHERED {
                gathered += 1;
                continue;
            }
            gathered = 0;
            self.begin_freed(&mut begun);
            // In an open loop, QUIC acknowledges together what a wait returned.
            if gathers || !self.network.is_over_quic() {
                self.flush_touched();
            }
        }
        self.begin_freed(&mut begun);
        self.flush_touched();
    }

    /// Returns the next event. With `look`, asks the driver once more when there is none, so that
    /// only what is not ready yet is left.
    fn next_event(&mut self, look: bool) -> Option<Event> {
        let next = self.network.driver.next();
        if next.is_some() || !look {
            return next;
        }
        self.look();
        self.network.driver.next()
    }

    /// Starts exchanges while concurrency slots are free.
    fn begin_freed(&mut self, begun: &mut u32) {
        while *begun < MOST_BEGUN && self.begin() {
            *begun += 1;
            // With one exchange per connection, an event ends at most one.
            if self.prepared.plan.http.streams.get() == 1 && !self.gathers() {
                break;
            }
        }
    }

    /// Returns true if requests leave only when all events that are ready were processed: over
    /// QUIC, so that packets carry acknowledgements and requests together. In an open loop every
    /// request leaves when it is due.
    fn gathers(&self) -> bool {
        self.network.is_over_quic() && !self.scheduler.is_timed()
    }

    fn is_over(&mut self, stop: &AtomicBool) -> Option<Ended> {
        match () {
            () if stop.load(Ordering::Relaxed) => Some(Ended::Interrupted),
            () if self.scheduler.is_over(self.network.driver.woke()) => Some(Ended::Complete),
            () if self.is_hopeless() => Some(Ended::Hopeless),
            () => None,
        }
    }

    /// Returns true if no worker ever established a connection and all have tried often or long
    /// enough.
    fn is_hopeless(&mut self) -> bool {
        let lasted = self.network.driver.woke().saturating_sub(self.scheduler.begin());
        self.scheduler.unresponsive_peers.is_hopeless(lasted, &self.prepared.reachability)
    }

    /// Returns when the worker must check the clock again, if nothing happens before.
    fn next_due(&mut self) -> u64 {
        let now = self.network.driver.woke();
        let due = self.scheduler.next_due(now, &self.recorder);
        let all = [due, self.network.next_timer(), Some(self.recorder.next_cut())];
        all.into_iter().flatten().fold(now + PATIENCE_NS, u64::min)
    }

    /// Waits for the next events, until `due` at the latest.
    fn wait(&mut self, due: u64) {
        let before = self.network.driver.woke();
        self.network.driver.wait(due);
        let woke = self.network.driver.woke();
        self.requests.set_time(woke);
        self.recorder.note_stall(before.max(due), woke);
    }

    /// Asks the driver for events that are ready by now.
    fn look(&mut self) {
        let due = self.next_due().max(self.network.driver.woke());
        self.network.driver.look();
        let woke = self.network.driver.woke();
        self.requests.set_time(woke);
        self.recorder.note_stall(due, woke);
    }

    /// Does what is due by the clock.
    fn keep_time(&mut self, slices: &mut impl FnMut(Slice)) {
        let now = self.network.driver.woke();
        self.scheduler.keep_time(now);
        self.wake_quic(now);
        self.time_out();
        self.scheduler.concurrency_slots.wake(now);
        if self.scheduler.is_draining(now) {
            self.recorder.begin_draining(now, self.network.driver.idle_ns());
        }
        self.keep_batch(now);
        self.recorder.keep_tenths(now);
        if now >= self.recorder.slice_end() {
            let oldest_ns = self.scheduler.oldest_age(now);
            let slice = self.recorder.cut(now, self.network.driver.idle_ns(), oldest_ns);
            slices(slice);
        } else if !self.recorder.measures(now) {
            self.recorder.begin_idling(self.network.driver.idle_ns());
        }
    }

    /// Sends the gathered data of all connections.
    fn flush_touched(&mut self) {
        while let Some(slot) = self.network.next_touched() {
            self.flush(slot);
        }
    }

    /// Sends the gathered data of one connection, as far as the driver accepts it.
    fn flush(&mut self, slot: Slot) {
        let concurrency_slots = &mut self.scheduler.concurrency_slots;
        if let Err(failure) = self.network.flush(slot, concurrency_slots, &mut self.recorder) {
            self.broken_tls(slot, &failure);
        }
    }

    /// Cuts off the exchanges in flight, closes idle connections, and returns the counts.
    fn finish(mut self, ended: Ended, mut slices: impl FnMut(Slice)) -> Report {
        let now = self.network.driver.woke();
        self.scheduler.end(now, &mut self.recorder);
        self.abandon();
        let (recorder, driver) = (&mut self.recorder, &self.network.driver);
        let whole = ended == Ended::Complete || self.scheduler.is_draining(now);
        let last = if whole { self.scheduler.ended_at(now, recorder.last_end()) } else { now };
        let slice = recorder.cut(last.max(recorder.begin()), driver.idle_ns(), 0);
        let slice = Slice { is_last: true, ..slice };
        if recorder.measures(now) {
            slices(slice);
        }
        let stamps = driver.stamps();
        let Clocks { missing, inverted, .. } = recorder.clocks();
        Report {
            clocks: Clocks { missing: missing + stamps.missing, inverted, steps: stamps.steps },
            elapsed_ns: last.saturating_sub(recorder.begin()),
            put_off_ns: recorder.put_off(),
            begun_late_ns: 0,
            ended,
            driver: driver.name(),
            client_records: recorder.end_trace(last),
            lapses: self.recorder.take_lapses(),
            tally: self.recorder.into_tally(),
        }
    }
}
