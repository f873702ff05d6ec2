//! The machine on which a command runs, without unsafe code: other programs and their environment
//! ([`program`]), threads ([`threads`]), the processor time of a process group ([`usage`]),
//! interfaces, addresses and routes ([`netlink`]), and [`CommandError`], the error that ends a
//! command.
//!
//! This crate does not generate load, measure or serve anything, and system calls belong to
//! `sixmark-sys`. Begin with [`CommandError`], which most commands return.

mod error;
pub mod netlink;
pub mod program;
pub mod threads;
pub mod usage;

pub use error::{CommandError, INTERRUPTED};
