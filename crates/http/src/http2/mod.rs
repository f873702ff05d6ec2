//! HTTP/2 as a client sees it (RFC 9113), without a socket.
//!
//! A [`Connection`] is fed whatever the network delivers, tells an
//! [`Observer`](crate::observer::Observer) what became of each exchange, and holds what is to be sent.
//! A [`Http2Request`] is built once before a run and begun many times.
//!
//! # What it asks for
//! Windows so large that the peer never waits ([`Options::window`]): content is counted and dropped
//! at once, so they cost no memory, and a window that opened more slowly would be measured instead
//! of the network. Frames and the table of fields keep the sizes that RFC 9113, 6.5.2 has as
//! defaults, which are those of browsers, because a server that is asked for others may do other work
//! than it does for its users. Pushes are refused.
//!
//! # What is read although it need not be
//! Frames of unknown types, priorities, settings that are not known and GOAWAY with a rising stream
//! id are passed over. Frames that come late, for streams that this side reset or that the peer
//! disowned in a GOAWAY, are ignored, but still count for flow control and compression. No list is
//! kept of those streams: frames for any closed stream older than the last of them are ignored too.
//!
//! # What is not
//! A response that breaks the rules of HTTP is reset, and lost as
//! [`Malformed`](crate::observer::Loss::Malformed); the connection goes on. What breaks framing,
//! compression or flow control, or costs work that no response needs, is a [`Http2Violation`]: nothing
//! is read after it. Neither depends on how the network cut the bytes.

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
