//! Connections opened before the load begins (`--preopen`), so that it finds them there.

use std::sync::atomic::{AtomicBool, Ordering};

use sixmark_sys::driver::{Close, Driver, Slot};

use super::{PATIENCE, Worker};
use crate::LONGEST_SILENCE;
use crate::arrivals::Turn;
use crate::protocol::Streams;
use crate::schedule::Schedule;

/// Connections that a worker opens at a time: more would only overflow the server's queue.
const AT_ONCE: usize = 64;
/// From one word on how many there are to the next, in nanoseconds.
const PROGRESS: u64 = 250_000_000;

/// The connections that are being opened before the load.
#[derive(Debug)]
pub(super) struct FirstConnections {
    under_way: usize,
    to: Vec<Attempts>,
}

/// Those to one endpoint.
#[derive(Clone, Copy, Debug, Default)]
struct Attempts {
    under_way: usize,
    /// When the last one was established, or the first of those begun while none was under way.
    news: u64,
    /// No more are tried.
    given_up: bool,
}

impl FirstConnections {
    fn new(endpoints: usize) -> FirstConnections {
        FirstConnections { under_way: 0, to: vec![Attempts::default(); endpoints] }
    }

    fn begin(&mut self, endpoint: usize, now: u64) {
        self.under_way += 1;
        let to = &mut self.to[endpoint];
        to.news = if to.under_way == 0 { now } else { to.news };
        to.under_way += 1;
    }

    /// One is over; with `established` at that time.
    fn end(&mut self, endpoint: usize, established: Option<u64>) {
        self.under_way -= 1;
        let to = &mut self.to[endpoint];
        to.under_way -= 1;
        to.news = established.unwrap_or(to.news);
    }

    /// An endpoint to which some are under way and nothing has come about since then, from now on
    /// given up.
    fn give_up_silent(&mut self, since: u64) -> Option<usize> {
        let silent = |to: &Attempts| !to.given_up && to.under_way > 0 && to.news <= since;
        let endpoint = self.to.iter().position(silent)?;
        self.to[endpoint].given_up = true;
        Some(endpoint)
    }
}

impl<D: Driver> Worker<'_, D> {
    /// Opens as many connections as are to be used at once, spread over the endpoints as the
    /// exchanges will be. Each takes a place until it is there. What can't be opened is counted, not
    /// tried again, and where none of those under way to an endpoint comes about for a while the
    /// others to it aren't tried at all: the server takes no more. `tell` hears now and then how many
    /// there are.
    pub fn open_first(&mut self, stop: &AtomicBool, mut tell: impl FnMut(u64)) {
        let mut schedule = Schedule::warm_up(self.prepared, self.number);
        let mut left = self.usual_connections;
        self.opening = Some(FirstConnections::new(self.prepared.endpoints.len()));
        self.driver.wait(self.begin);
        let mut told = self.driver.woke();
        while !stop.load(Ordering::Relaxed) && !self.is_hopeless() {
            while left > 0 && self.under_way() < AT_ONCE {
                left -= 1;
                self.open_one(schedule.draw(self.prepared));
            }
            if self.under_way() == 0 {
                break;
            }
            let until = self.soonest_timer();
            self.wait(until);
            while let Some(event) = self.driver.next() {
                self.handle(event);
                self.flush_touched();
            }
            let now = self.driver.woke();
            self.wake_quic(now);
            // Before those end that took too long: they say the most about their endpoint.
            self.give_up_silent(now);
            self.time_out();
            if now >= told + PROGRESS {
                told = now;
                tell(self.established);
            }
        }
        self.give_up_opening();
        self.opening = None;
    }

    fn under_way(&self) -> usize {
        self.opening.as_ref().map_or(0, |opening| opening.under_way)
    }

    /// Gives the endpoints up that have taken no connection for long.
    fn give_up_silent(&mut self, now: u64) {
        let since = now.saturating_sub(self.timeout.min(LONGEST_SILENCE));
        while let Some(endpoint) = self.opening.as_mut().and_then(|all| all.give_up_silent(since)) {
            for slot in self.connections.opening_to(endpoint) {
                self.unopened(slot);
            }
        }
    }

    /// Begins a connection, or counts it where its endpoint takes no more.
    fn open_one(&mut self, endpoint: usize) {
        let now = self.driver.woke();
        let Some(opening) = &mut self.opening else { return };
        if opening.to[endpoint].given_up {
            let family = self.prepared.endpoints[endpoint].family;
            self.record.tally[family].connections.unopened += 1;
            return;
        }
        opening.begin(endpoint, now);
        self.open(&Turn { endpoint, counted: false, due: None, waited: false, request: 0 });
    }

    /// One of those under way is over.
    fn end_opening(&mut self, slot: Slot, established: Option<u64>) {
        let endpoint = self.connections.get(slot).endpoint;
        if let Some(opening) = &mut self.opening {
            opening.end(endpoint, established);
        }
    }

    /// A connection is there, without anything to do yet.
    pub(super) fn opened(&mut self, slot: Slot) {
        self.end_opening(slot, Some(self.driver.woke()));
        self.release(slot);
        // Peers may greet one another at once.
        self.touch(slot);
    }

    /// Takes the exchanges off a connection that was only to be opened.
    fn release(&mut self, slot: Slot) {
        let places = self.on(slot);
        // Nothing was asked on it: it has all its requests before it.
        let connection = self.connections.get(slot);
        (connection.requests, connection.retiring) = (0, false);
        drop(connection.protocol.streams().map(Streams::take_waiting));
        for &place in &places {
            self.places.leave(place);
            self.connections.part(slot);
        }
        self.done_with(places);
    }

    /// A connection could not be opened.
    pub(super) fn unopened(&mut self, slot: Slot) {
        self.end_opening(slot, None);
        self.unestablished += 1;
        let family = self.connections.get(slot).family;
        self.record.tally[family].connections.unopened += 1;
        self.release(slot);
        self.close(slot, Close::Reset);
    }

    fn soonest_timer(&mut self) -> u64 {
        let latest = self.driver.woke() + PATIENCE;
        let oldest = self.places.longest_in_flight().map(|place| self.deadline(place));
        let timer = self.quic.as_ref().and_then(|quic| quic.next_timer()).map(|(at, _)| at);
        oldest.into_iter().chain(timer).fold(latest, u64::min)
    }

    fn give_up_opening(&mut self) {
        while let Some(place) = self.places.longest_in_flight() {
            let slot = self.places.get(place).slot;
            self.unopened(slot);
        }
    }
}
