//! TLS connections: the end of their handshake, their data, and their failures.

use sixmark_sys::driver::{Driver, Slot};
use sixmark_tally::outcome::{Failure, FailurePhase, Outcome};

use super::Worker;
use crate::connection::State;
use crate::protocol::Protocol;
use crate::tls;

impl<D: Driver> Worker<'_, D> {
    /// Begins the TLS handshake of a connection that TCP has established.
    pub(super) fn shake_hands(&mut self, slot: Slot) {
        match self.network.begin_tls(slot) {
            Ok(true) => {}
            Ok(false) => self.established(slot),
            Err(failure) => self.broken_tls(slot, &failure),
        }
    }

    /// Processes bytes received on a connection that has a buffer.
    pub(super) fn heard(&mut self, slot: Slot, at: u64, count: usize) {
        let connection = self.network.connections.get(slot);
        self.recorder.bytes_received(connection.family, count, at);
        let Some(buffer) = &mut connection.send_buffer else { return };
        buffer.heard = at;
        match buffer.tls {
            Some(_) => self.decrypt(slot, at),
            None => self.read(slot, at, None),
        }
        self.network.touch(slot);
    }

    /// Decrypts the bytes that the driver received.
    fn decrypt(&mut self, slot: Slot, at: u64) {
        let mut plain = std::mem::take(&mut self.buffers.plain);
        let Some(fed) = self.network.decrypt(slot, &mut plain) else { return };
        // Data received before a failure is still processed.
        let finished = fed.as_ref().is_ok_and(|progress| progress.finished);
        if finished {
            self.shook_hands(slot);
        }
        self.first_arrival = Some(self.network.note_record(slot, at, plain.len()));
        if !plain.is_empty() && self.state(slot) == State::Open {
            self.read(slot, at, Some(&plain));
        }
        self.first_arrival = None;
        plain.clear();
        self.buffers.plain = plain;
        let there = self.state(slot) != State::Vacant;
        match fed {
            Err(failure) if there => self.broken_tls(slot, &failure),
            Ok(progress) if progress.closed && there => self.ended(slot, at, true),
            _ => {}
        }
    }

    /// Passes data to the protocol: the given bytes, or those that the driver received.
    fn read(&mut self, slot: Slot, at: u64, bytes: Option<&[u8]>) {
        match self.network.connections.get(slot).protocol {
            Protocol::Serial(_) => self.read_serial(slot, at, bytes),
            Protocol::Multiplexed(_) => self.read_streams(slot, at, bytes),
        }
    }

    /// Handles the end of the handshake. Its duration includes this side's processing of the
    /// server's last messages, such as the verification of the certificate: no request can be sent
    /// before that.
    fn shook_hands(&mut self, slot: Slot) {
        let over = self.network.driver.now();
        let connection = self.network.connections.get(slot);
        connection.secured = over;
        let (counted, family, since) =
            (connection.counted, connection.family, connection.connected);
        if counted && let Some(facts) = self.network.tls_facts(slot) {
            self.recorder.shook_hands(family, &facts, [since, over]);
        }
        match self.network.fits(slot) {
            true => self.established(slot),
            // The server uses TLS, but not the required version of HTTP.
            false => self.give_up(slot, Failure::new(Outcome::Protocol, FailurePhase::Tls)),
        }
    }

    /// Handles a failure of TLS, in the handshake or after it. The peer is told if it still reads.
    pub(super) fn broken_tls(&mut self, slot: Slot, failure: &tls::Failure) {
        let connection = self.network.connections.get(slot);
        let counted = connection.counted;
        self.recorder.tls_failed(connection, counted, failure.cause);
        self.network.last_words(slot, &mut self.recorder);
        let code = failure.cause.alert.map(u64::from);
        self.give_up(slot, Failure { code, ..Failure::new(Outcome::Tls, FailurePhase::Tls) });
    }

    pub(super) fn state(&mut self, slot: Slot) -> State {
        self.network.connections.get(slot).state
    }
}
