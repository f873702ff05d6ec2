//! The version of HTTP, and the number of exchanges per connection.

use sixmark_http::HttpVersion;
use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

/// How a run uses HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Http {
    /// The version.
    pub version: HttpVersion,
    /// Whether HTTP/2 is spoken whatever protocol TLS negotiated, and without TLS (RFC 9113, 3.3).
    pub prior_knowledge: bool,
    /// The most exchanges that a connection carries at the same time: 1 for HTTP/1.1 and HTTP/1.0.
    pub streams: NonZeroU32,
}

impl Default for Http {
    fn default() -> Http {
        Http { version: HttpVersion::Http1, prior_knowledge: false, streams: NonZeroU32::MIN }
    }
}
