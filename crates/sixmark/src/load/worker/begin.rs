//! How an exchange begins: on a connection that has room for it, or on a new one.

use sixmark_core::outcome::Phase;
use sixmark_sys::driver::{Driver, Slot, Way};

use super::{BURST, Worker};
use crate::load::arrivals::Turn;
use crate::load::connection::State;
use crate::load::places::{Exchange, Place};
use crate::load::talk::{Http1, Talk};

impl<D: Driver> Worker<'_, D> {
    pub(super) fn begin_some(&mut self) {
        for _ in 0..BURST {
            if !self.begin() {
                return;
            }
        }
    }

    /// Begins an exchange if a place is free for one and one may begin; true where it did.
    pub(super) fn begin(&mut self) -> bool {
        if self.places.free() == 0 {
            return false;
        }
        // What falls due while a batch is dealt with does not wait for its end.
        let timed = self.arrivals.are_timed();
        let now = if timed { self.driver.now() } else { self.driver.woke() };
        if !self.arrivals.may_begin(now) {
            return false;
        }
        let turn = self.arrivals.take(self.prepared, now);
        match self.room(turn.endpoint) {
            Some(slot) => self.put(&turn, slot, now),
            None => self.open(&turn),
        }
        true
    }

    /// A connection to `endpoint` that can take another exchange: an idle one, the one used last
    /// or, where all were opened to be used, the one used least recently; else, where there are
    /// enough connections, one that carries others.
    fn room(&mut self, endpoint: usize) -> Option<Slot> {
        let idle = match self.prepared.plan.connection.preopen {
            true => self.connections.oldest_idle(endpoint),
            false => self.connections.newest_idle(endpoint),
        };
        idle.or_else(|| {
            let enough = self.connections.count() >= self.usual_connections;
            self.connections.roomy(endpoint).filter(|_| enough)
        })
    }

    /// Begins an exchange on a connection that is there, or about to be.
    fn put(&mut self, turn: &Turn, slot: Slot, now: u64) {
        if turn.counted {
            let family = self.connections.get(slot).family;
            self.record.sent(family);
        }
        let place = self.places.take(exchange(turn, slot, now));
        self.join(slot, place);
        match self.connections.get(slot).state {
            State::Open => self.start(slot, place, true),
            _ => self.wait_for(slot, place),
        }
    }

    /// Begins an exchange on a connection of its own, which others may join.
    pub(super) fn open(&mut self, turn: &Turn) {
        let endpoint = turn.endpoint;
        let target = &self.prepared.endpoints[endpoint];
        let family = target.family;
        if turn.counted {
            self.record.sent(family);
        }
        // Idle connections to where nothing goes just now make room.
        while self.connections.count() >= self.most_connections
            && let Some(idle) = self.connections.longest_idle()
        {
            self.close(idle, self.usual_close());
        }
        let now = self.driver.now();
        let slot = self.connections.open(endpoint, family, Talk::Http1(Http1::default()), now);
        let place = self.places.take(exchange(turn, slot, now));
        self.join(slot, place);
        self.wait_for(slot, place);
        let from = self.sources.next(family);
        let lasting = self.prepared.plan.connection.lasting();
        let way = Way { to: target.address, from, no_delay: target.no_delay, lasting };
        self.connections.get(slot).opened = self.driver.connect(slot, &way);
    }

    /// Puts an exchange on a connection, which may be its last.
    fn join(&mut self, slot: Slot, _place: Place) {
        self.connections.join(slot);
    }

    /// Sets an exchange aside until its connection is established.
    fn wait_for(&mut self, slot: Slot, place: Place) {
        match &mut self.connections.get(slot).talk {
            Talk::Http1(talk) => talk.place = place,
        }
    }

    /// Sends an exchange's request. On a connection that was idle, the exchange starts with this.
    pub(super) fn start(&mut self, slot: Slot, place: Place, starts: bool) {
        match &mut self.connections.get(slot).talk {
            Talk::Http1(talk) => {
                talk.place = place;
                self.send(slot, starts);
            }
        }
    }
}

fn exchange(turn: &Turn, slot: Slot, now: u64) -> Exchange {
    let Turn { counted, due, waited, .. } = *turn;
    let (phase, sent, first) = (Phase::Send, 0, None);
    Exchange { slot, phase, counted, due, waited, start: now, sent, first }
}
