//! Opening connections before the load begins (`--preopen`).

use std::sync::atomic::{AtomicBool, Ordering};

use sixmark_sys::driver::{Close, Driver, Slot};

use super::{PATIENCE_NS, Worker};
use crate::LONGEST_WITHOUT_RESPONSE_NS;
use crate::protocol::Streams;
use crate::scheduler::ScheduledExchange;

/// Number of connections that a worker opens at a time. More would only overflow the server's
/// queue.
const AT_ONCE: usize = 64;
/// Interval between two progress reports, in nanoseconds.
const PROGRESS_NS: u64 = 250_000_000;

/// The connections being opened before the load.
#[derive(Debug)]
pub(super) struct FirstConnections {
    under_way: usize,
    to: Vec<Attempts>,
}

/// The connections to one endpoint.
#[derive(Clone, Copy, Debug, Default)]
struct Attempts {
    under_way: usize,
    /// The time at which the last one was established, or at which the first one was begun while
    /// none was under way.
    news: u64,
    /// True if no more are tried.
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

    /// Records the end of an attempt. `established` is the time if it succeeded.
    fn end(&mut self, endpoint: usize, established: Option<u64>) {
        self.under_way -= 1;
        let to = &mut self.to[endpoint];
        to.under_way -= 1;
        to.news = established.unwrap_or(to.news);
    }

    /// Gives up an endpoint to which connections are under way but none has been established since
    /// `since`, and returns it.
    fn give_up_silent(&mut self, since: u64) -> Option<usize> {
        let silent = |to: &Attempts| !to.given_up && to.under_way > 0 && to.news <= since;
        let endpoint = self.to.iter().position(silent)?;
        self.to[endpoint].given_up = true;
        Some(endpoint)
    }
}

impl<D: Driver> Worker<'_, D> {
    /// Opens as many connections as are to be used at once, distributed over the endpoints like the
    /// exchanges. Each takes a concurrency slot until it is open. A connection that can't be opened
    /// is counted and not tried again. If none of those under way to an endpoint is established for
    /// a while, no more are tried: the server accepts no more. `tell` is called now and then with
    /// the number of connections established.
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
            // This precedes the timeouts, because the connections that time out say most about
            // their endpoint.
            self.give_up_silent(now);
            self.time_out();
            if now >= told + PROGRESS_NS {
                told = now;
                tell(self.scheduler.unresponsive_peers.established());
            }
        }
        self.give_up_opening();
        self.opening = None;
    }

    fn under_way(&self) -> usize {
        self.opening.as_ref().map_or(0, |opening| opening.under_way)
    }

    /// Gives up the endpoints that have accepted no connection for a long time.
    fn give_up_silent(&mut self, now: u64) {
        let since = now.saturating_sub(self.scheduler.timeout().min(LONGEST_WITHOUT_RESPONSE_NS));
        while let Some(endpoint) = self.opening.as_mut().and_then(|all| all.give_up_silent(since)) {
            for slot in self.network.connections.opening_to(endpoint) {
                self.unopened(slot);
            }
        }
    }

    /// Begins to open a connection, or counts it as unopened if its endpoint was given up.
    fn open_one(&mut self, endpoint: usize) {
        let now = self.network.driver.woke();
        let Some(opening) = &mut self.opening else { return };
        if opening.to[endpoint].given_up {
            let family = self.prepared.endpoints[endpoint].family;
            self.recorder.count_unopened(family);
            return;
        }
        opening.begin(endpoint, now);
        self.open(&ScheduledExchange {
            endpoint,
            counted: false,
            due: None,
            was_queued: false,
            request: 0,
        });
    }

    /// Records that an attempt is over.
    fn end_opening(&mut self, slot: Slot, established: Option<u64>) {
        let endpoint = self.network.connections.get(slot).endpoint;
        if let Some(opening) = &mut self.opening {
            opening.end(endpoint, established);
        }
    }

    /// Handles a connection that is open and has nothing to do yet.
    pub(super) fn opened(&mut self, slot: Slot) {
        self.end_opening(slot, Some(self.network.driver.woke()));
        self.release(slot);
        // The protocols of both sides may send their first data at once.
        self.network.touch(slot);
    }

    /// Removes the exchanges from a connection that was only to be opened.
    fn release(&mut self, slot: Slot) {
        let concurrency_slots = self.on(slot);
        // No request was sent on it, so none counts for its limit.
        let connection = self.network.connections.get(slot);
        (connection.requests, connection.retiring) = (0, false);
        drop(connection.protocol.streams().map(Streams::take_waiting));
        for &concurrency_slot in &concurrency_slots {
            self.scheduler.concurrency_slots.leave(concurrency_slot);
            self.network.connections.part(slot);
        }
        self.done_with(concurrency_slots);
    }

    /// Handles a connection that could not be opened.
    pub(super) fn unopened(&mut self, slot: Slot) {
        self.end_opening(slot, None);
        self.scheduler.unresponsive_peers.note_unestablished();
        let family = self.network.connections.get(slot).family;
        self.recorder.count_unopened(family);
        self.release(slot);
        self.close(slot, Close::Reset);
    }

    fn soonest_timer(&mut self) -> u64 {
        let latest = self.network.driver.woke() + PATIENCE_NS;
        let oldest = self.scheduler.next_timeout(&self.recorder);
        oldest.into_iter().chain(self.network.next_timer()).fold(latest, u64::min)
    }

    fn give_up_opening(&mut self) {
        while let Some(concurrency_slot) = self.scheduler.concurrency_slots.longest_in_flight() {
            let slot = self.scheduler.concurrency_slots.get(concurrency_slot).slot;
            self.unopened(slot);
        }
    }
}
