//! The kernel's files, from text to counters.
//!
//! Where procfs-core reads a file, it does. It reads neither netstat nor softnet, softirqs,
//! connection tracking, NFS and neighbours; and of snmp and snmp6 it wants every name that it knows,
//! so that a kernel which drops one (UDP-Lite's) would leave nothing: these are read here, by name,
//! and what a kernel lacks counts as 0.

mod cgroup;
mod disks;
mod memory;
mod named;
mod net;
mod nfs;
mod process;
mod stat;

pub use cgroup::{cgroup, path_of};
pub use disks::disks;
pub use memory::{memory, paging};
pub use named::{NamedNumbers, flat, paired};
pub use net::{conntrack, neighbours, parse_families, softnet, tcp};
pub use nfs::{nfs_client, nfs_server};
pub use process::{io, process};
pub use stat::{softirqs, stat};

/// A tick of the kernel's clock as /proc tells time: a hundredth of a second wherever Linux runs
/// programs (USER_HZ), in microseconds.
pub const TICK_US: u64 = 10_000;
