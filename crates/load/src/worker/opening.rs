//! Connections opened before the load begins (`--preopen`), so that it finds them there.

use std::sync::atomic::{AtomicBool, Ordering};

use sixmark_sys::driver::{Close, Driver, Slot};

use super::{PATIENCE, Worker};
use crate::LONGEST_SILENCE;
use crate::protocol::Streams;
use crate::scheduler::Turn;

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
    /// exchanges will be. Each takes a permit until it is there. What can't be opened is counted, not
    /// tried again, and where none of those under way to an endpoint comes about for a while the
    /// others to it aren't tried at all: the server takes no more. `tell` hears now and then how many
    /// there are.
    pub fn open_first(&mut self, stop: &AtomicBool, mut tell: impl FnMut(u64)) {
        let mut order = self.scheduler.opening_order(self.prepared);
        let mut left = self.network.connections.usual();
        self.opening = Some(FirstConnections::new(self.prepared.endpoints.len()));
        self.network.driver.wait(self.scheduler.begin());
        let mut told = self.network.driver.woke();
        while !stop.load(Ordering::Relaxed) && !self.is_hopeless() {
            while left > 0 && self.under_way() < AT_ONCE {
                left -= 1;
                self.open_one(order.draw(self.prepared));
            }
            if self.under_way() == 0 {
                break;
            }
            let until = self.soonest_timer();
            self.wait(until);
            while let Some(event) = self.network.driver.next() {
                self.handle(event);
                self.flush_touched();
            }
            let now = self.network.driver.woke();
            self.wake_quic(now);
            // Before those end that took too long: they say the most about their endpoint.
            self.give_up_silent(now);
            self.time_out();
            if now >= told + PROGRESS {
                told = now;
                tell(self.scheduler.silence.established());
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
        let since = now.saturating_sub(self.scheduler.timeout().min(LONGEST_SILENCE));
        while let Some(endpoint) = self.opening.as_mut().and_then(|all| all.give_up_silent(since)) {
            for slot in self.network.connections.opening_to(endpoint) {
                self.unopened(slot);
            }
        }
    }

    /// Begins a connection, or counts it where its endpoint takes no more.
    fn open_one(&mut self, endpoint: usize) {
        let now = self.network.driver.woke();
        let Some(opening) = &mut self.opening else { return };
        if opening.to[endpoint].given_up {
            let family = self.prepared.endpoints[endpoint].family;
            self.recorder.tally[family].connections.unopened += 1;
            return;
        }
        opening.begin(endpoint, now);
        self.open(&Turn { endpoint, counted: false, due: None, waited: false, request: 0 });
    }

    /// One of those under way is over.
    fn end_opening(&mut self, slot: Slot, established: Option<u64>) {
        let endpoint = self.network.connections.get(slot).endpoint;
        if let Some(opening) = &mut self.opening {
            opening.end(endpoint, established);
        }
    }

    /// A connection is there, without anything to do yet.
    pub(super) fn opened(&mut self, slot: Slot) {
        self.end_opening(slot, Some(self.network.driver.woke()));
        self.release(slot);
        // Peers may greet one another at once.
        self.network.touch(slot);
    }

    /// Takes the exchanges off a connection that was only to be opened.
    fn release(&mut self, slot: Slot) {
        let permits = self.on(slot);
        // Nothing was asked on it: it has all its requests before it.
        let connection = self.network.connections.get(slot);
        (connection.requests, connection.retiring) = (0, false);
        drop(connection.protocol.streams().map(Streams::take_waiting));
        for &permit in &permits {
            self.scheduler.permits.leave(permit);
            self.network.connections.part(slot);
        }
        self.done_with(permits);
    }

    /// A connection could not be opened.
    pub(super) fn unopened(&mut self, slot: Slot) {
        self.end_opening(slot, None);
        self.scheduler.silence.note_unestablished();
        let family = self.network.connections.get(slot).family;
        self.recorder.tally[family].connections.unopened += 1;
        self.release(slot);
        self.close(slot, Close::Reset);
    }

    fn soonest_timer(&mut self) -> u64 {
        let latest = self.network.driver.woke() + PATIENCE;
        let oldest = self.scheduler.next_timeout(&self.recorder);
        oldest.into_iter().chain(self.network.next_timer()).fold(latest, u64::min)
    }

    fn give_up_opening(&mut self) {
        while let Some(permit) = self.scheduler.permits.longest_in_flight() {
            let slot = self.scheduler.permits.get(permit).slot;
            self.unopened(slot);
        }
    }
}
