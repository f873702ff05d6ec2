//! The exchanges of a worker that are in flight.

use std::collections::VecDeque;

use crate::slot_list::{SlotLinks, SlotList};

use super::batcher::Batcher;
use crate::exchange::{Exchange, Permit};

/// The permits of a worker.
#[derive(Debug)]
pub(crate) struct Permits {
    /// By permit. There are as many as were ever taken at once.
    exchanges: Vec<Exchange>,
    vacant: Vec<Permit>,
    links: SlotLinks,
    in_flight: SlotList,
    /// The number of free permits, and the times until which others rest.
    free: usize,
    resting: VecDeque<u64>,
    batcher: Batcher,
}

impl Permits {
    /// Creates `count` permits, which `batcher` gives out.
    pub(super) fn new(count: usize, batcher: Batcher) -> Permits {
        Permits {
            exchanges: Vec::new(),
            vacant: Vec::new(),
            links: SlotLinks::default(),
            in_flight: SlotList::default(),
            free: count,
            resting: VecDeque::new(),
            batcher,
        }
    }

    /// Returns how many exchanges may start now.
    pub(crate) fn free(&self) -> usize {
        self.free
    }

    pub(crate) fn get(&mut self, permit: Permit) -> &mut Exchange {
        &mut self.exchanges[permit as usize]
    }

    /// Takes a permit for an exchange that is in flight from now on. Must be called only if a
    /// permit is free.
    pub(crate) fn take(&mut self, exchange: Exchange) -> Permit {
        self.free -= 1;
        let permit = match self.vacant.pop() {
            Some(permit) => {
                self.exchanges[permit as usize] = exchange;
                permit
            }
            None => {
                self.exchanges.push(exchange);
                self.links.grow(self.exchanges.len());
                (self.exchanges.len() - 1) as Permit
            }
        };
        self.in_flight.push(&mut self.links, permit);
        permit
    }

    /// Puts a new exchange on the permit of one that has just ended, without freeing the permit.
    pub(crate) fn renew(&mut self, permit: Permit, exchange: Exchange) {
        self.exchanges[permit as usize] = exchange;
        // The list is ordered by start.
        self.in_flight.remove(&mut self.links, permit);
        self.in_flight.push(&mut self.links, permit);
    }

    /// Frees a permit for the next exchange.
    pub(crate) fn leave(&mut self, permit: Permit) {
        self.vacate(permit);
        self.free += 1;
    }

    /// Gives a permit back at `now`, for the next exchange in turn.
    pub(crate) fn leave_in_turn(&mut self, permit: Permit, now: u64) {
        self.vacate(permit);
        self.free += self.batcher.add(now);
        if self.in_flight.oldest().is_none() {
            self.free += self.batcher.take();
        }
    }

    /// Gives a permit back that must not be taken before `until`.
    pub(crate) fn leave_to_rest(&mut self, permit: Permit, until: u64) {
        self.vacate(permit);
        self.resting.push_back(until);
    }

    fn vacate(&mut self, permit: Permit) {
        self.in_flight.remove(&mut self.links, permit);
        self.vacant.push(permit);
    }

    /// Frees the permits that have rested or waited long enough by `now`.
    pub(crate) fn wake(&mut self, now: u64) {
        self.free += self.batcher.wake(now);
        while self.resting.front().is_some_and(|&until| until <= now) {
            self.resting.pop_front();
            self.free += 1;
        }
    }

    /// Returns when the next permit has rested or waited long enough.
    pub(crate) fn next_waking(&self) -> Option<u64> {
        let rested = self.resting.front().copied();
        rested.into_iter().chain(self.batcher.next()).min()
    }

    /// Returns the exchange in flight that started first.
    pub(crate) fn longest_in_flight(&self) -> Option<Permit> {
        self.in_flight.oldest()
    }
}
