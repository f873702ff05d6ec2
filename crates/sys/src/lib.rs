//! The part of sixmark that speaks to Linux: sockets, epoll, limits, interfaces. The only place for
//! unsafe code, each use with the invariant that makes it sound. It knows nothing of HTTP, plans or
//! results.

mod buffers;
pub mod clock;
mod control;
pub mod driver;
pub mod enclosure;
pub mod ending;
pub mod ethtool;
pub mod flows;
pub mod handover;
pub mod interface;
pub mod join;
pub mod limit;
pub mod mount;
mod netlink;
pub mod netns;
pub mod packets;
mod path;
pub mod poll;
pub mod port;
pub mod process;
pub mod readable;
mod realtime;
mod release;
pub mod route;
pub mod schedule;
mod socket;
mod stamp;
pub mod tap;
pub mod turbo;
pub mod usage;

use std::io;

/// The result of a system call that says -1 and sets errno where it failed.
fn check_return(returned: libc::c_int) -> io::Result<libc::c_int> {
    if returned < 0 { Err(io::Error::last_os_error()) } else { Ok(returned) }
}
