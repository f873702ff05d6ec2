//! QUIC statistics of a family's connections, read when the connections were closed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::tally_part::tally_parts;
use sixmark_document::timing::{Summary, Timing};
use sixmark_document::untrusted::is_default;
use sixmark_units::counts::Counts;

/// The names of QUIC's own error codes (RFC 9000, 20.1), except for those of TLS alerts.
const ERRORS: [&str; 17] = [
    "NO_ERROR",
    "INTERNAL_ERROR",
    "CONNECTION_REFUSED",
    "FLOW_CONTROL_ERROR",
    "STREAM_LIMIT_ERROR",
    "STREAM_STATE_ERROR",
    "FINAL_SIZE_ERROR",
    "FRAME_ENCODING_ERROR",
    "TRANSPORT_PARAMETER_ERROR",
    "CONNECTION_ID_LIMIT_ERROR",
    "PROTOCOL_VIOLATION",
    "INVALID_TOKEN",
    "APPLICATION_ERROR",
    "CRYPTO_BUFFER_EXCEEDED",
    "KEY_UPDATE_ERROR",
    "AEAD_LIMIT_REACHED",
    "NO_VIABLE_PATH",
];

/// Returns the name of one of QUIC's own error codes, or `None` if it has none.
pub fn error_name(code: u64) -> Option<&'static str> {
    ERRORS.get(usize::try_from(code).ok()?).copied()
}

/// The statistics of one connection when it was closed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QuicEnding {
    /// The largest UDP payload, in bytes, that the path is known to carry.
    pub mtu: u16,
    /// The QUIC version of the connection.
    pub version: u32,
    /// The latest smoothed round-trip time, in nanoseconds.
    pub rtt: u64,
    /// Packets sent, except for probes of the path's MTU.
    pub sent: u64,
    /// Packets among those sent that were considered lost, so that their data was sent again.
    pub lost: u64,
    /// True if the server demanded validation of the client's address by a Retry packet.
    pub retried: bool,
    /// Datagrams that this host dropped because its receive buffer was full.
    pub dropped: u64,
}

/// The QUIC statistics of the connections of one family.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct QuicTally {
    /// The number of connections.
    #[serde(skip_serializing_if = "is_default")]
    pub connections: u64,
    /// The number of connections for which the server sent a Retry packet.
    #[serde(skip_serializing_if = "is_default")]
    pub retried: u64,
    /// Connections by version. The client offers only one version, so no other can be chosen.
    #[serde(skip_serializing_if = "is_default")]
    pub versions: Counts<u32>,
    /// Connection attempts that the server answered with a list of other versions (Version
    /// Negotiation).
    #[serde(skip_serializing_if = "is_default")]
    pub mismatched: u64,
    /// Packets sent.
    #[serde(skip_serializing_if = "is_default")]
    pub sent: u64,
    /// Packets considered lost.
    #[serde(skip_serializing_if = "is_default")]
    pub lost: u64,
    /// Datagrams dropped by this host.
    #[serde(skip_serializing_if = "is_default")]
    pub dropped: u64,
    /// Connections by the largest UDP payload that their path carried, in bytes.
    #[serde(skip_serializing_if = "is_default")]
    pub mtu: Counts<u16>,
    /// Round-trip times.
    #[serde(skip_serializing_if = "is_default")]
    pub rtt: Timing,
    /// Round-trip times of all connections that carried exchanges of the measurement, also of those
    /// that were established before it.
    #[serde(skip_serializing_if = "is_default")]
    pub carriers_rtt: Timing,
}

impl QuicTally {
    /// Counts a connection that ended.
    pub fn record(&mut self, ending: &QuicEnding) {
        self.connections += 1;
        self.retried += u64::from(ending.retried);
        self.versions.add(ending.version, 1);
        self.sent += ending.sent;
        self.lost += ending.lost;
        self.dropped += ending.dropped;
        self.mtu.add(ending.mtu, 1);
        self.rtt.record(ending.rtt);
    }

    /// Returns the figures for a result document.
    pub fn result(&self) -> QuicResult {
        QuicResult {
            connections: self.connections,
            retried: self.retried,
            versions: self.versions.sorted(),
            mismatched: self.mismatched,
            packets_sent: self.sent,
            packets_lost: self.lost,
            dropped: self.dropped,
            mtu: self.mtu.sorted(),
            rtt_us: self.rtt.summary(),
        }
    }
}

tally_parts!(QuicTally {
    connections,
    retried,
    versions,
    mismatched,
    sent,
    lost,
    dropped,
    mtu,
    rtt,
    carriers_rtt,
});

/// QUIC statistics in a result.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QuicResult {
    /// Connections established and closed.
    pub connections: u64,
    /// Connections among these for which the server sent a Retry packet to validate the client's
    /// address.
    pub retried: u64,
    /// These connections by QUIC version (RFC 8999).
    pub versions: BTreeMap<u32, u64>,
    /// Connections not established because the server supports only other versions (Version
    /// Negotiation).
    pub mismatched: u64,
    /// Packets that this side sent, except for probes of the path's MTU.
    pub packets_sent: u64,
    /// Packets among those sent that were considered lost.
    pub packets_lost: u64,
    /// Datagrams that this host dropped because its receive buffer was full.
    pub dropped: u64,
    /// Connections by the largest UDP payload, in bytes, that was found to pass the path.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "std::collections::BTreeMap<u16, std::num::NonZeroU64>")
    )]
    pub mtu: BTreeMap<u16, u64>,
    /// The smoothed round-trip times of the connections when they were closed.
    pub rtt_us: Summary,
}
