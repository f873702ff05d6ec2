//! What a peer can do wrong.

use std::fmt;

/// A breach of HTTP/1.1 after which the rest of the connection has no meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Violation {
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
    /// A header field's value holds a control character or a bare CR.
    HeaderValue,
    /// A CR without its LF.
    LineEnd,
    /// A head of more than 256 KiB.
    HeadTooLong,
    /// A Content-Length that is not a number, or too large a one.
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

impl Violation {
    /// True if the response exceeds a limit that this side sets and HTTP does not have.
    pub fn is_own_limit(self) -> bool {
        matches!(self, Violation::HeadTooLong | Violation::TrailersTooLong)
    }

    /// What is wrong, in a few words.
    pub fn text(self) -> &'static str {
        match self {
            Violation::NotHttp => "the peer's answer is not HTTP",
            Violation::Version => "the response is not HTTP/1.0 or HTTP/1.1",
            Violation::EmptyLines => "too many empty lines before the status line",
            Violation::StatusLine => "malformed status line",
            Violation::Status => "status code below 100",
            Violation::Upgrade => "101 Switching Protocols without a request to upgrade",
            Violation::TooManyInterim => "more than 64 interim (1xx) responses",
            Violation::HeaderName => "malformed header field name",
            Violation::HeaderValue => "control character in a header field's value",
            Violation::LineEnd => "CR without LF in the response head",
            Violation::HeadTooLong => "response head longer than 256 KiB",
            Violation::ContentLength => "invalid Content-Length",
            Violation::ContentLengths => "contradictory Content-Length values",
            Violation::TransferEncoding => "invalid Transfer-Encoding",
            other => other.body_text(),
        }
    }

    fn body_text(self) -> &'static str {
        match self {
            Violation::ChunkSize => "invalid chunk size",
            Violation::ChunkTooLarge => "chunk size above 2^64 - 1",
            Violation::ChunkExtension => "malformed chunk extension",
            Violation::ChunkLineTooLong => "chunk size line longer than 16 KiB",
            Violation::ChunkLineEnd => "chunk size line does not end in CRLF",
            Violation::ChunkEnd => "chunk data is not followed by CRLF",
            Violation::Trailer => "malformed trailer field",
            Violation::TrailersTooLong => "trailer fields longer than 256 KiB",
            _ => "malformed response",
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.text())
    }
}

impl std::error::Error for Violation {}
