//! What is tried beside the fetches of a site, where its path is in doubt.

use serde::{Deserialize, Serialize};

use crate::site_fetch::SiteFetch;

/// The bytes of fields that make a request larger than a packet, also in a field of one line.
pub const LARGE_REQUEST_BYTES: usize = 3_000;
/// The segments of [`ProbeKind::SmallSegments`], in bytes: with their headers they fit the smallest MTU of
/// IPv6 (1,280 bytes, RFC 8200, 5).
pub const SMALL_SEGMENT_BYTES: u32 = 1_200;

/// A fetch that was made to find out about the path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PathProbe {
    /// What is different about it.
    pub kind: ProbeKind,
    /// The fetch.
    pub fetch: SiteFetch,
}

/// What is different about a fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ProbeKind {
    /// Nothing: it is one more.
    Again,
    /// A request with HEAD and 3,000 bytes more of fields.
    LargeRequest,
    /// The connection asks for segments of at most 1,200 bytes.
    SmallSegments,
    /// Both of them.
    LargeRequestInSmallSegments,
    /// A ClientHello that fits one packet, because it offers no post-quantum key exchange.
    SmallHello,
}

impl ProbeKind {
    /// Returns true if the request is larger than a packet.
    pub fn is_large(self) -> bool {
        matches!(self, ProbeKind::LargeRequest | ProbeKind::LargeRequestInSmallSegments)
    }

    /// Returns true if segments are small.
    pub fn has_small_segments(self) -> bool {
        matches!(self, ProbeKind::SmallSegments | ProbeKind::LargeRequestInSmallSegments)
    }
}
