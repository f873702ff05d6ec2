//! TLS between the protocol and the socket, independent of both: bytes in, bytes out.
//!
//! A [`Setup`] is created once per run, from the plan and the files that it names. From it, each
//! worker creates a [`Client`], and from that a [`Session`] for each connection.

mod client;
mod failure;
mod flaw;
mod names;
mod quic;
mod refusal;
mod session;
mod setup;
mod store;
mod verifier;

#[cfg(test)]
mod tests;

pub use client::{Client, QuicStart};
pub use failure::Failure;
pub use quic::{Agreed, VERSION};
pub use session::{Progress, Room, Session};
pub use setup::Setup;
