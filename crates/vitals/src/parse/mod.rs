//! Parses the kernel's files into counters.
//!
//! Files are parsed by procfs-core where it can. It supports neither netstat nor softnet, softirqs,
//! connection tracking, NFS and neighbours. It rejects snmp and snmp6 if any name that it knows is
//! missing, as with a kernel without UDP-Lite. These files are parsed here, by name, and a counter
//! that the kernel lacks is 0.

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

/// The length of a tick, in which /proc reports time, microseconds. USER_HZ is 100 on all platforms
/// of Linux.
pub const TICK_US: u64 = 10_000;
