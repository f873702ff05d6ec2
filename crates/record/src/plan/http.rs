//! Which HTTP is spoken, and how much of it at once.

use sixmark_http::HttpVersion;
use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

/// The HTTP of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Http {
    /// Its version.
    pub version: HttpVersion,
    /// HTTP/2 is spoken whatever TLS agreed on, and without TLS (RFC 9113, 3.3).
    pub prior_knowledge: bool,
    /// Exchanges that a connection may carry at once: 1 for HTTP/1.1 and before.
    pub streams: NonZeroU32,
}

impl Default for Http {
    fn default() -> Http {
        Http { version: HttpVersion::Http1, prior_knowledge: false, streams: NonZeroU32::MIN }
    }
}
