//! The transport over a NATS server with JetStream.
//!
//! Begin with [`controller::NatsController`] and [`agent::NatsAgent`], the two sides. `client` keeps
//! the connection of either: it finds the server ([`address`], `race`), checks it (`greeting`, `tls`),
//! proves who it is ([`credentials`]), and connects anew for as long as it takes. [`server`] starts a
//! server for one command, [`init`] writes what a standing one needs, and
//! [`roster`] adds and revokes its agents.

pub mod address;
pub mod agent;
mod client;
mod configuration;
pub mod controller;
pub mod credentials;
mod failure;
mod greeting;
pub mod init;
mod kept;
mod lease;
mod lookup;
mod program;
mod race;
mod records;
pub mod roster;
pub mod server;
mod subjects;
mod tls;
