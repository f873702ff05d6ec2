//! Sessions against the library's own server, in memory.

mod bytes;
mod chains;
mod handshakes;
mod refusals;
mod resumption;
mod setup;
mod support;
mod traffic;
