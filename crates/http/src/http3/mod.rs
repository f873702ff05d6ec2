//! HTTP/3 as a client speaks it (RFC 9114), without a socket and without QUIC: the bytes to send on
//! each stream and the interpretation of those received. The caller owns the streams: it opens,
//! feeds, ends and resets them.
//!
//! - A [`Http3Request`] contains all bytes of a request stream, built once before a run.
//! - A [`StreamReader`] reads the response on that stream and reports to an
//!   [`Observer`](crate::observer::Observer). All readers of a thread share a [`Heads`].
//! - A [`Control`] is the rest of a connection: the stream that this side opens, and all streams
//!   that the peer opens.
//!
//! This side announces that it has no dynamic table for QPACK (RFC 9204, 3.2.3), so that no
//! response waits for another. A server may then use only the static table and literals, which
//! costs it some bytes. Server push is never allowed.
//!
//! # What is read although it need not be
//! Frames, settings and streams of unknown types are ignored (RFC 9114, 9).
//!
//! # What is refused
//! A response that breaks the rules of HTTP is reported as
//! [`Malformed`](crate::observer::Loss::Malformed); the connection continues. Bytes that break
//! framing or compression, or that cause work no response needs, are a [`Http3Violation`]: the
//! caller closes the connection with its code. Neither depends on how the network splits the bytes.

pub mod code;
mod control;
mod frame;
mod reader;
mod request;
#[cfg(test)]
mod tests;
mod varint;
mod violation;

pub use crate::semantics::request::Parts;
pub use control::Control;
pub use reader::{Heads, StreamReader};
pub use request::Http3Request;
pub use violation::Http3Violation;
