//! Opening connections.

use std::net::IpAddr;

use sixmark_sys::driver::{Driver, ReceiveStamps, Slot, SocketRoute, TcpHandshake};
use sixmark_units::family::Family;
use sixmark_wire::flow::Ends;

use super::Network;
use crate::pauses::PauseClock;
use crate::protocol::Protocol;
use crate::recorder::Recorder;

impl<D: Driver> Network<'_, D> {
    /// Begins to open a connection at `now`, without an exchange.
    pub(crate) fn open(&mut self, endpoint: usize, now: u64, recorder: &mut Recorder) -> Slot {
        let (target, plan) = (&self.prepared.endpoints[endpoint], &self.prepared.plan);
        let datagrams = self.is_over_quic();
        let protocol = Protocol::new(&plan.http, self.begin_quic(endpoint, now));
        let slot = self.connections.open(endpoint, target.family, protocol, now);
        let from = self.sources.next(target.family);
        let lasting = plan.connection.lasting();
        let (to, no_delay) = (target.address, target.no_delay);
        let stamps = match recorder.asks_arrivals(target.family) {
            true if plan.http.streams.get() > 1 => ReceiveStamps::FirstAndLast,
            true => ReceiveStamps::Last,
            false => ReceiveStamps::Absent,
        };
        let ask_handshake = !datagrams;
        let way = SocketRoute { to, from, no_delay, lasting, ask_handshake, stamps, datagrams };
        self.connections.get(slot).opened = self.driver.connect(slot, &way);
        slot
    }

    /// Records that a connection to `peer` was established at `at`. With `counts`, it counts
    /// although the measurement has not begun. Returns the family of its endpoint, which may differ
    /// from the peer's.
    pub(crate) fn connected(
        &mut self,
        slot: Slot,
        at: u64,
        peer: IpAddr,
        counts: bool,
        recorder: &mut Recorder,
    ) -> Family {
        let (said, quic) = (self.time_connect(slot, at, recorder), self.is_over_quic());
        let connection = self.connections.get(slot);
        connection.counted = (counts || recorder.measures(at)) && !quic;
        let expected = std::mem::replace(&mut connection.family, Family::of(peer));
        if connection.counted
            && recorder.connected(connection)
            && let Some(said) = said
        {
            recorder.handshake(connection.family, said, connection.client_took());
        }
        if recorder.is_traced() {
            let server = self.prepared.endpoints[connection.endpoint].address;
            let ends = self.driver.local(slot).map(|client| Ends { client, server });
            recorder.trace_connection(slot, connection, ends);
        }
        expected
    }

    /// Records when a connection was established and how long that took, by the kernel's clock. If
    /// the kernel has no time, the client's clock is used; with the kernel's timestamps, the time
    /// then counts as missing. Returns what the kernel reported about the handshake, if it was
    /// asked.
    fn time_connect(
        &mut self,
        slot: Slot,
        at: u64,
        recorder: &mut Recorder,
    ) -> Option<TcpHandshake> {
        let (quic, said) = (self.quic.is_some(), self.driver.handshake(slot));
        let connection = self.connections.get(slot);
        // A QUIC connection is not established yet; its handshake began with the connect call.
        connection.connected = if quic { connection.opened } else { at };
        connection.secured = connection.connected;
        let client = connection.client_took();
        // The kernel's duration can't exceed the client's, but is in whole microseconds.
        let said = said.map(|said| match said {
            TcpHandshake::Took(nanos) => TcpHandshake::Took(nanos.min(client)),
            other => other,
        });
        connection.connect_took = match said {
            Some(TcpHandshake::Took(nanos)) => nanos,
            _ => client,
        };
        connection.handshake = said;
        if !quic {
            connection.pause_clock = PauseClock::of(said, client);
        }
        let timed = matches!(said, Some(TcpHandshake::Took(_)));
        if !quic && !timed {
            recorder.note_missing_timestamp();
        }
        said
    }
}
