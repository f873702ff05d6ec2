//! Labs: networks of namespaces on this machine.

pub mod emulator;
pub mod netem;
