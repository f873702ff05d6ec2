//! What commands ask of the machine they run on without unsafe code: other programs and the environment
//! they get, threads, processor time of a group of processes, interfaces and routes; and the error that
//! ends a command.
//!
//! Nothing is loaded, measured or served here. System calls belong to `sixmark-sys`.

mod error;
pub mod netlink;
pub mod program;
pub mod threads;
pub mod usage;

pub use error::{CommandError, INTERRUPTED};
