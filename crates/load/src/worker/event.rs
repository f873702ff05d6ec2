//! What the driver tells, and whom it concerns.

use std::net::IpAddr;

use sixmark_model::clocks::Timestamps;
use sixmark_sys::driver::{Close, Driver, Event, Handshake, Kind, Slot};
use sixmark_units::family::Family;

use super::Worker;
use crate::connection::State;
use crate::protocol::Protocol;

impl<D: Driver> Worker<'_, D> {
    pub(super) fn handle(&mut self, Event { slot, at, kind }: Event) {
        // Where the kernel is asked meanwhile, what it tells may come long after the last wait.
        self.note_late_news(at);
        let connection = self.connections.get(slot);
        let (busy, direct) = (connection.in_flight > 0, connection.outlet.is_none());
        let over = matches!(kind, Kind::Ended | Kind::Failed(_) | Kind::NoSource(_));
        if let (true, Some(outlet)) = (over, &mut connection.outlet) {
            outlet.ended = true;
        }
        match kind {
            Kind::Connected(peer) => self.connected(slot, at, peer),
            Kind::Sent if direct => self.sent(slot, at),
            Kind::Sent => {
                self.passed(slot, at);
                self.touch(slot);
            }
            Kind::Left => self.left(slot, at),
            Kind::Datagrams { segment, ecn, .. } => self.datagrams(slot, at, segment, ecn),
            Kind::Received(count) if !direct => self.heard(slot, at, count),
            Kind::Received(count) if busy => self.received(slot, at, count),
            Kind::Dropped(count) if busy => self.dropped(slot, at, count),
            Kind::Ended if busy => self.ended(slot, at, false),
            Kind::Failed(errno) if busy => self.broken(slot, errno),
            Kind::NoSource(errno) if busy => self.without_source(slot, errno),
            Kind::Received(_) | Kind::Dropped(_) => self.unsolicited(slot),
            // The server let an idle connection go: that's its right.
            Kind::Ended | Kind::Failed(_) | Kind::NoSource(_) => self.close(slot, Close::Orderly),
        }
        if !self.following.is_empty() {
            self.follow_on();
        }
    }

    fn connected(&mut self, slot: Slot, at: u64, peer: IpAddr) {
        let said = self.time_connect(slot, at);
        let (quic, client) = (self.quic.is_some(), self.connections.get(slot).client_took());
        let counted = at >= self.measure_from || self.opening.is_some();
        let connection = self.connections.get(slot);
        connection.counted = counted && !quic;
        let endpoint = connection.endpoint;
        let (expected, found) = (connection.family, Family::of(peer));
        connection.family = found;
        if connection.counted {
            let timed = self.record.connected(connection);
            let said = said.filter(|_| timed);
            said.into_iter().for_each(|said| self.record.handshake(found, said, client));
        }
        self.tell_of_connection(slot);
        if expected != found {
            self.moved(slot, expected);
        }
        match (self.prepared.endpoints[endpoint].secure, quic) {
            (_, true) => self.shake_hands_quic(slot),
            (true, _) => self.shake_hands(slot),
            (false, _) => self.established(slot),
        }
    }

    /// Notes when a connection was established and how long that took, by the clock that it is timed by:
    /// without a time of the kernel's by this client's, which counts as missing. Gives what the kernel
    /// said of the handshake, where it was asked.
    fn time_connect(&mut self, slot: Slot, at: u64) -> Option<Handshake> {
        let kernel = self.prepared.plan.load.timestamps == Timestamps::Kernel;
        let (quic, said) = (self.quic.is_some(), self.driver.handshake(slot));
        let connection = self.connections.get(slot);
        // Nothing of QUIC is established yet, and its handshake began before.
        connection.connected = if quic { connection.opened } else { at };
        let client = connection.client_took();
        // The kernel's time lies within the client's, but counts whole microseconds.
        let said = said.map(|said| match said {
            Handshake::Took(nanos) => Handshake::Took(nanos.min(client)),
            other => other,
        });
        connection.connect_took = match said {
            Some(Handshake::Took(nanos)) if kernel => nanos,
            _ => client,
        };
        let timed = matches!(said, Some(Handshake::Took(_)));
        self.record.clocks.missing += u64::from(kernel && !quic && !timed);
        said
    }

    /// The peer turned out to be of the other family than the endpoint.
    fn moved(&mut self, slot: Slot, from: Family) {
        let places = self.on(slot);
        for &place in &places {
            let exchange = self.places.get(place);
            if exchange.counted {
                self.record.moved(from, exchange);
            }
        }
        self.done_with(places);
    }

    /// Requests can be sent on the connection.
    pub(super) fn established(&mut self, slot: Slot) {
        if self.established == 0 {
            self.prepared.hope.reach();
        }
        self.established += 1;
        let connection = self.connections.get(slot);
        connection.state = State::Open;
        if connection.protocol.is_multiplexed() {
            connection.outlet.get_or_insert_default();
        }
        match (&self.opening, &connection.protocol) {
            (Some(_), _) => self.opened(slot),
            (None, Protocol::Serial(_)) => self.send(slot, false),
            (None, Protocol::Multiplexed(_)) => self.begin_streams(slot),
        }
    }
}
