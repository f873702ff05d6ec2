//! The lab: a network of hosts and links on this machine, of which nothing is left when it ends.
//!
//! A process that wants one goes into an enclosure first ([`enclose`]). What it builds then belongs to
//! that: namespaces are held by descriptors, programs are its children, temporary files are on a tmpfs.

mod build;
mod cable;
mod converge;
pub mod door;
mod duties;
pub mod emulator;
mod ends;
pub mod enter;
mod errand;
mod host;
pub mod netem;
pub(crate) mod netlink;
mod settings;
mod until;
mod up;

pub use host::{Host, Hosts};
pub use up::{Ground, Up};

use sixmark_sys::enclosure::{self, Refused, Rights, Side};

use crate::Error;

/// Where temporary files of a lab are.
pub const TEMPORARY: &str = enclosure::TEMPORARY;

/// Goes on inside an enclosure. The status to exit with where this is the process outside, which has
/// nothing more to do.
///
/// # Errors
/// The kernel allows no namespaces to this user, or the process has threads.
pub fn enclose() -> Result<Result<Rights, u8>, Error> {
    match enclosure::enter() {
        Ok(Side::Inside(rights)) => Ok(Ok(rights)),
        Ok(Side::Outside(status)) => Ok(Err(status)),
        Err(refused) => Err(Error::Measure(why(&refused))),
    }
}

fn why(refused: &Refused) -> String {
    let Refused { what, error } = refused;
    let line = format!("a lab needs namespaces of its own, but this process can't {what}: {error}");
    match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => {
            line + "; be root, or allow user namespaces (kernel.unprivileged_userns_clone=1, \
                    kernel.apparmor_restrict_unprivileged_userns=0, a container that allows them)"
        }
        Some(libc::ENOSPC) => line + "; raise user.max_user_namespaces and user.max_net_namespaces",
        _ => line,
    }
}
