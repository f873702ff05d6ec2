//! Connections opened before the load begins (`--preopen`), so that it finds them there.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};

use sixmark_sys::driver::{Close, Driver, Slot};

use super::{PATIENCE, Worker};
use crate::load::arrivals::Turn;
use crate::load::schedule::Schedule;

/// Connections that a worker opens at a time: more would only overflow the server's queue.
const AT_ONCE: usize = 64;
/// How long to wait for any of those under way, in nanoseconds: by then a connect has been tried
/// again three times (RFC 6298, 2.1 and 5.5).
const LONGEST_SILENCE: u64 = 10_000_000_000;
/// From one word on how many there are to the next, in nanoseconds.
const PROGRESS: u64 = 250_000_000;

impl<D: Driver> Worker<'_, D> {
    /// Opens as many connections as are to be used at once, spread over the endpoints as the
    /// exchanges will be. Each takes a place until it is there. What can't be opened is counted, not
    /// tried again, and where none of those under way comes about for a while the others aren't tried
    /// at all: the server takes no more. `tell` hears now and then how many there are.
    pub fn open_first(&mut self, stop: &AtomicBool, mut tell: impl FnMut(u64)) {
        let mut schedule = Schedule::warm_up(self.prepared, self.number);
        let mut left = self.usual_connections;
        self.opening = Some(0);
        self.driver.wait(self.begin);
        let (mut news, mut told) = (self.driver.woke(), self.driver.woke());
        let mut there = self.established;
        while !stop.load(Ordering::Relaxed) && !self.is_hopeless() {
            while left > 0 && self.opening.is_some_and(|under_way| under_way < AT_ONCE) {
                left -= 1;
                self.open_one(schedule.draw(self.prepared));
            }
            if self.opening == Some(0) {
                break;
            }
            let until = self.soonest_timer();
            self.driver.wait(until);
            while let Some(event) = self.driver.next() {
                self.handle(event);
                self.flush_touched();
            }
            let now = self.driver.woke();
            self.wake_quic(now);
            self.time_out();
            if std::mem::replace(&mut there, self.established) < self.established {
                news = now;
            }
            if now >= told + PROGRESS {
                told = now;
                tell(there);
            }
            if now >= news + self.timeout.min(LONGEST_SILENCE) {
                self.leave_unopened(&mut schedule, left);
                break;
            }
        }
        self.give_up_opening();
        self.opening = None;
    }

    /// Counts those that aren't tried any more.
    fn leave_unopened(&mut self, schedule: &mut Schedule, left: usize) {
        for _ in 0..left {
            let endpoint = schedule.draw(self.prepared);
            let family = self.prepared.endpoints[endpoint].family;
            self.record.tally[family].connections.unopened += 1;
        }
    }

    fn open_one(&mut self, endpoint: usize) {
        self.opening = self.opening.map(|under_way| under_way + 1);
        self.open(&Turn { endpoint, counted: false, due: None, waited: false, request: 0 });
    }

    /// A connection is there, without anything to do yet.
    pub(super) fn opened(&mut self, slot: Slot) {
        self.opening = self.opening.map(|under_way| under_way - 1);
        self.release(slot);
        // Peers of HTTP/2 greet one another at once.
        self.touch(slot);
    }

    /// Takes the exchanges off a connection that was only to be opened.
    fn release(&mut self, slot: Slot) {
        let places = self.on(slot);
        // Nothing was asked on it: it has all its requests before it.
        let connection = self.connections.get(slot);
        (connection.requests, connection.retiring) = (0, false);
        connection.talk.waiting().map(VecDeque::clear);
        for &place in &places {
            self.places.leave(place);
            self.connections.part(slot);
        }
        self.done_with(places);
    }

    /// A connection could not be opened.
    pub(super) fn unopened(&mut self, slot: Slot) {
        self.opening = self.opening.map(|under_way| under_way - 1);
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
