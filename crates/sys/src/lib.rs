//! The system interface of sixmark: Linux system calls that the other crates need and std does not
//! offer, for sockets, io_uring, epoll, namespaces, packet rings, resource limits and processes.
//!
//! This is the only crate with unsafe code. Each unsafe block states the invariant that makes it
//! sound. The crate must not contain anything about HTTP, plans or results.
//!
//! Begin reading with [`driver`], whose trait opens, writes, reads and closes connections and is
//! implemented over io_uring and over epoll. The other public modules can be read separately:
//! [`packets`] captures packets, [`process`] starts programs, [`enclosure`] and [`netns`] create
//! namespaces, [`rtnetlink`] configures interfaces, [`text_file`] reads text files that users give, [`unpacked`] what was compressed,
//! [`addresses`] asks the resolver, [`command_error`] is the error that ends a command.

pub mod addresses;
mod buffers;
pub mod clock;
pub mod command_error;
mod control;
pub mod driver;
pub mod enclosure;
pub mod ending;
pub mod ethtool;
pub mod flows;
pub mod folder;
pub mod group_usage;
pub mod handover;
pub mod heap;
pub mod interface;
pub mod join;
pub mod last_line;
pub mod limit;
pub mod mount;
mod netlink;
pub mod netns;
pub mod output;
pub mod packets;
pub mod path;
pub mod poll;
pub mod port;
pub mod process;
pub mod program;
pub mod readable;
mod realtime;
#[cfg(any(test, feature = "fixture"))]
pub mod refusal;
mod release;
pub mod route;
pub mod rtnetlink;
pub mod schedule;
pub mod segment_socket;
mod socket;
mod stamp;
pub mod standard;
pub mod tap;
pub mod terminal;
pub mod text_file;
pub mod threads;
pub mod turbo;
pub mod unpacked;
pub mod usage;

use std::io;

/// Converts the return value of a system call, which is negative and sets errno if the call failed.
fn check_return(returned: libc::c_int) -> io::Result<libc::c_int> {
    if returned < 0 { Err(io::Error::last_os_error()) } else { Ok(returned) }
}
