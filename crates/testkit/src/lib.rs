//! What the tests of sixmark share: the program and its documents, servers and clients that are nobody
//! else's, labs, and what may be missing. Only tests use it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "what fails here fails the test that asked for it"
)]

pub mod authority;
pub mod client;
pub mod clients;
pub mod datagrams;
pub mod documents;
pub mod events;
pub mod figures;
pub mod forms;
pub mod incomparable;
pub mod lab;
pub mod nginx;
mod origin;
pub mod pair;
pub mod process;
mod program;
mod raw;
mod result;
mod server;
pub mod study;
pub mod traffic;
pub mod vitals;
pub mod watch;
pub mod web_server;

pub use origin::{Origin, refusing};
pub use program::{DEADLINE, command, complaint, finish, script, signal, sixmark, skipped};
pub use raw::Raw;
pub use result::{check, document, json};
pub use server::Server;
