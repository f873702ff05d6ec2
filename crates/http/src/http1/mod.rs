//! HTTP/1.1 as a client sees it (RFC 9110, RFC 9112), without a socket.
//!
//! [`ResponseReader`] is fed whatever the network delivers and says where a response ends, how much content
//! it had and whether the connection may be used again. [`request`] builds what is sent.
//!
//! # What is read although the grammar forbids it
//! A benchmark has to read what browsers read, or it would report failures that no user sees. Each
//! leniency is one that RFC 9112 offers to the recipient of a *response*:
//! - a line of the head or of the trailers may end in a bare LF (2.2);
//! - up to four empty lines may precede a status line (2.2 asks this of servers; the CRLF that some
//!   servers send after a body is the same mistake). They are not part of the response;
//! - the space after the status code may be missing (4: the reason phrase carries no meaning);
//! - there may be whitespace between a field's name and its colon (5.1 has proxies remove it);
//! - obsolete line folding is unfolded (5.2);
//! - whitespace may follow a chunk's size or extension (7.1.1, "bad" whitespace);
//! - a minor version above 1 is read as 1.1 (RFC 9110, 2.5), a status above 599 as it is
//!   (RFC 9110, 15).
//!
//! # What is not
//! Whatever decides where a response ends is read strictly, since two recipients that disagree about
//! it see different responses: a `Content-Length` is digits, the lines of chunked framing end in
//! CRLF, and `chunked` is applied once and has no parameters. Whitespace before the first field
//! (2.2), a bare CR (2.2) and control characters are refused.
//!
//! # When a breach is told
//! A peer that does not speak HTTP is told by its first wrong byte. The first 4 KiB of a head are judged
//! whenever a line of them is complete, the rest when it is whole, the framing of a body byte by byte.
//! None of it depends on how the network cut the bytes.
//!
//! # How much is read
//! Of a head 256 KiB, with as many fields as fit, and of trailers as much: a limit of this reader's, which
//! [`Http1Violation::is_own_limit`] separates from breaches of HTTP.

mod chunked;
mod head;
mod known;
mod reader;
pub mod request;
#[cfg(test)]
mod tests;
mod violation;

pub use known::KnownHead;
pub use reader::{Complete, Early, Fed, RequestKind, ResponseReader, Sight};
pub use violation::Http1Violation;

/// tchar (RFC 9110, 5.6.2).
fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// A token (RFC 9110, 5.6.2): a method, a field's name, a coding.
fn is_token(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().copied().all(is_token_byte)
}

/// What a field's value may hold: everything but control characters, HTAB excepted (RFC 9110, 5.5).
fn is_text_byte(byte: u8) -> bool {
    byte == b'\t' || (byte >= b' ' && byte != 0x7f)
}
