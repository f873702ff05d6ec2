//! Versions of HTTP.

use serde::{Deserialize, Serialize};

/// A version of HTTP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum HttpVersion {
    /// HTTP/1.0 (RFC 1945), with `Connection: keep-alive` where connections are to be kept.
    #[serde(rename = "1.0")]
    Http10,
    /// HTTP/1.1 (RFC 9112).
    #[default]
    #[serde(rename = "1.1")]
    Http1,
    /// HTTP/2 (RFC 9113).
    #[serde(rename = "2")]
    Http2,
    /// HTTP/3 (RFC 9114), over QUIC.
    #[serde(rename = "3")]
    Http3,
}

impl HttpVersion {
    /// Returns whether this is HTTP/1.1 or HTTP/1.0: a text protocol with one exchange at a time on
    /// a connection.
    pub fn is_http1(self) -> bool {
        matches!(self, HttpVersion::Http10 | HttpVersion::Http1)
    }

    /// Returns the name for people, such as `HTTP/2`.
    pub fn name(self) -> &'static str {
        match self {
            HttpVersion::Http10 => "HTTP/1.0",
            HttpVersion::Http1 => "HTTP/1.1",
            HttpVersion::Http2 => "HTTP/2",
            HttpVersion::Http3 => "HTTP/3",
        }
    }

    /// Returns the protocol identifier for ALPN (RFC 7301).
    pub fn alpn(self) -> &'static str {
        match self {
            // There is no identifier to offer for HTTP/1.0: servers agree on HTTP/1.1 and obey the
            // version of the request line.
            HttpVersion::Http10 | HttpVersion::Http1 => "http/1.1",
            HttpVersion::Http2 => "h2",
            HttpVersion::Http3 => "h3",
        }
    }
}
