//! Starting exchanges, on a connection that has room or on a new one.

use sixmark_sys::driver::{Driver, Slot};

use super::serial::is_last;
use super::{BURST, Worker};
use crate::connection::{Carrier, State};
use crate::exchange::ConcurrencySlot;
use crate::protocol::Protocol;
use crate::scheduler::{NextStep, ScheduledExchange};

impl<D: Driver> Worker<'_, D> {
    pub(super) fn begin_some(&mut self) {
        for _ in 0..BURST {
            if !self.begin() {
                break;
            }
        }
        self.flush_touched();
    }

    /// Starts an exchange if a concurrency slot is free and one may start. Returns true if it did,
    /// or left one out.
    pub(super) fn begin(&mut self) -> bool {
        if self.scheduler.concurrency_slots.free() == 0 {
            return false;
        }
        // In an open loop, exchanges that fall due while events are processed do not wait for the
        // end of that.
        let timed = self.scheduler.is_timed();
        let driver = &self.network.driver;
        let now = if timed { driver.now() } else { driver.woke() };
        if !self.scheduler.may_begin(now) {
            self.scheduler.unblock(now, &mut self.recorder);
            self.let_go(now);
            return false;
        }
        let Some((mut turn, way)) = self.take_exchange(now) else { return false };
        let family = self.prepared.endpoints[turn.endpoint].family;
        if self.scheduler.leaves_out(&turn, family, &mut self.recorder) {
            return true;
        }
        if let Some(request) = self.requests.choose(turn.counted, turn.endpoint) {
            turn.request = request;
        }
        self.begin_measurement(&turn, now);
        match way {
            Some(slot) => self.put(&turn, slot, now),
            None => self.open(&turn),
        }
        if timed {
            self.flush_touched();
        }
        true
    }

    /// Begins the measurement if it awaits the first exchange and this one, which starts at `now`,
    /// is counted.
    pub(super) fn begin_measurement(&mut self, turn: &ScheduledExchange, now: u64) {
        if turn.counted {
            let driver = &self.network.driver;
            self.recorder.begin_with_first(now, || driver.idle_ns());
        }
    }

    /// Returns the exchange that starts at `now` and its way. `None` if there is no way.
    fn take_exchange(&mut self, now: u64) -> Option<(ScheduledExchange, Carrier)> {
        loop {
            let (prepared, connections) = (self.prepared, &self.network.connections);
            match self.scheduler.next_step(prepared, connections, &mut self.recorder, now) {
                NextStep::Begin(turn, way) => return Some((turn, way)),
                NextStep::Wait => return None,
                NextStep::Displace(idle) => self.displace(idle),
                NextStep::GoOn => {}
            }
            if !self.scheduler.may_begin(now) {
                self.scheduler.unblock(now, &mut self.recorder);
                return None;
            }
        }
    }

    /// Starts an exchange on a connection that exists or is being opened.
    fn put(&mut self, turn: &ScheduledExchange, slot: Slot, now: u64) {
        let family = self.network.connections.get(slot).family;
        self.recorder.sent(family, turn.counted);
        let concurrency_slot = self.scheduler.begin_exchange(turn, slot, now);
        self.requests.begin(concurrency_slot);
        self.put_on(slot, concurrency_slot, true);
    }

    /// Starts an exchange on a new connection, which others may join.
    pub(super) fn open(&mut self, turn: &ScheduledExchange) {
        // While connections are only opened, no exchange starts.
        if self.opening.is_none() {
            self.recorder.sent(self.prepared.endpoints[turn.endpoint].family, turn.counted);
        }
        self.make_room();
        let now = self.network.driver.now();
        let slot = self.connect(turn.endpoint, now);
        let concurrency_slot = self.scheduler.begin_exchange(turn, slot, now);
        self.requests.begin(concurrency_slot);
        self.join(slot, concurrency_slot);
        self.network.connections.get(slot).protocol.enqueue(concurrency_slot);
    }

    /// Closes idle connections to make room for another.
    pub(super) fn make_room(&mut self) {
        while self.network.connections.are_most()
            && let Some(idle) = self.network.connections.longest_idle()
        {
            self.displace(idle);
        }
    }

    /// Closes an idle connection in favour of another.
    fn displace(&mut self, idle: Slot) {
        if self.recorder.measures(self.network.driver.woke()) {
            let family = self.network.connections.get(idle).family;
            self.recorder.count_displaced(family);
        }
        self.close(idle, self.network.usual_close());
    }

    /// Begins to open a connection, without an exchange.
    pub(super) fn connect(&mut self, endpoint: usize, now: u64) -> Slot {
        self.network.open(endpoint, now, &mut self.recorder)
    }

    /// Closes the idle connections once no more exchanges will start: exchanges in flight may wait
    /// for their slots on the server.
    fn let_go(&mut self, now: u64) {
        if !self.scheduler.is_drawn(now) {
            return;
        }
        while let Some(idle) = self.network.connections.longest_idle() {
            self.close(idle, self.network.usual_close());
        }
    }

    /// Adds an exchange to a connection, which may be its last one.
    fn join(&mut self, slot: Slot, concurrency_slot: ConcurrencySlot) {
        self.scheduler.concurrency_slots.get(concurrency_slot).slot = slot;
        let connection = self.network.connections.get(slot);
        if connection.protocol.is_multiplexed() {
            connection.retiring |= is_last(&self.prepared.plan.connection, connection.requests + 1);
        }
        self.network.connections.join(slot);
    }

    /// Puts an exchange on a connection, and sends its request if that is established. With
    /// `starts`, the exchange starts now.
    pub(super) fn put_on(&mut self, slot: Slot, concurrency_slot: ConcurrencySlot, starts: bool) {
        self.join(slot, concurrency_slot);
        let connection = self.network.connections.get(slot);
        connection.protocol.enqueue(concurrency_slot);
        match (connection.state, &connection.protocol) {
            (State::Open, Protocol::Serial(_)) => self.send(slot, starts),
            (State::Open, Protocol::Multiplexed(_)) => {
                if starts {
                    self.scheduler.concurrency_slots.get(concurrency_slot).start =
                        self.network.driver.now();
                }
                self.begin_streams(slot);
            }
            _ => {}
        }
    }

    /// Moves an exchange that its connection could not serve to another connection.
    pub(super) fn move_to_other(&mut self, concurrency_slot: ConcurrencySlot, endpoint: usize) {
        let slot = self.network.connections.room(endpoint).unwrap_or_else(|| {
            self.make_room();
            let now = self.network.driver.now();
            self.connect(endpoint, now)
        });
        self.put_on(slot, concurrency_slot, false);
    }
}
