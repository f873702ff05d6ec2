//! How an exchange begins: on a connection that has room for it, or on a new one.

use sixmark_model::clocks::Timestamps;
use sixmark_model::outcome::Phase;
use sixmark_sys::driver::{Driver, Slot, Way};
use sixmark_units::family::Family;

use super::serial::is_last;
use super::{BURST, Worker};
use crate::arrivals::Turn;
use crate::connection::State;
use crate::places::{Exchange, Place};
use crate::protocol::Protocol;

impl<D: Driver> Worker<'_, D> {
    pub(super) fn begin_some(&mut self) {
        for _ in 0..BURST {
            if !self.begin() {
                break;
            }
        }
        self.flush_touched();
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
            self.no_longer_blocked(now);
            self.let_go(now);
            return false;
        }
        let Some((mut turn, way)) = self.take_turn(now) else { return false };
        if self.leaves_out(&turn) {
            return true;
        }
        self.maker.choose(&mut turn);
        match way {
            Some(slot) => self.put(&turn, slot, now),
            None => self.open(&turn),
        }
        if timed {
            self.flush_touched();
        }
        true
    }

    /// Begins an exchange on a connection that is there, or about to be.
    fn put(&mut self, turn: &Turn, slot: Slot, now: u64) {
        if turn.counted {
            let family = self.connections.get(slot).family;
            self.record.sent(family);
        }
        let place = self.take_place(turn, slot, now);
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
        self.make_room();
        let now = self.driver.now();
        let slot = self.connect(endpoint, now);
        let place = self.take_place(turn, slot, now);
        self.join(slot, place);
        self.wait_for(slot, place);
    }

    fn take_place(&mut self, turn: &Turn, slot: Slot, now: u64) -> Place {
        let place = self.places.take(exchange(turn, slot, now));
        if let Some(notes) = &mut self.notes {
            notes.begin(place);
        }
        place
    }

    /// Idle connections to where nothing goes just now make room for another.
    pub(super) fn make_room(&mut self) {
        while self.connections.are_most()
            && let Some(idle) = self.connections.longest_idle()
        {
            self.displace(idle);
        }
    }

    /// Begins a connection, which is still without an exchange.
    pub(super) fn connect(&mut self, endpoint: usize, now: u64) -> Slot {
        let target = &self.prepared.endpoints[endpoint];
        let plan = &self.prepared.plan;
        let datagrams = self.quic.is_some();
        let protocol = Protocol::new(&plan.http, self.begin_quic(endpoint, now));
        let slot = self.connections.open(endpoint, target.family, protocol, now);
        let from = self.sources.next(target.family);
        let lasting = plan.connection.lasting();
        let (to, no_delay) = (target.address, target.no_delay);
        let ask_handshake = !datagrams && self.asks_handshake(target.family);
        let way = Way { to, from, no_delay, lasting, ask_handshake, datagrams };
        self.connections.get(slot).opened = self.driver.connect(slot, &way);
        slot
    }

    /// Whether the kernel is to be asked how long the handshake of the next connection took: of all
    /// where connect is timed by its clock, else of some to be put beside this client's.
    fn asks_handshake(&mut self, family: Family) -> bool {
        let counts = self.opening.is_some() || self.driver.woke() >= self.measure_from;
        let timed = self.prepared.plan.load.timestamps == Timestamps::Kernel;
        timed || (counts && self.record.handshakes.takes(family))
    }

    /// Puts an exchange on a connection, which may be its last.
    pub(super) fn join(&mut self, slot: Slot, place: Place) {
        self.places.get(place).slot = slot;
        let connection = self.connections.get(slot);
        if connection.protocol.is_multiplexed() {
            connection.retiring |= is_last(&self.prepared.plan.connection, connection.requests + 1);
        }
        self.connections.join(slot);
    }

    /// Sets an exchange aside until its connection is established.
    pub(super) fn wait_for(&mut self, slot: Slot, place: Place) {
        self.connections.get(slot).protocol.enqueue(place);
    }

    /// Sends an exchange's request. On a connection that was idle, the exchange starts with this.
    pub(super) fn start(&mut self, slot: Slot, place: Place, starts: bool) {
        self.wait_for(slot, place);
        match self.connections.get(slot).protocol {
            Protocol::Serial(_) => self.send(slot, starts),
            Protocol::Multiplexed(_) => {
                if starts {
                    self.places.get(place).start = self.driver.now();
                }
                self.begin_streams(slot);
            }
        }
    }

    /// Puts an exchange that its connection could not serve on another one.
    pub(super) fn move_to_other(&mut self, place: Place, endpoint: usize) {
        let slot = self.connections.room(endpoint).unwrap_or_else(|| {
            self.make_room();
            let now = self.driver.now();
            self.connect(endpoint, now)
        });
        self.join(slot, place);
        match self.connections.get(slot).state {
            State::Open => self.start(slot, place, false),
            _ => self.wait_for(slot, place),
        }
    }
}

pub(super) fn exchange(turn: &Turn, slot: Slot, now: u64) -> Exchange {
    let Turn { counted, due, waited, request, .. } = *turn;
    Exchange {
        slot,
        phase: Phase::Send,
        counted,
        due,
        waited,
        start: now,
        sent: 0,
        first: None,
        tries: 0,
        followed: false,
        request,
        length: 0,
    }
}
