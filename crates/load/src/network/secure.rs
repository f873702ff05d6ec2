//! TLS on a connection: the handshake and decryption.

use sixmark_http::HttpVersion;
use sixmark_sys::driver::{Driver, Slot};
use sixmark_tally::outcome::FailurePhase;
use sixmark_tally::tls::Facts;

use super::Network;
use crate::connection::State;
use crate::tls::{Failure, Progress};

impl<D: Driver> Network<'_, D> {
    /// Begins the TLS handshake of a connection that TCP has established. Returns false if the
    /// connection does not use TLS.
    pub(crate) fn begin_tls(&mut self, slot: Slot) -> Result<bool, Failure> {
        let connection = self.connections.get(slot);
        connection.state = State::Opening(FailurePhase::Tls);
        let Some(session) = self.tls.as_mut().and_then(|tls| tls.session(connection.endpoint))
        else {
            return Ok(false);
        };
        let buffer = connection.send_buffer.get_or_insert_default();
        let mut session = session?;
        session.start(&mut self.room, &mut buffer.bytes)?;
        buffer.tls = Some(session);
        self.touch(slot);
        Ok(true)
    }

    /// Decrypts the bytes that the driver received and appends the plain text to `plain`. `None` if
    /// the connection has no TLS.
    pub(crate) fn decrypt(
        &mut self,
        slot: Slot,
        plain: &mut Vec<u8>,
    ) -> Option<Result<Progress, Failure>> {
        let buffer = self.connections.get(slot).send_buffer.as_mut()?;
        let tls = buffer.tls.as_mut()?;
        Some(tls.feed(self.driver.bytes(), &mut self.room, plain, &mut buffer.bytes))
    }

    /// Notes whether bytes received at `at`, which made up this much plain text, end within a record.
    /// Returns when the first byte of the record that they continued or began was received.
    pub(crate) fn note_record(&mut self, slot: Slot, at: u64, plain: usize) -> u64 {
        let connection = self.connections.get(slot);
        let tls = connection.send_buffer.as_ref().and_then(|buffer| buffer.tls.as_ref());
        let is_partial = tls.is_some_and(|tls| tls.has_partial_record());
        let since = connection.record_since.unwrap_or(at);
        let next = if plain == 0 { since } else { at };
        connection.record_since = is_partial.then_some(next);
        since
    }

    /// Returns what the handshake of a connection negotiated, once it has finished.
    pub(crate) fn tls_facts(&mut self, slot: Slot) -> Option<Facts> {
        let buffer = self.connections.get(slot).send_buffer.as_ref()?;
        buffer.tls.as_ref()?.facts(&mut self.room)
    }

    /// Returns true if TLS negotiated the version of HTTP to be used.
    pub(crate) fn fits(&mut self, slot: Slot) -> bool {
        let http = &self.prepared.plan.http;
        let buffer = self.connections.get(slot).send_buffer.as_ref();
        let chosen = buffer.and_then(|buffer| buffer.tls.as_ref()?.alpn());
        http.prior_knowledge || agrees(http.version, chosen)
    }
}

/// Returns true if the negotiated protocol is the version to be used. HTTP/1.1 needs no
/// negotiation, HTTP/2 does (RFC 9113, 3.2).
pub(super) fn agrees(version: HttpVersion, alpn: Option<&[u8]>) -> bool {
    match alpn {
        Some(chosen) => chosen == version.alpn().as_bytes(),
        None => version.is_http1(),
    }
}
