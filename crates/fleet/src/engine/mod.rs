//! The parts of a fleet that use sockets, files, threads and clocks.

pub mod agent;
pub mod controller;
mod guard;
pub mod hosts_fleet;
pub mod in_process;
pub mod nats;
pub mod placed_agent;
pub mod placement;
pub mod spool;
pub mod standing;
pub mod transport;
