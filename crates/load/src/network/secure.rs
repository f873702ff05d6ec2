//! TLS on a connection: its handshake, and what comes through it.

use sixmark_http::HttpVersion;
use sixmark_record::outcome::FailurePhase;
use sixmark_record::tls::Facts;
use sixmark_sys::driver::{Driver, Slot};

use super::Network;
use crate::connection::State;
use crate::tls::{Failure, Progress};

impl<D: Driver> Network<'_, D> {
    /// Begins the handshake of a connection that TCP has established: false where it needs none.
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

    /// Takes the bytes that the driver told of through TLS and adds what they held to `plain`. Nothing
    /// where the connection has no TLS.
    pub(crate) fn decrypt(
        &mut self,
        slot: Slot,
        plain: &mut Vec<u8>,
    ) -> Option<Result<Progress, Failure>> {
        let buffer = self.connections.get(slot).send_buffer.as_mut()?;
        let tls = buffer.tls.as_mut()?;
        Some(tls.feed(self.driver.bytes(), &mut self.room, plain, &mut buffer.bytes))
    }

    /// What the handshake of a connection, which is over, came to.
    pub(crate) fn tls_facts(&mut self, slot: Slot) -> Option<Facts> {
        let buffer = self.connections.get(slot).send_buffer.as_ref()?;
        buffer.tls.as_ref()?.facts(&mut self.room)
    }

    /// Whether TLS agreed on the version of HTTP that is to be spoken on a connection.
    pub(crate) fn fits(&mut self, slot: Slot) -> bool {
        let http = &self.prepared.plan.http;
        let buffer = self.connections.get(slot).send_buffer.as_ref();
        let chosen = buffer.and_then(|buffer| buffer.tls.as_ref()?.alpn());
        http.prior_knowledge || agrees(http.version, chosen)
    }
}

/// Whether what TLS agreed on is the version that is to be spoken. HTTP/1.1 needs no agreement
/// (RFC 9112, 9.2 of its own default; RFC 9113, 3.2 for HTTP/2).
pub(super) fn agrees(version: HttpVersion, alpn: Option<&[u8]>) -> bool {
    match alpn {
        Some(chosen) => chosen == version.alpn().as_bytes(),
        None => version.is_http1(),
    }
}
