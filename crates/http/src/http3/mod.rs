//! HTTP/3 as a client sees it (RFC 9114), without a socket and without QUIC: what goes onto each
//! stream and what is read from it. Whoever has the streams opens, feeds, ends and resets them.
//!
//! - A [`Http3Request`] is the bytes of a request, built once before a run: all of a stream's.
//! - A [`StreamReader`] reads what comes back on that stream and tells an
//!   [`Observer`](crate::observer::Observer). [`Heads`] is what all readers of a thread share.
//! - [`Control`] is the rest of a connection: the stream that this side opens, and all those that
//!   the peer opens.
//!
//! This side announces that it keeps no table for QPACK (RFC 9204, 3.2.3), so that no response waits
//! for another: a server may then use the static table and literals only, which costs it some bytes.
//! Pushes are never allowed.
//!
//! # What is read although it need not be
//! Frames, settings and streams of unknown types are passed over (RFC 9114, 9).
//!
//! # What is not
//! A response that breaks the rules of HTTP is lost as
//! [`Malformed`](crate::observer::Loss::Malformed); the connection goes on. What breaks framing or
//! compression, or costs work that no response needs, is a [`Http3Violation`]: the connection is to be
//! closed with its code. Neither depends on how the network cut the bytes.

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
