//! The figures of connections with TLS, and of those with QUIC.

use serde::{Deserialize, Serialize};

use sixmark_document::timing::{Summary, Timing};
use sixmark_wire::flow::{Closure, ConnectionReport, Hello};

/// The figures of a family's connections with TLS, or of those with QUIC.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SecureResult {
    /// Connections: completed, failed, unfinished and begun_before together.
    pub connections: u64,
    /// Connections whose handshake was completed: the client sent application data (a Finished of
    /// TLS 1.3 looks like that) or, before TLS 1.3, both sides changed to encryption.
    pub completed: u64,
    /// Connections that ended before their handshake was completed, or whose client refused the
    /// server in TLS 1.3.
    pub failed: u64,
    /// Connections whose handshake was not completed when the capture ended, or that can't be
    /// judged because packets are missing.
    pub unfinished: u64,
    /// Connections whose beginning was not captured.
    pub begun_before: u64,
    /// Time from the ClientHello, or QUIC's first Initial, to the first packet of the server's
    /// answer.
    pub first_flight_us: Summary,
    /// Time from the ClientHello, or QUIC's first Initial, to the client's first application data.
    pub handshake_us: Summary,
    /// Time from the first SYN to the client's ACK of the SYN-ACK; of QUIC, from the first Initial
    /// to the client's first packet after the server's answer. A round trip between client and
    /// server, with the time that both took to answer.
    pub round_trip_us: Summary,
    /// Bytes of the frames from clients, with their lengths on the wire.
    pub from_client_bytes: u64,
    /// Bytes of the frames from servers, likewise.
    pub from_server_bytes: u64,
}

/// The counts of connections with TLS, or of those with QUIC.
#[derive(Clone, Debug, Default)]
pub(super) struct SecureTally {
    connections: u64,
    completed: u64,
    failed: u64,
    unfinished: u64,
    begun_before: u64,
    first_flight: Timing,
    handshake: Timing,
    round_trip: Timing,
    from_client: u64,
    from_server: u64,
}

impl SecureTally {
    /// Counts a connection.
    pub(super) fn connection(&mut self, of: &ConnectionReport, hello: &Hello) {
        self.connections += 1;
        let over = !matches!(of.closure, Closure::Open | Closure::Evicted);
        *match () {
            () if of.doubts.begun_before => &mut self.begun_before,
            () if hello.completed => &mut self.completed,
            () if over && !of.doubts.gap => &mut self.failed,
            () => &mut self.unfinished,
        } += 1;
        hello.first_flight_ns.into_iter().for_each(|ns| self.first_flight.record(ns));
        hello.handshake_ns.into_iter().for_each(|ns| self.handshake.record(ns));
        of.opening.round_trip_ns().into_iter().for_each(|ns| self.round_trip.record(ns));
        self.from_client += of.sent.from_client.frame_bytes;
        self.from_server += of.sent.from_server.frame_bytes;
    }

    /// Returns the figures.
    pub(super) fn result(&self) -> SecureResult {
        SecureResult {
            connections: self.connections,
            completed: self.completed,
            failed: self.failed,
            unfinished: self.unfinished,
            begun_before: self.begun_before,
            first_flight_us: self.first_flight.summary(),
            handshake_us: self.handshake.summary(),
            round_trip_us: self.round_trip.summary(),
            from_client_bytes: self.from_client,
            from_server_bytes: self.from_server,
        }
    }
}
