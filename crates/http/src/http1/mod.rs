//! HTTP/1.1 as a client reads and writes it (RFC 9110, RFC 9112), without a socket.
//!
//! [`ResponseReader`] takes the bytes that the network delivers and reports where a response ends,
//! how much content it has and whether the connection may be used again. [`request`] builds the
//! requests.
//!
//! # What is read although the grammar forbids it
//! A benchmark must read what browsers read; otherwise it would report failures that no user sees.
//! RFC 9112 permits the recipient of a *response* each of these leniencies:
//! - a line of the head or of the trailers may end in a bare LF (2.2);
//! - up to four empty lines may precede a status line (2.2 asks this of servers; the CRLF that some
//!   servers send after a body is the same mistake). They are not part of the response;
//! - the space after the status code may be missing (4: the reason phrase has no meaning);
//! - whitespace may precede the colon after a field name (5.1 requires proxies to remove it);
//! - obsolete line folding is unfolded (5.2);
//! - whitespace may follow a chunk's size or extension (7.1.1, "bad" whitespace);
//! - `Transfer-Encoding: identity`, which RFC 2616 had, is read as if it were absent;
//! - a minor version above 1 is read as 1.1 (RFC 9110, 2.5), and a status above 599 is accepted
//!   (RFC 9110, 15).
//!
//! # What is refused
//! Everything that determines where a response ends is read strictly, because two recipients that
//! disagree about it see different responses: a `Content-Length` consists of digits, the lines of
//! chunked framing end in CRLF, and `chunked` is applied once and has no parameters. Whitespace
//! before the first field (2.2), a bare CR (2.2) and control characters are refused.
//!
//! # When a violation is reported
//! A peer that does not speak HTTP is detected by its first wrong byte. The first 4 KiB of a head
//! are checked whenever a line is complete, the rest when the head is complete, and the framing of
//! a body byte by byte. The result does not depend on how the network splits the bytes.
//!
//! # How much is read
//! Up to 256 KiB of a head, with any number of fields, and as much of the trailers. This is a limit
//! of the reader; [`Http1Violation::is_own_limit`] distinguishes it from violations of HTTP.

mod chunked;
pub mod framing;
mod head;
mod known;
mod reader;
pub mod request;
#[cfg(test)]
mod tests;
mod violation;

pub use known::KnownHead;
pub use reader::{Complete, Early, Fed, RequestKind, ResponseReader, ResponseVisitor};
pub use violation::Http1Violation;

/// Returns whether `byte` is a tchar (RFC 9110, 5.6.2).
pub fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// Returns whether `text` is a token (RFC 9110, 5.6.2), such as a method, a field name or a coding.
fn is_token(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().copied().all(is_token_byte)
}

/// Returns whether `byte` may occur in a field value: anything but control characters other than
/// HTAB (RFC 9110, 5.5).
fn is_text_byte(byte: u8) -> bool {
    byte == b'\t' || (byte >= b' ' && byte != 0x7f)
}
