//! One fetch of a site: how far it came, what arrived, and how long it took.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The fields of responses that are compared, in lower case: those that change what a client does, and
/// those by which servers and caches name themselves.
pub const COMPARED_FIELDS: [&str; 8] = [
    "strict-transport-security",
    "alt-svc",
    "content-security-policy",
    "content-type",
    "content-encoding",
    "cache-control",
    "server",
    "via",
];

/// One fetch: a new connection, a request and its response. Times are in microseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SiteFetch {
    /// The number of its round, in which each address is fetched from once: 0 is the first.
    pub round: u32,
    /// What came of it.
    pub end: FetchEnd,
    /// How far it came.
    pub reached: FetchPhase,
    /// Why it failed, in a few words; null if it did not.
    pub why: Option<String>,
    /// The protocol of the response; null without one.
    pub protocol: Option<String>,
    /// From the connect call to the established connection, or to its failure.
    pub connect_us: f64,
    /// The TLS handshake; 0 without TLS.
    pub tls_us: f64,
    /// Sending the request.
    pub send_us: f64,
    /// From the last byte of the request to the first of the response.
    pub wait_us: f64,
    /// From the first byte of the response to its last.
    pub transfer_us: f64,
    /// The round-trip time of the TCP handshake by the kernel; null if it is not known.
    pub round_trip_us: Option<f64>,
    /// The status; null without a response.
    pub status: Option<u16>,
    /// The number of bytes of content.
    pub content_bytes: u64,
    /// The SHA-256 of the content in hexadecimal digits; null if the response is not complete.
    pub content_sha256: Option<String>,
    /// The compared fields of the response: the values, several of a field joined by commas.
    pub fields: BTreeMap<String, String>,
    /// The field Location; null without one.
    pub location: Option<String>,
    /// True if the server asks for fewer requests: status 429, or 503 with Retry-After.
    pub is_rate_limited: bool,
    /// What TLS agreed on; null without TLS.
    pub tls: Option<FetchTls>,
    /// What TCP agreed on; null if it is not known.
    pub tcp: Option<FetchTcp>,
    /// The largest datagram that QUIC sends on the path at the end of the fetch, in bytes; null unless
    /// it is a fetch over HTTP/3.
    pub datagram_bytes: Option<u32>,
}

impl SiteFetch {
    /// Returns true if the response is complete.
    pub fn is_complete(&self) -> bool {
        self.end == FetchEnd::Complete
    }

    /// Returns true if the connection was established and then nothing arrived in time.
    pub fn is_stalled(&self) -> bool {
        self.end == FetchEnd::TimedOut && self.reached > FetchPhase::Connect
    }

    /// Returns how long it took from the connect call to the last byte, in microseconds.
    pub fn response_us(&self) -> f64 {
        self.connect_us + self.tls_us + self.send_us + self.wait_us + self.transfer_us
    }
}

/// What came of a fetch.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FetchEnd {
    /// The response is complete.
    Complete,
    /// The connection was refused.
    Refused,
    /// The peer reset the connection.
    Reset,
    /// Nothing arrived in time.
    #[default]
    TimedOut,
    /// There is no route, or a router says that the address can't be reached.
    Unreachable,
    /// The TLS handshake failed.
    Tls,
    /// The connection ended before the response did.
    Closed,
    /// The response breaks the rules of HTTP.
    Protocol,
    /// The content is longer than what is read.
    TooLong,
    /// The content was still arriving when the time was over.
    TooSlow,
}

impl FetchEnd {
    /// Returns a phrase for people.
    pub fn phrase(self) -> &'static str {
        match self {
            FetchEnd::Complete => "complete",
            FetchEnd::Refused => "refused",
            FetchEnd::Reset => "reset",
            FetchEnd::TimedOut => "timed out",
            FetchEnd::Unreachable => "unreachable",
            FetchEnd::Tls => "TLS failed",
            FetchEnd::Closed => "closed early",
            FetchEnd::Protocol => "not HTTP",
            FetchEnd::TooLong => "too long to read",
            FetchEnd::TooSlow => "too slow to read",
        }
    }
}

/// How far a fetch came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FetchPhase {
    /// It was connecting.
    #[default]
    Connect,
    /// The connection was established, and TLS was not.
    Tls,
    /// The request was sent, and no byte of the response had arrived.
    Wait,
    /// A part of the response had arrived.
    Transfer,
}

/// What TLS agreed on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FetchTls {
    /// The version, as TLSv1.3.
    pub version: String,
    /// The cipher suite.
    pub cipher: String,
    /// The group of the key exchange; null if it is not known.
    pub group: Option<String>,
    /// The application protocol; null if none was agreed on.
    pub alpn: Option<String>,
    /// The SHA-256 of the certificate in hexadecimal digits.
    pub certificate_sha256: String,
    /// The end of the certificate's validity, RFC 3339 in UTC; null if it can't be read.
    pub not_after: Option<String>,
    /// Why the certificate is not accepted for the name; null if it is.
    pub refused: Option<String>,
}

/// What TCP agreed on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FetchTcp {
    /// The largest segment that is sent, in bytes.
    pub mss: u32,
    /// Segments that were sent again, including SYNs.
    pub retransmitted: u32,
    /// Whether both sides have timestamps.
    pub timestamps: bool,
    /// Whether both sides have selective acknowledgements.
    pub sack: bool,
    /// Whether both sides have window scaling.
    pub window_scaling: bool,
    /// Whether both sides have explicit congestion notification.
    pub ecn: bool,
    /// Whether a packet arrived that was marked as capable of it.
    pub ecn_seen: bool,
}
