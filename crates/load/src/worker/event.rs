//! Processing the events of the driver.

use std::net::IpAddr;

use sixmark_sys::driver::{Close, Driver, Event, EventKind, Slot};
use sixmark_units::family::Family;

use super::Worker;
use crate::connection::State;
use crate::lateness::Lateness;
use crate::protocol::Protocol;

impl<D: Driver> Worker<'_, D> {
    pub(super) fn handle(&mut self, Event { slot, at, kind }: Event) {
        // If the kernel was queried meanwhile, an event may come long after the last wait.
        self.recorder.note_late_news(self.network.driver.woke(), at);
        let connection = self.network.connections.get(slot);
        let (busy, direct) = (connection.in_flight > 0, connection.send_buffer.is_none());
        let over = matches!(kind, EventKind::Ended | EventKind::Failed(_) | EventKind::NoSource(_));
        if let (true, Some(buffer)) = (over, &mut connection.send_buffer) {
            buffer.ended = true;
        }
        let received = matches!(
            kind,
            EventKind::Received(_) | EventKind::Dropped(_) | EventKind::Datagrams { .. }
        );
        if received && let Some(before) = connection.pause_clock.receive(at) {
            self.attribute_pause(slot, before, at);
        }
        let arrived = self.network.driver.arrived();
        self.late = arrived.map(|arrival| Lateness::of_event(at, arrival));
        match kind {
            EventKind::Connected(peer) => self.connected(slot, at, peer),
            EventKind::Sent if direct => self.sent(slot, at),
            EventKind::Sent => {
                self.network.passed(slot, at, &mut self.scheduler.concurrency_slots);
                self.network.touch(slot);
            }
            EventKind::Left => self.left(slot, at),
            EventKind::Datagrams { segment, ecn, more, .. } => {
                self.datagrams(slot, at, (segment, ecn), more)
            }
            EventKind::Received(count) if !direct => self.heard(slot, at, count),
            EventKind::Received(count) if busy => self.received(slot, at, count),
            EventKind::Dropped(count) if busy => self.dropped(slot, at, count),
            EventKind::Ended if busy => self.ended(slot, at, false),
            EventKind::Failed(errno) if busy => self.broken(slot, errno),
            EventKind::NoSource(errno) if busy => self.without_source(slot, errno),
            EventKind::Received(_) | EventKind::Dropped(_) => self.unsolicited(slot),
            // A server may close an idle connection.
            EventKind::Ended | EventKind::Failed(_) | EventKind::NoSource(_) => {
                self.close(slot, Close::Orderly)
            }
        }
        if self.scheduler.has_following() {
            self.follow_on();
        }
    }

    fn connected(&mut self, slot: Slot, at: u64, peer: IpAddr) {
        let counts = self.opening.is_some();
        let expected = self.network.connected(slot, at, peer, counts, &mut self.recorder);
        let connection = self.network.connections.get(slot);
        let (endpoint, found) = (connection.endpoint, connection.family);
        if expected != found {
            self.moved(slot, expected);
        }
        match (self.prepared.endpoints[endpoint].secure, self.network.is_over_quic()) {
            (_, true) => self.shake_hands_quic(slot),
            (true, _) => self.shake_hands(slot),
            (false, _) => self.established(slot),
        }
    }

    /// Moves the exchanges of a connection to the other family, because the peer's family differs
    /// from that of the endpoint.
    fn moved(&mut self, slot: Slot, from: Family) {
        let concurrency_slots = self.on(slot);
        for &concurrency_slot in &concurrency_slots {
            let exchange = self.scheduler.concurrency_slots.get(concurrency_slot);
            // Connections that are only opened carry no exchanges.
            if self.opening.is_none() {
                self.recorder.moved(from, exchange);
            }
        }
        self.done_with(concurrency_slots);
    }

    /// Handles that a connection is ready for requests.
    pub(super) fn established(&mut self, slot: Slot) {
        self.scheduler.unresponsive_peers.note_established(&self.prepared.reachability);
        let connection = self.network.connections.get(slot);
        connection.state = State::Open;
        if connection.protocol.is_multiplexed() {
            connection.send_buffer.get_or_insert_default();
        }
        match (&self.opening, &connection.protocol) {
            (Some(_), _) => self.opened(slot),
            (None, Protocol::Serial(_)) => self.send(slot, false),
            (None, Protocol::Multiplexed(_)) => self.begin_streams(slot),
        }
    }
}
