//! The parts of a fleet that use sockets, files, threads and clocks.

pub mod transport;
