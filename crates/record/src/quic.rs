//! What QUIC knew of a family's connections when they were closed.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use sixmark_document::timing::{Summary, Timing};
use sixmark_units::counts::Counts;

/// Error codes of QUIC itself (RFC 9000, 20.1), but for those of TLS, which are alerts.
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

/// The name of an error code of QUIC itself, where it has one.
pub fn error_name(code: u64) -> Option<&'static str> {
    ERRORS.get(usize::try_from(code).ok()?).copied()
}

/// What is known of one connection at its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QuicEnding {
    /// The largest payload of a datagram that the path is known to have room for, in bytes.
    pub mtu: u16,
    /// The version of QUIC that it spoke.
    pub version: u32,
    /// The latest smoothed round-trip time, in nanoseconds.
    pub rtt: u64,
    /// Packets sent, probes of the path's MTU left out.
    pub sent: u64,
    /// Of those, packets taken for lost, so that what they held was sent again.
    pub lost: u64,
    /// The server had the client show its address by a Retry.
    pub retried: bool,
    /// Datagrams that came and found no room in this host's buffer.
    pub dropped: u64,
}

/// The connections of one family.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QuicTally {
    /// How many there were.
    pub connections: u64,
    /// Those that a server let begin again by a Retry.
    pub retried: u64,
    /// By version. Only one is offered, so that another can't be agreed on.
    pub versions: Counts<u32>,
    /// Attempts that ended with the server naming other versions (Version Negotiation).
    pub mismatched: u64,
    /// Packets sent.
    pub sent: u64,
    /// Packets taken for lost.
    pub lost: u64,
    /// Datagrams dropped by this host.
    pub dropped: u64,
    /// Connections by the largest payload that their path had room for.
    pub mtu: Counts<u16>,
    /// Round-trip times.
    pub rtt: Timing,
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

    /// The figures of a result document.
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

impl AddAssign<&QuicTally> for QuicTally {
    fn add_assign(&mut self, other: &QuicTally) {
        self.connections += other.connections;
        self.retried += other.retried;
        self.versions += &other.versions;
        self.mismatched += other.mismatched;
        self.sent += other.sent;
        self.lost += other.lost;
        self.dropped += other.dropped;
        self.mtu += &other.mtu;
        self.rtt += &other.rtt;
    }
}

/// What a result says of QUIC.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QuicResult {
    /// Connections established and closed.
    pub connections: u64,
    /// Of those, how many the server had begin again to show their address (Retry).
    pub retried: u64,
    /// Those established by the version of QUIC (RFC 8999).
    pub versions: BTreeMap<u32, u64>,
    /// Connections not established since the server speaks other versions alone (Version
    /// Negotiation).
    pub mismatched: u64,
    /// Packets that this side sent, probes of the path's MTU left out.
    pub packets_sent: u64,
    /// Of those, how many were taken for lost.
    pub packets_lost: u64,
    /// Datagrams that came and that this host dropped for want of room.
    pub dropped: u64,
    /// Connections by the largest payload of a datagram, in bytes, that was found to go through.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "std::collections::BTreeMap<u16, std::num::NonZeroU64>")
    )]
    pub mtu: BTreeMap<u16, u64>,
    /// Round-trip times as the connections knew them when they were closed.
    pub rtt_us: Summary,
}
