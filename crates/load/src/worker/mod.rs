//! One worker: a loop over a driver.
//!
//! A *place* is the right to have one exchange in flight. A worker has a fixed number of them. A
//! place that is free takes the next exchange that may begin, at once in a closed loop, when it is
//! due in an open one, and a connection to its endpoint that has room for it, or opens one.

mod begin;
mod blocked;
mod datagrams;
mod end;
mod event;
mod follow;
mod make;
mod opening;
mod outlet;
mod secure;
mod serial;
mod silence;
mod stall;
mod streams;
mod tell;

use std::sync::atomic::{AtomicBool, Ordering};

use sixmark_model::clocks::Clocks;
use sixmark_model::lapses::Lapses;
use sixmark_model::mix::share;
use sixmark_model::plan::{Load, Plan};
use sixmark_model::provenance::Ended;
use sixmark_model::tally::{Slice, Tally};
use sixmark_model::truth::Book;
use sixmark_sys::driver::{Driver, Grain, Slot};

use super::arrivals::Arrivals;
use super::connection::Connections;
use super::gather::Gather;
use super::notes::Notes;
use super::places::{Place, Places};
use super::prepare::Prepared;
use super::protocol::{Memory, is_over_quic};
use super::quic::Quic;
use super::record::Record;
use super::source::Sources;
use crate::tls;
use blocked::Blocked;
use follow::Following;
use make::Maker;
use opening::FirstConnections;
use silence::Silence;
use streams::Over;
use tell::Teller;

/// Exchanges begun before the driver is asked what happened: many at once would make the first
/// ones' responses look late.
const BURST: usize = 8;
/// The most exchanges begun while the events of one wait are dealt with.
const MOST_BEGUN: u32 = 1_024;
/// Requests handed to the kernel together in a closed loop: more would save little and stamp the
/// last ones earlier than they leave.
const TOGETHER: usize = 8;
/// The longest that anything is put off in a closed loop unasked, in nanoseconds.
const LONGEST_LINGER: u64 = 200_000;
/// The shortest, in nanoseconds: the timer for less costs more than it saves.
const SHORTEST_LINGER: u64 = 20_000;
/// How long a place rests after a connection could not be established, in nanoseconds: a peer that
/// refuses must not turn the closed loop into a busy one.
const REST: u64 = 50_000_000;
/// The longest wait, in nanoseconds: how late the worker may see the stop flag.
const PATIENCE: u64 = 100_000_000;
/// A worker that never got a connection gives up after at least this many attempts.
const HOPELESS: u64 = 16;

/// A worker over a driver, which may be a simulated one.
pub struct Worker<'a, D> {
    driver: D,
    prepared: &'a Prepared,
    connections: Connections,
    arrivals: Arrivals,
    sources: Sources,
    record: Record,
    memory: Memory,
    places: Places,
    tls: Option<tls::Client>,
    room: tls::Room,
    quic: Option<Box<Quic>>,
    /// Connections that may have something to send.
    touched: Vec<Slot>,
    /// What a machine told was over; what came through TLS; exchanges that something is done with
    /// one after the other: empty in between.
    over: Vec<(Place, Over)>,
    plain: Vec<u8>,
    scratch: Vec<Place>,
    /// Exchanges that redirects lead to.
    following: Vec<Following>,
    maker: Maker,
    /// What is kept of exchanges beside their times, where anything is.
    notes: Option<Box<Notes>>,
    /// What is told of each connection and exchange, where anybody asked.
    teller: Option<Box<Teller>>,
    /// Connections that are to be used at once.
    usual_connections: usize,
    /// Places are free and exchanges may begin, but there is no connection for them.
    blocked: Option<Blocked>,
    number: u32,
    /// Connections under way before the load begins, while that lasts.
    opening: Option<FirstConnections>,
    begin: u64,
    measure_from: u64,
    timeout: u64,
    /// Connections established, and attempts that failed, warm-up included.
    established: u64,
    unestablished: u64,
    /// Who has given nothing but silence.
    silence: Silence,
    last_end: u64,
}

/// What one worker counted.
#[derive(Debug)]
pub struct Report {
    /// Over the whole measurement.
    pub tally: Tally,
    /// Nanoseconds from the end of the warm-up to the end of the last exchange.
    pub elapsed_ns: u64,
    /// Why it ended.
    pub ended: Ended,
    /// The driver's name.
    pub driver: &'static str,
    /// What speaks against the times.
    pub clocks: Clocks,
    /// What the worker itself did to them.
    pub lapses: Lapses,
    /// Every connection and exchange, where anybody asked.
    pub book: Book,
}

impl<'a, D: Driver> Worker<'a, D> {
    /// Worker number `number` of a run that begins at `begin` on the driver's clock.
    pub fn new(driver: D, prepared: &'a Prepared, number: u32, begin: u64) -> Self {
        let (plan, load) = (&prepared.plan, &prepared.plan.load);
        let [usual, most] = [load.connections, plan.connection.most_open]
            .map(|all| share(all.get().into(), load.threads.get().into(), number.into()).1);
        let places = usual * u64::from(plan.http.streams.get());
        let measure_from = begin + load.warmup.as_nanos() as u64;
        let end = end_of(load, measure_from);
        Worker {
            connections: Connections::new(prepared, [usual as usize, most as usize]),
            arrivals: Arrivals::new(prepared, number, [begin, measure_from, end]),
            sources: Sources::new(&plan.sources, number, load.threads.get()),
            record: Record::new(measure_from, number, plan.accept_status),
            memory: Memory::default(),
            places: Places::new(places as usize, gather(plan, places as usize)),
            number,
            opening: None,
            tls: prepared.tls.as_ref().map(|setup| tls::Client::new(setup, plan)),
            room: tls::Room::default(),
            quic: is_over_quic(plan.http.version).then(|| Box::new(Quic::new(begin))),
            touched: Vec::new(),
            over: Vec::new(),
            plain: Vec::new(),
            scratch: Vec::new(),
            following: Vec::new(),
            maker: Maker::new(prepared, number),
            notes: prepared.notes.then(|| Box::new(Notes::new(load.threads.get()))),
            teller: prepared.told.then(Box::default),
            usual_connections: usual as usize,
            blocked: None,
            begin,
            measure_from,
            timeout: load.timeout.as_nanos() as u64,
            established: 0,
            unestablished: 0,
            silence: Silence::new(load, usual.max(HOPELESS)),
            last_end: measure_from,
            driver,
            prepared,
        }
    }

    /// Puts the beginning off to a later time, nothing having been sent yet.
    pub fn begin_at(&mut self, begin: u64) {
        let put_off = begin.saturating_sub(self.begin);
        let load = &self.prepared.plan.load;
        self.begin = begin;
        self.measure_from += put_off;
        self.last_end = self.measure_from;
        let times = [begin, self.measure_from, end_of(load, self.measure_from)];
        self.arrivals = Arrivals::new(self.prepared, self.number, times);
        self.record.begin_at(self.measure_from);
        self.record.begin_waiting(self.driver.waited());
    }

    /// Loads until the plan is done, `stop` is set or nothing can be reached. Each second's counts
    /// go to `slices` when it ends.
    // A function of its own, so that profiles and `make instructions` can tell it from the rest.
    #[inline(never)]
    pub fn run(mut self, stop: &AtomicBool, mut slices: impl FnMut(Slice)) -> Report {
        self.driver.keep_to(self.grain(&Slice::default()));
        // The driver last woke before the run: what began now would be taken for warm-up.
        self.driver.wait(self.begin);
        // Connections that were opened first may have ended since.
        while let Some(event) = self.driver.next() {
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
            self.note_full();
            self.deal();
            self.keep_time(&mut slices);
        };
        self.finish(ended, slices)
    }

    /// Deals with all that happened, beginning an exchange whenever a place may be free. Not without
    /// end: a connection that fails at once is news as well, and the clock must be looked at.
    fn deal(&mut self) {
        let mut begun = 0;
        while let Some(event) = self.driver.next() {
            self.handle(event);
            while begun < MOST_BEGUN && self.begin() {
                begun += 1;
                // Of one exchange a connection, an event ends at most one.
                if self.prepared.plan.http.streams.get() == 1 {
                    break;
                }
            }
            self.flush_touched();
        }
    }

    fn is_over(&mut self, stop: &AtomicBool) -> Option<Ended> {
        let now = self.driver.woke();
        let in_flight = self.places.longest_in_flight().is_some();
        match () {
            () if stop.load(Ordering::Relaxed) => Some(Ended::Interrupted),
            () if self.arrivals.is_over(now, in_flight) => Some(Ended::Complete),
            () if self.is_hopeless() => Some(Ended::Hopeless),
            () => None,
        }
    }

    /// True where no worker ever got a connection and all have tried often or long enough.
    fn is_hopeless(&mut self) -> bool {
        let lasted = self.driver.woke().saturating_sub(self.begin);
        if self.established == 0 && self.silence.loses_hope(self.unestablished, lasted) {
            self.prepared.hope.lose();
        }
        self.silence.is_hopeless() && self.prepared.hope.is_lost()
    }

    /// When the worker must look at the clock again, if nothing happens before.
    fn next_due(&mut self) -> u64 {
        let now = self.driver.woke();
        let may = self.places.free() > 0 && self.blocked.is_none();
        let look = if may { self.arrivals.look(now) } else { None };
        if look.is_some_and(|look| look <= now) {
            return now;
        }
        let timeout = self.places.longest_in_flight().map(|place| self.deadline(place));
        let timer = self.quic.as_ref().and_then(|quic| quic.next_timer()).map(|(at, _)| at);
        let stalled = self.stalled_until(now);
        let rested = self.places.next_waking();
        let soonest = [look, stalled, timeout, timer, rested, self.arrivals.closing(now)];
        let soonest = soonest.into_iter().flatten().fold(now + PATIENCE, u64::min);
        soonest.min(self.record.slice_end())
    }

    /// Whoever stood still has not waited: then the time begins anew.
    fn deadline(&mut self, place: Place) -> u64 {
        let start = self.places.get(place).start.max(self.record.back_at);
        start.saturating_add(self.timeout)
    }

    /// Where all places were taken until now, or all connections, what fell due had to wait for one.
    fn note_full(&mut self) {
        if self.places.free() == 0 || self.blocked.is_some() {
            let now = self.driver.woke();
            self.arrivals.all_taken(now, |family| self.record.dropped(family));
        }
    }

    /// Does what is due by the clock.
    fn keep_time(&mut self, slices: &mut impl FnMut(Slice)) {
        let now = self.driver.woke();
        self.arrivals.keep_time(now);
        self.wake_quic(now);
        self.time_out();
        self.places.wake(now);
        if now >= self.record.slice_end() {
            let slice = self.record.cut(now, self.driver.waited());
            self.driver.keep_to(self.grain(&slice));
            slices(slice);
        } else if now < self.measure_from {
            self.record.begin_waiting(self.driver.waited());
        }
    }

    /// How loosely the driver may work after a second like this one. Where the clock rules it may
    /// not; in a closed loop nothing is put off by more than a hundredth of the shortest response,
    /// or than the plan says.
    fn grain(&self, slice: &Slice) -> Grain {
        if self.arrivals.are_timed() {
            return Grain { sends: 1, linger: 0 };
        }
        let shortest = slice.families.iter().filter_map(|(_, family)| family.response.min()).min();
        let unnoticed = (shortest.unwrap_or(0) / 100).min(LONGEST_LINGER);
        let worth_it = if unnoticed < SHORTEST_LINGER { 0 } else { unnoticed };
        let asked = self.prepared.plan.load.linger.map(|linger| linger.as_nanos() as u64);
        Grain { sends: TOGETHER, linger: asked.unwrap_or(worth_it) }
    }

    /// Cuts off what is in flight, closes what is idle, and counts it all.
    fn finish(mut self, ended: Ended, mut slices: impl FnMut(Slice)) -> Report {
        let now = self.driver.woke();
        self.no_longer_blocked(now);
        self.arrivals.leave_rest(now, |family| self.record.unsent(family));
        self.abandon();
        let whole = ended == Ended::Complete;
        let last = if whole { self.arrivals.ended_at(now, self.last_end) } else { now };
        if now >= self.measure_from {
            slices(self.record.cut(last.max(self.measure_from), self.driver.waited()));
        }
        let stamps = self.driver.stamps();
        let Clocks { missing, inverted, .. } = self.record.clocks;
        Report {
            clocks: Clocks { missing: missing + stamps.missing, inverted, steps: stamps.steps },
            lapses: self.record.lapses,
            tally: self.record.tally,
            elapsed_ns: last.saturating_sub(self.measure_from),
            ended,
            driver: self.driver.name(),
            book: self
                .teller
                .map_or_else(Book::default, |teller| teller.end(self.measure_from, last)),
        }
    }
}

/// In an open loop the clock says when exchanges begin, and only those that share a connection gain.
fn gather(plan: &Plan, places: usize) -> Gather {
    match plan.http.streams.get() > 1 && plan.load.pace.open().is_none() {
        true => Gather::of(places),
        false => Gather::none(),
    }
}

/// When a load ends whose measurement begins then.
fn end_of(load: &Load, measure_from: u64) -> u64 {
    load.duration.map_or(u64::MAX, |duration| measure_from + duration.as_nanos() as u64)
}
