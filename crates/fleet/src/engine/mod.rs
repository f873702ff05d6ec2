//! The parts of a fleet that use sockets, files, threads and clocks.

pub mod in_process;
pub mod nats;
pub mod spool;
pub mod placement;
pub mod transport;
