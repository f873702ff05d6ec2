//! What a worker counts and times, for the run and for the current second, and what it tells of each
//! connection and exchange where anybody asked.

mod connections;
mod exchanges;
mod sampling;
mod trace;

use std::sync::Arc;

use sixmark_record::by_request::RequestTally;
use sixmark_record::clocks::{Clocks, Timestamps};
use sixmark_record::lapses::Lapses;
use sixmark_record::plan::accept::AcceptStatus;
use sixmark_record::tally::{Slice, Tally};
use sixmark_record::truth::TruthBook;
use sixmark_units::family::Family;

use super::STALL;
use super::exchange::Exchange;
use super::prepare::PreparedLoad;
use sampling::Sampling;
use trace::Trace;

/// Nanoseconds of a slice.
const SECOND: u64 = 1_000_000_000;

/// A worker's counts.
#[derive(Debug)]
pub(crate) struct Recorder {
    pub(crate) tally: Tally,
    pub(crate) clocks: Clocks,
    pub(crate) lapses: Lapses,
    /// When the worker last came back from standing still; 0 where it never did.
    back_at: u64,
    /// Which connections are asked about their path, and which about their handshake.
    paths: Sampling,
    handshakes: Sampling,
    accepted: AcceptStatus,
    /// The number of each request's name, where they are counted by name.
    names: Arc<[u32]>,
    /// What the responses read now break, where they do.
    pub(crate) breach: Option<&'static str>,
    /// What is told of each connection and exchange, where anybody asked.
    trace: Option<Box<Trace>>,
    slice: Slice,
    worker: u32,
    /// When the measurement begins.
    begin: u64,
    second: u64,
    /// When the current slice began, and how long the worker had waited by then.
    slice_start: u64,
    waited: u64,
    /// When the time of the load was over, and how long the worker had waited by then, while it waits
    /// for what is in flight: no second begins then.
    drained_from: Option<(u64, u64)>,
    /// When the last measured exchange ended.
    last_end: u64,
    /// Times are taken from the kernel.
    kernel: bool,
}

impl Recorder {
    /// That of worker number `worker`, whose measurement begins at `begin`.
    pub(crate) fn new(begin: u64, worker: u32, prepared: &PreparedLoad) -> Recorder {
        let (tally, slice) = (Tally::default(), Slice::default());
        Recorder {
            tally,
            clocks: Clocks::default(),
            lapses: Lapses::default(),
            back_at: 0,
            paths: Sampling::default(),
            handshakes: Sampling::default(),
            accepted: prepared.plan.accept_status,
            names: Arc::clone(&prepared.names),
            breach: None,
            trace: prepared.told.then(Box::default),
            slice,
            worker,
            begin,
            second: 0,
            slice_start: begin,
            waited: 0,
            drained_from: None,
            last_end: begin,
            kernel: prepared.plan.load.timestamps == Timestamps::Kernel,
        }
    }

    /// The measurement begins at another time than it was to.
    pub(crate) fn begin_at(&mut self, begin: u64) {
        (self.begin, self.slice_start, self.last_end) = (begin, begin, begin);
    }

    /// When the measurement begins.
    pub(crate) fn begin(&self) -> u64 {
        self.begin
    }

    /// True where what happens at `at` belongs to the measurement.
    #[inline]
    pub(crate) fn measures(&self, at: u64) -> bool {
        at >= self.begin
    }

    /// When the last measured exchange ended, or the measurement began.
    pub(crate) fn last_end(&self) -> u64 {
        self.last_end
    }

    /// A measured exchange ended.
    #[inline]
    pub(crate) fn note_end(&mut self, at: u64) {
        self.last_end = self.last_end.max(at);
    }

    /// When the worker last came back from standing still; 0 where it never did.
    #[inline]
    pub(crate) fn back_at(&self) -> u64 {
        self.back_at
    }

    /// Bytes were handed over at `now`.
    #[inline]
    pub(crate) fn bytes_sent(&mut self, family: Family, count: usize, now: u64) {
        if self.measures(now) {
            self.tally[family].bytes.sent += count as u64;
        }
    }

    /// Bytes came at `at`.
    #[inline]
    pub(crate) fn bytes_received(&mut self, family: Family, count: usize, at: u64) {
        if self.measures(at) {
            self.tally[family].bytes.received += count as u64;
        }
    }

    /// So many permits waited between these times for a connection of a family.
    pub(crate) fn awaited(&mut self, family: Family, permits: usize, [since, now]: [u64; 2]) {
        let waited = now.saturating_sub(since.max(self.begin));
        self.tally[family].connections.awaited_ns += waited * permits as u64;
    }

    /// An exchange began, in the measurement if it is `counted`, else in the warm-up.
    pub(crate) fn sent(&mut self, family: Family, counted: bool) {
        if !counted {
            self.tally[family].warm_up.sent += 1;
            return;
        }
        self.tally[family].sent += 1;
        self.slice.families[family].sent += 1;
    }

    /// An exchange of the warm-up was silent in the measurement: it counts among those sent.
    pub(crate) fn carry_over(&mut self, family: Family) {
        self.tally[family].carry_over();
        self.slice.families[family].sent += 1;
    }

    /// The peer turned out to be of the other family than the endpoint. A slice that is out already
    /// keeps what it says, and what was sent again stays with the family whose server disowned it.
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
        }
    }

    /// What was to be at `due` is at `now`: the worker stood still where that is much later. Its process
    /// was stopped, the machine paused, or it was occupied with one thing: what exchanges in flight seem
    /// to have taken then is no doing of their servers.
    pub(crate) fn note_stall(&mut self, due: u64, now: u64) {
        let late = now.saturating_sub(due.max(self.back_at));
        if late < STALL {
            return;
        }
        self.back_at = now;
        if self.measures(now) {
            self.lapses.stood_still(late);
        }
    }

    /// The same of what the driver tells at `at`, long after its last wait. Only by this client's clock:
    /// the other one may be set.
    #[inline]
    pub(crate) fn note_late_news(&mut self, woke: u64, at: u64) {
        if at.saturating_sub(woke) >= STALL && !self.kernel {
            self.note_stall(woke, at);
        }
    }

    /// Returns whether a duration that began at `since` includes no stall of this worker.
    fn is_timed(&self, since: u64) -> bool {
        since >= self.back_at
    }

    /// The counts of the exchange's request, where requests are counted by name.
    #[inline]
    fn by_request(&mut self, family: Family, exchange: &Exchange) -> Option<&mut RequestTally> {
        let name = *self.names.get(exchange.request as usize)?;
        Some(self.tally[family].request(name as usize))
    }

    /// An exchange fell due while no more might be in flight, and was left out.
    pub(crate) fn dropped(&mut self, family: Family) {
        self.tally[family].dropped += 1;
    }

    /// An exchange fell due and the run ended before it began.
    pub(crate) fn unsent(&mut self, family: Family) {
        self.tally[family].unsent += 1;
    }

    /// True where somebody asked to be told of each connection and exchange.
    #[inline]
    pub(crate) fn is_traced(&self) -> bool {
        self.trace.is_some()
    }

    /// All that was told of each, the measurement having ended at `last`.
    pub(crate) fn end_trace(&mut self, last: u64) -> TruthBook {
        let begin = self.begin;
        self.trace.take().map_or_else(TruthBook::default, |trace| trace.end(begin, last))
    }

    /// When the current slice ends; never while what is in flight at the end is waited for.
    pub(crate) fn slice_end(&self) -> u64 {
        match self.drained_from {
            Some(_) => u64::MAX,
            None => self.begin + (self.second + 1) * SECOND,
        }
    }

    /// The time of the load is over at `now`, and the worker has waited `waited` nanoseconds in all.
    /// What is in flight counts for the last slice.
    pub(crate) fn begin_draining(&mut self, now: u64, waited: u64) {
        self.drained_from.get_or_insert((now, waited));
    }

    /// The shortest response of a family so far, in nanoseconds.
    pub(crate) fn shortest_response(&self, family: Family) -> Option<u64> {
        let slice = self.slice.families[family].response.min();
        slice.into_iter().chain(self.tally[family].phases.response.min()).min()
    }

    /// The slice that ends at `now`, the worker having waited `waited` nanoseconds in all; the next
    /// one begins. Durations that a slice has are added to the tally now: counting each in both would
    /// cost every exchange what this costs a second.
    pub(crate) fn cut(&mut self, now: u64, waited: u64) -> Slice {
        let waited = self.drained_from.map_or(waited, |(_, waited)| waited);
        let mut slice = std::mem::take(&mut self.slice);
        for (family, of) in slice.families.iter() {
            let phases = &mut self.tally[family].phases;
            phases.connect += &of.connect;
            phases.wait += &of.wait;
            phases.response += &of.response;
        }
        (slice.worker, slice.second) = (self.worker, self.second);
        slice.length_ns = now.saturating_sub(self.slice_start);
        slice.busy_ns = slice.length_ns.saturating_sub(waited.saturating_sub(self.waited));
        self.slice_start = now.max(self.slice_start);
        // From the clock, not by counting: a late slice doesn't make all later ones late.
        self.second = (self.slice_start - self.begin) / SECOND;
        self.waited = waited;
        slice
    }

    /// The measurement begins now: what was waited before does not count.
    pub(crate) fn begin_waiting(&mut self, waited: u64) {
        self.waited = waited;
    }
}
