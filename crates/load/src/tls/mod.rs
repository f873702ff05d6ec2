//! TLS between the protocol and the socket, without either: bytes in, bytes out.
//!
//! [`Setup`] is made once before a run from the plan and the files that it names, a [`Client`] of it
//! for each worker, and of that a [`Session`] for each connection.

mod client;
mod failure;
mod names;
mod quic;
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
