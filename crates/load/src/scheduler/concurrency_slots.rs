//! The exchanges of a worker that are in flight.

use std::collections::VecDeque;

use crate::slot_list::{SlotLinks, SlotList};

use super::batcher::Batcher;
use crate::exchange::{ConcurrencySlot, Exchange};

/// The concurrency slots of a worker.
#[derive(Debug)]
pub(crate) struct ConcurrencySlots {
    /// By concurrency slot. There are as many as were ever taken at once.
    exchanges: Vec<Exchange>,
    vacant: Vec<ConcurrencySlot>,
    links: SlotLinks,
    in_flight: SlotList,
    /// The number of free concurrency slots, and the times until which others rest.
    free: usize,
    resting: VecDeque<u64>,
    batcher: Batcher,
}

impl ConcurrencySlots {
    /// Creates `count` concurrency slots, which `batcher` gives out.
    pub(super) fn new(count: usize, batcher: Batcher) -> ConcurrencySlots {
        ConcurrencySlots {
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

    pub(crate) fn get(&mut self, concurrency_slot: ConcurrencySlot) -> &mut Exchange {
        &mut self.exchanges[concurrency_slot as usize]
    }

    /// Takes a concurrency slot for an exchange that is in flight from now on. Must be called only
    /// if a concurrency slot is free.
    pub(crate) fn take(&mut self, exchange: Exchange) -> ConcurrencySlot {
        self.free -= 1;
        let concurrency_slot = match self.vacant.pop() {
            Some(concurrency_slot) => {
                self.exchanges[concurrency_slot as usize] = exchange;
                concurrency_slot
            }
            None => {
                self.exchanges.push(exchange);
                self.links.grow(self.exchanges.len());
                (self.exchanges.len() - 1) as ConcurrencySlot
            }
        };
        self.in_flight.push(&mut self.links, concurrency_slot);
        concurrency_slot
    }

    /// Puts a new exchange on the concurrency slot of one that has just ended, without freeing the
    /// concurrency slot.
    pub(crate) fn renew(&mut self, concurrency_slot: ConcurrencySlot, exchange: Exchange) {
        self.exchanges[concurrency_slot as usize] = exchange;
        // The list is ordered by start.
        self.in_flight.remove(&mut self.links, concurrency_slot);
        self.in_flight.push(&mut self.links, concurrency_slot);
    }

    /// Frees a concurrency slot for the next exchange.
    pub(crate) fn leave(&mut self, concurrency_slot: ConcurrencySlot) {
        self.vacate(concurrency_slot);
        self.free += 1;
    }

    /// Gives a concurrency slot back at `now`, for the next exchange in turn.
    pub(crate) fn give_back(&mut self, concurrency_slot: ConcurrencySlot, now: u64) {
        self.vacate(concurrency_slot);
        self.free += self.batcher.add(now);
        if self.in_flight.oldest().is_none() {
            self.free += self.batcher.take();
        }
    }

    /// Gives a concurrency slot back that must not be taken before `until`.
    pub(crate) fn leave_to_rest(&mut self, concurrency_slot: ConcurrencySlot, until: u64) {
        self.vacate(concurrency_slot);
        self.resting.push_back(until);
    }

    fn vacate(&mut self, concurrency_slot: ConcurrencySlot) {
        self.in_flight.remove(&mut self.links, concurrency_slot);
        self.vacant.push(concurrency_slot);
    }

    /// Frees the concurrency slots that have rested or waited long enough by `now`.
    pub(crate) fn wake(&mut self, now: u64) {
        self.free += self.batcher.wake(now);
        while self.resting.front().is_some_and(|&until| until <= now) {
            self.resting.pop_front();
            self.free += 1;
        }
    }

    /// Returns when the next concurrency slot has rested or waited long enough.
    pub(crate) fn next_waking(&self) -> Option<u64> {
        let rested = self.resting.front().copied();
        rested.into_iter().chain(self.batcher.next()).min()
    }

    /// Returns the exchange in flight that started first.
    pub(crate) fn longest_in_flight(&self) -> Option<ConcurrencySlot> {
        self.in_flight.oldest()
    }
}
