//! HTTP/2 as a client speaks it (RFC 9113), without a socket.
//!
//! A [`Connection`] takes the bytes that the network delivers, reports the events of each exchange
//! to an [`Observer`](crate::observer::Observer) and contains the bytes to send. A [`Http2Request`]
//! is built once before a run and begun many times.
//!
//! # What it asks for
//! The flow control windows are so large that the peer never waits ([`Options::window`]). Content
//! is counted and dropped at once, so they cost no memory; smaller windows would be measured
//! instead of the network. The frame size and the size of the field table keep the defaults of RFC
//! 9113, 6.5.2, which are those of browsers, because a server that is asked for others may do other
//! work than it does for its users. Server push is disabled.
//!
//! # What is read although it need not be
//! Frames of unknown types, priorities, unknown settings and a GOAWAY with a rising stream
//! identifier are ignored. So are late frames for streams that this side reset or that the peer
//! excluded by GOAWAY; they still count for flow control and compression. There is no list of those
//! streams: frames for any closed stream older than the last of them are ignored too.
//!
//! # What is refused
//! A response that breaks the rules of HTTP is reset and reported as
//! [`Malformed`](crate::observer::Loss::Malformed); the connection continues. Bytes that break
//! framing, compression or flow control, or that cause work no response needs, are a
//! [`Http2Violation`], after which nothing is read. Neither depends on how the network splits the
//! bytes.

mod connection;
mod content;
mod control;
mod credit;
mod fields;
mod frame;
mod names;
mod output;
mod progress;
mod receive;
mod request;
mod send;
mod settings;
mod streams;
#[cfg(test)]
mod tests;
mod turns;
mod violation;

pub use crate::semantics::request::Parts;
pub use connection::{Connection, Options};
pub use names::error_name;
pub use request::Http2Request;
pub use violation::Http2Violation;
