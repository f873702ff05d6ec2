//! One worker's exchanges in flight: which places are taken, and since when.

use std::collections::VecDeque;

use sixmark_http::observer::Token;
use sixmark_model::chain::{Chain, Links};
use sixmark_model::outcome::Phase;
use sixmark_sys::driver::Slot;

use super::gather::Gather;

/// A place's number; with several exchanges on a connection it is the exchange's token there.
pub(super) type Place = Token;

/// One request and its response. Times are the driver's nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exchange {
    /// The connection that it is on, or that is being opened for it.
    pub(super) slot: Slot,
    /// Where it has come to, once its connection is established.
    pub(super) phase: Phase,
    /// Begun during the measurement, so that it counts.
    pub(super) counted: bool,
    /// When it was to start, in an open loop.
    pub(super) due: Option<u64>,
    /// It was due while no place was free.
    pub(super) waited: bool,
    pub(super) start: u64,
    /// When the request's last byte was handed to the kernel.
    pub(super) sent: u64,
    /// When the response's first byte came.
    pub(super) first: Option<u64>,
    /// How often a peer did nothing with it.
    pub(super) tries: u8,
    /// A redirect led to it.
    pub(super) followed: bool,
    /// The number of the plan's request that it sends, and how long that is, in bytes, where it is
    /// sent without TLS over HTTP/1.1.
    pub(super) request: u32,
    pub(super) length: u64,
}

impl Exchange {
    /// The response's first byte ends the wait.
    pub(super) fn note_first(&mut self, at: u64) {
        if self.first.is_some() {
            return;
        }
        self.first = Some(at);
        match self.phase {
            // A response before the request's end: there was no wait.
            Phase::Send => self.sent = at,
            _ => self.phase = Phase::Transfer,
        }
    }

    /// The request's last byte was handed over.
    pub(super) fn note_sent(&mut self, at: u64) {
        // A response that has begun already was not waited for.
        self.phase = if self.first.is_some() { Phase::Transfer } else { Phase::Wait };
        if self.first.is_none() {
            self.sent = at;
        }
    }
}

/// The places of a worker.
#[derive(Debug)]
pub(super) struct Places {
    /// As many as were ever taken at once.
    exchanges: Vec<Exchange>,
    vacant: Vec<Place>,
    links: Links,
    in_flight: Chain,
    /// Places without an exchange, and those of them that rest until these times.
    free: usize,
    resting: VecDeque<u64>,
    gather: Gather,
}

impl Places {
    /// So many, which are given out as `gather` says.
    pub(super) fn new(count: usize, gather: Gather) -> Places {
        Places {
            exchanges: Vec::new(),
            vacant: Vec::new(),
            links: Links::default(),
            in_flight: Chain::default(),
            free: count,
            resting: VecDeque::new(),
            gather,
        }
    }

    /// How many exchanges may begin now.
    pub(super) fn free(&self) -> usize {
        self.free
    }

    pub(super) fn get(&mut self, place: Place) -> &mut Exchange {
        &mut self.exchanges[place as usize]
    }

    /// Takes a place for an exchange that is in flight from now on; to be called only where one is
    /// free.
    pub(super) fn take(&mut self, exchange: Exchange) -> Place {
        self.free -= 1;
        let place = match self.vacant.pop() {
            Some(place) => {
                self.exchanges[place as usize] = exchange;
                place
            }
            None => {
                self.exchanges.push(exchange);
                self.links.grow(self.exchanges.len());
                (self.exchanges.len() - 1) as Place
            }
        };
        self.in_flight.push(&mut self.links, place);
        place
    }

    /// Puts an exchange into a place that another has just left, without freeing it in between.
    pub(super) fn renew(&mut self, place: Place, exchange: Exchange) {
        self.exchanges[place as usize] = exchange;
        // By their starts.
        self.in_flight.remove(&mut self.links, place);
        self.in_flight.push(&mut self.links, place);
    }

    /// Gives a place back, free for the next exchange.
    pub(super) fn leave(&mut self, place: Place) {
        self.vacate(place);
        self.free += 1;
    }

    /// Gives a place back at `now`, for the next exchange in its turn.
    pub(super) fn leave_in_turn(&mut self, place: Place, now: u64) {
        self.vacate(place);
        self.free += self.gather.add(now);
        if self.in_flight.oldest().is_none() {
            self.free += self.gather.take();
        }
    }

    /// Gives a place back that must not be taken before `until`.
    pub(super) fn leave_to_rest(&mut self, place: Place, until: u64) {
        self.vacate(place);
        self.resting.push_back(until);
    }

    fn vacate(&mut self, place: Place) {
        self.in_flight.remove(&mut self.links, place);
        self.vacant.push(place);
    }

    /// Frees the places that have rested or waited for others by `now`.
    pub(super) fn wake(&mut self, now: u64) {
        self.free += self.gather.wake(now);
        while self.resting.front().is_some_and(|&until| until <= now) {
            self.resting.pop_front();
            self.free += 1;
        }
    }

    /// When the next place has rested, or waited long enough.
    pub(super) fn next_waking(&self) -> Option<u64> {
        let rested = self.resting.front().copied();
        rested.into_iter().chain(self.gather.next()).min()
    }

    /// The exchange in flight that began first.
    pub(super) fn longest_in_flight(&self) -> Option<Place> {
        self.in_flight.oldest()
    }
}
