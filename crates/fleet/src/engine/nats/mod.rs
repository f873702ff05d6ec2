//! The transport over a NATS server with JetStream.
//!
//! Begin with [`controller::NatsController`] and [`agent::NatsAgent`], the two sides. `client` keeps
//! the connection of either: it finds the server ([`address`], `race`), checks it (`greeting`, `tls`),
//! proves who it is ([`credentials`]), and connects anew for as long as it takes.

pub mod address;
pub mod agent;
mod client;
pub mod controller;
pub mod credentials;
mod failure;
mod greeting;
mod kept;
mod lease;
mod lookup;
mod race;
mod records;
mod subjects;
mod tls;
