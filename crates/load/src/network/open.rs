//! How connections are opened.

use std::net::IpAddr;

use sixmark_record::clocks::Timestamps;
use sixmark_sys::driver::{Driver, Handshake, Slot, SocketRoute};
use sixmark_units::family::Family;
use sixmark_wire::flow::Ends;

use super::Network;
use crate::protocol::Protocol;
use crate::recorder::Recorder;

impl<D: Driver> Network<'_, D> {
    /// Begins a connection at `now`, which is still without an exchange; with `counts` it will count
    /// though the measurement has not begun.
    pub(crate) fn open(
        &mut self,
        endpoint: usize,
        now: u64,
        counts: bool,
        recorder: &mut Recorder,
    ) -> Slot {
        let (target, plan) = (&self.prepared.endpoints[endpoint], &self.prepared.plan);
        let datagrams = self.is_over_quic();
        let protocol = Protocol::new(&plan.http, self.begin_quic(endpoint, now));
        let slot = self.connections.open(endpoint, target.family, protocol, now);
        let from = self.sources.next(target.family);
        let lasting = plan.connection.lasting();
        let (to, no_delay) = (target.address, target.no_delay);
        let counts = counts || recorder.measures(self.driver.woke());
        let ask_handshake = !datagrams && recorder.asks_handshake(target.family, counts);
        let way = SocketRoute { to, from, no_delay, lasting, ask_handshake, datagrams };
        self.connections.get(slot).opened = self.driver.connect(slot, &way);
        slot
    }

    /// A connection was established with `peer` at `at`, and counts though the measurement has not begun
    /// where `counts` says so. Gives the family that its endpoint has.
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

    /// Notes when a connection was established and how long that took, by the clock that it is timed by:
    /// without a time of the kernel's by this client's, which counts as missing. Gives what the kernel
    /// said of the handshake, where it was asked.
    fn time_connect(&mut self, slot: Slot, at: u64, recorder: &mut Recorder) -> Option<Handshake> {
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
        recorder.clocks.missing += u64::from(kernel && !quic && !timed);
        said
    }
}
