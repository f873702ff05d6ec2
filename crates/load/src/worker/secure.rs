//! TLS on a connection: its handshake, what comes through it, and how it fails.

use sixmark_http::Version;
use sixmark_model::outcome::{Failure, Outcome, Phase};
use sixmark_sys::driver::{Driver, Slot};

use super::Worker;
use crate::connection::State;
use crate::protocol::Protocol;
use crate::tls;

impl<D: Driver> Worker<'_, D> {
    /// Begins the handshake of a connection that TCP has established.
    pub(super) fn shake_hands(&mut self, slot: Slot) {
        let connection = self.connections.get(slot);
        connection.state = State::Opening(Phase::Tls);
        let Some(session) = self.tls.as_mut().and_then(|tls| tls.session(connection.endpoint))
        else {
            return self.established(slot);
        };
        let outlet = connection.outlet.get_or_insert_default();
        let begun = session.and_then(|mut session| {
            session.start(&mut self.room, &mut outlet.bytes)?;
            outlet.tls = Some(session);
            Ok(())
        });
        match begun {
            Ok(()) => self.touch(slot),
            Err(failure) => self.broken_tls(slot, &failure),
        }
    }

    /// Bytes came on a connection that has an outlet.
    pub(super) fn heard(&mut self, slot: Slot, at: u64, count: usize) {
        let connection = self.connections.get(slot);
        if at >= self.measure_from {
            self.record.tally[connection.family].bytes.received += count as u64;
        }
        let Some(outlet) = &mut connection.outlet else { return };
        outlet.heard = at;
        match outlet.tls {
            Some(_) => self.decrypt(slot, at),
            None => self.read(slot, at, None),
        }
        self.touch(slot);
    }

    /// Takes the bytes that the driver told of through TLS.
    fn decrypt(&mut self, slot: Slot, at: u64) {
        let Some(outlet) = &mut self.connections.get(slot).outlet else { return };
        let Some(tls) = &mut outlet.tls else { return };
        let mut plain = std::mem::take(&mut self.plain);
        let fed = tls.feed(self.driver.bytes(), &mut self.room, &mut plain, &mut outlet.bytes);
        // What came before a failure has come.
        let finished = fed.as_ref().is_ok_and(|progress| progress.finished);
        if finished {
            self.shook_hands(slot);
        }
        if !plain.is_empty() && self.is_open(slot) {
            self.read(slot, at, Some(&plain));
        }
        plain.clear();
        self.plain = plain;
        match fed {
            Err(failure) if self.is_there(slot) => self.broken_tls(slot, &failure),
            Ok(progress) if progress.closed && self.is_there(slot) => self.ended(slot, at, true),
            _ => {}
        }
    }

    /// What came is for the protocol: the bytes given, or those that the driver told of.
    fn read(&mut self, slot: Slot, at: u64, bytes: Option<&[u8]>) {
        match self.connections.get(slot).protocol {
            Protocol::Serial(_) => self.read_serial(slot, at, bytes),
            Protocol::Multiplexed(_) => self.read_streams(slot, at, bytes),
        }
    }

    /// The handshake is over. It took what this side had to do with the server's last words as well,
    /// such as checking the certificate: nothing can be asked before.
    fn shook_hands(&mut self, slot: Slot) {
        let over = self.driver.now();
        let connection = self.connections.get(slot);
        let Some(tls) = connection.outlet.as_ref().and_then(|outlet| outlet.tls.as_ref()) else {
            return;
        };
        if connection.counted
            && let Some(facts) = tls.facts(&mut self.room)
        {
            let (family, since) = (connection.family, connection.connected);
            self.record.shook_hands(family, &facts, [since, over]);
        }
        let http = &self.prepared.plan.http;
        let fits = http.prior_knowledge || agrees(http.version, tls.alpn());
        match fits {
            true => self.established(slot),
            // The server speaks, but not this.
            false => self.give_up(slot, Failure::new(Outcome::Protocol, Phase::Tls)),
        }
    }

    /// TLS failed, in the handshake or after it. The peer is told, if it still listens.
    pub(super) fn broken_tls(&mut self, slot: Slot, failure: &tls::Failure) {
        let connection = self.connections.get(slot);
        if connection.counted {
            let tally = &mut self.record.tally[connection.family].tls;
            match connection.state {
                State::Opening(_) => tally.failed(Some(failure.cause)),
                _ => tally.broke(failure.cause),
            }
        }
        self.last_words(slot);
        let code = failure.cause.alert.map(u64::from);
        self.give_up(slot, Failure { code, ..Failure::new(Outcome::Tls, Phase::Tls) });
    }

    /// Sends what has gathered on a connection that is about to be closed, if that is possible at
    /// once.
    pub(super) fn last_words(&mut self, slot: Slot) {
        let connection = self.connections.get(slot);
        if let Some(outlet) = &mut connection.outlet
            && !outlet.busy
            && !outlet.bytes.is_empty()
        {
            if self.driver.woke() >= self.measure_from {
                let length = outlet.bytes.len() as u64;
                self.record.tally[connection.family].bytes.sent += length;
            }
            self.driver.pass(slot, &mut outlet.bytes);
        }
    }

    fn is_open(&mut self, slot: Slot) -> bool {
        self.connections.get(slot).state == State::Open
    }

    fn is_there(&mut self, slot: Slot) -> bool {
        self.connections.get(slot).state != State::Vacant
    }
}

/// Whether what TLS agreed on is the version that is to be spoken. HTTP/1.1 needs no agreement
/// (RFC 9112, 9.2 of its own default; RFC 9113, 3.2 for HTTP/2).
pub(super) fn agrees(version: Version, alpn: Option<&[u8]>) -> bool {
    match alpn {
        Some(chosen) => chosen == version.alpn().as_bytes(),
        None => version.is_http1(),
    }
}
