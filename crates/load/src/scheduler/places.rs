//! One worker's exchanges in flight: which places are taken, and since when.

use std::collections::VecDeque;

use sixmark_model::chain::{Chain, Links};

use super::gather::Gather;
use crate::exchange::{Exchange, Place};

/// The places of a worker.
#[derive(Debug)]
pub(crate) struct Places {
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
    pub(crate) fn free(&self) -> usize {
        self.free
    }

    pub(crate) fn get(&mut self, place: Place) -> &mut Exchange {
        &mut self.exchanges[place as usize]
    }

    /// Takes a place for an exchange that is in flight from now on; to be called only where one is
    /// free.
    pub(crate) fn take(&mut self, exchange: Exchange) -> Place {
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
    pub(crate) fn renew(&mut self, place: Place, exchange: Exchange) {
        self.exchanges[place as usize] = exchange;
        // By their starts.
        self.in_flight.remove(&mut self.links, place);
        self.in_flight.push(&mut self.links, place);
    }

    /// Gives a place back, free for the next exchange.
    pub(crate) fn leave(&mut self, place: Place) {
        self.vacate(place);
        self.free += 1;
    }

    /// Gives a place back at `now`, for the next exchange in its turn.
    pub(crate) fn leave_in_turn(&mut self, place: Place, now: u64) {
        self.vacate(place);
        self.free += self.gather.add(now);
        if self.in_flight.oldest().is_none() {
            self.free += self.gather.take();
        }
    }

    /// Gives a place back that must not be taken before `until`.
    pub(crate) fn leave_to_rest(&mut self, place: Place, until: u64) {
        self.vacate(place);
        self.resting.push_back(until);
    }

    fn vacate(&mut self, place: Place) {
        self.in_flight.remove(&mut self.links, place);
        self.vacant.push(place);
    }

    /// Frees the places that have rested or waited for others by `now`.
    pub(crate) fn wake(&mut self, now: u64) {
        self.free += self.gather.wake(now);
        while self.resting.front().is_some_and(|&until| until <= now) {
            self.resting.pop_front();
            self.free += 1;
        }
    }

    /// When the next place has rested, or waited long enough.
    pub(crate) fn next_waking(&self) -> Option<u64> {
        let rested = self.resting.front().copied();
        rested.into_iter().chain(self.gather.next()).min()
    }

    /// The exchange in flight that began first.
    pub(crate) fn longest_in_flight(&self) -> Option<Place> {
        self.in_flight.oldest()
    }
}
