//! Violations of HTTP/1.1 by a peer.

use std::fmt;

/// A violation of HTTP/1.1 after which the rest of the connection has no meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Http1Violation {
    /// The first bytes are not those of an HTTP response.
    NotHttp,
    /// HTTP, but not version 1.
    Version,
    /// More empty lines before the status line than anyone sends by mistake.
    EmptyLines,
    /// The status line is malformed.
    StatusLine,
    /// A status code below 100.
    Status,
    /// 101 Switching Protocols, though no upgrade was asked for.
    Upgrade,
    /// More than 64 interim (1xx) responses before the final one.
    TooManyInterim,
    /// A header field's name is malformed, or a line has no colon.
    HeaderName,
    /// The value of a header field contains a control character or a bare CR.
    HeaderValue,
    /// A CR without its LF.
    LineEnd,
    /// A head of more than 256 KiB.
    HeadTooLong,
    /// A Content-Length that is not a number or is too large.
    ContentLength,
    /// Content-Length values that differ.
    ContentLengths,
    /// A malformed Transfer-Encoding, or one that applies chunked twice or with parameters.
    TransferEncoding,
    /// A chunk does not begin with its size in hexadecimal digits.
    ChunkSize,
    /// A chunk size above 2^64 - 1.
    ChunkTooLarge,
    /// A malformed chunk extension.
    ChunkExtension,
    /// A chunk's size and extensions take more than 16 KiB.
    ChunkLineTooLong,
    /// The line with a chunk's size does not end in CRLF.
    ChunkLineEnd,
    /// A chunk's data is not followed by CRLF.
    ChunkEnd,
    /// A malformed trailer field.
    Trailer,
    /// More than 256 KiB of trailer fields.
    TrailersTooLong,
}

impl Http1Violation {
    /// Returns whether the response exceeds a limit of this client that HTTP does not have.
    pub fn is_own_limit(self) -> bool {
        matches!(self, Http1Violation::HeadTooLong | Http1Violation::TrailersTooLong)
    }

    /// Returns a short description of the violation.
    pub const fn text(self) -> &'static str {
        match self {
            Http1Violation::NotHttp => "the peer's answer is not HTTP",
            Http1Violation::Version => "the response is not HTTP/1.0 or HTTP/1.1",
            Http1Violation::EmptyLines => "too many empty lines before the status line",
            Http1Violation::StatusLine => "malformed status line",
            Http1Violation::Status => "status code below 100",
            Http1Violation::Upgrade => "101 Switching Protocols without a request to upgrade",
            Http1Violation::TooManyInterim => "more than 64 interim (1xx) responses",
            Http1Violation::HeaderName => "malformed header field name",
            Http1Violation::HeaderValue => "control character in a header field's value",
            Http1Violation::LineEnd => "CR without LF in the response head",
            Http1Violation::HeadTooLong => "response head longer than 256 KiB",
            Http1Violation::ContentLength => "invalid Content-Length",
            Http1Violation::ContentLengths => "contradictory Content-Length values",
            Http1Violation::TransferEncoding => "invalid Transfer-Encoding",
            other => other.body_text(),
        }
    }

    const fn body_text(self) -> &'static str {
        match self {
            Http1Violation::ChunkSize => "invalid chunk size",
            Http1Violation::ChunkTooLarge => "chunk size above 2^64 - 1",
            Http1Violation::ChunkExtension => "malformed chunk extension",
            Http1Violation::ChunkLineTooLong => "chunk size line longer than 16 KiB",
            Http1Violation::ChunkLineEnd => "chunk size line does not end in CRLF",
            Http1Violation::ChunkEnd => "chunk data is not followed by CRLF",
            Http1Violation::Trailer => "malformed trailer field",
            Http1Violation::TrailersTooLong => "trailer fields longer than 256 KiB",
            _ => "malformed response",
        }
    }
}

impl fmt::Display for Http1Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.text())
    }
}

impl std::error::Error for Http1Violation {}
