//! The lab: a network of hosts and links on this machine, of which nothing is left when it ends; and the
//! services that are started in it or beside it.
//!
//! A process that wants one goes into an enclosure first ([`enclose`]). What it builds then belongs to
//! that: namespaces are held by descriptors, programs are its children, temporary files are on a tmpfs.
//!
//! A lab's plan is read by `sixmark-model`. Nothing is loaded or measured here.

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
mod part;
pub mod service;
mod settings;
mod until;
mod up;

pub use host::{Host, Hosts};
pub use up::{Ground, Up};

use sixmark_sys::enclosure::{self, Refused, Rights, Side};

use sixmark_machine::CommandError;

/// Where temporary files of a lab are.
pub const TEMPORARY: &str = enclosure::TEMPORARY;

/// Goes on inside an enclosure. The status to exit with where this is the process outside, which has
/// nothing more to do.
///
/// # Errors
/// The kernel allows no namespaces to this user, the process has threads, or what was inside was killed.
pub fn enclose() -> Result<Result<Rights, u8>, CommandError> {
    match enclosure::enter() {
        Ok(Side::Inside(rights)) => Ok(Ok(rights)),
        Ok(Side::Outside(status)) => match killed(status) {
            Some(line) => Err(CommandError::Measure(line)),
            None => Ok(Err(status)),
        },
        Err(refused) => Err(CommandError::Measure(describe_refusal(&refused))),
    }
}

/// One line where not a person's signal but something else killed what is inside, which could not say so.
fn killed(status: u8) -> Option<String> {
    let signal = i32::from(status.checked_sub(128)?);
    let asked = [0, libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT];
    (!asked.contains(&signal)).then(|| {
        let how = if signal == libc::SIGKILL {
            " (SIGKILL; the kernel's out-of-memory killer?)"
        } else {
            ""
        };
        format!("the lab's own process was killed by signal {signal}{how}: the lab is gone")
    })
}

fn describe_refusal(refused: &Refused) -> String {
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
