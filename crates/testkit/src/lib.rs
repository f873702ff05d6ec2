//! The shared support code of sixmark's tests: functions that start the program and check its
//! documents, independent servers and clients, labs, studies, and the skipping of tests whose
//! requirements are missing. Only tests may depend on this crate, and it contains no tests itself.
//! Its functions panic when something fails, which fails the calling test.
//!
//! Begin reading with [`sixmark`] and [`command`], which run the program, and with [`Origin`], the
//! server of most tests.

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
pub mod dead_family;
pub mod document_schema;
pub mod documents;
pub mod events;
pub mod eyes_client;
pub mod figures;
pub mod fleet_loads;
pub mod forms;
pub mod incomparable;
pub mod lab;
pub mod lookups;
pub mod name_server;
pub mod nats;
pub mod nginx;
pub mod only6_programs;
mod origin;
pub mod pair;
pub mod process;
mod program;
mod raw;
mod result;
mod screen;
mod server;
pub mod ssh;
pub mod study;
pub mod times;
pub mod traffic;
pub mod transport;
pub mod vitals;
pub mod watch;
pub mod web_server;
pub mod wraps;

pub use origin::{Origin, refusing};
pub use program::{
    DEADLINE, command, complaint, finish, program_path, script, signal, sixmark, skipped, words_of,
};
pub use raw::Raw;
pub use result::{check, document, json};
pub use screen::TestScreen;
pub use server::Server;
