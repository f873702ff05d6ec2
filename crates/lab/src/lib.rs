//! The lab: a network of hosts and links on one machine, built from network namespaces, and the
//! services that run in it or beside it. Nothing remains of a lab when it ends.
//!
//! A process that needs a lab first enters an enclosure ([`enclose`]). Everything it then builds
//! belongs to the enclosure: descriptors keep the namespaces alive, programs are its children, and
//! temporary files are on a tmpfs.
//!
//! This crate contains no load generation and no measurement.
//!
//! Start with [`plan`], the file of a lab as a value, its diagrams and the configuration of its
//! daemons; [`Up::build`], which builds a lab, and [`Host`], in which programs run.
//! [`control_socket`] lets other commands find a lab that is up. [`emulator`] implements links where
//! the kernel has no netem; what happens to a frame there is decided in [`emulation`].

mod advertisement;
mod advertiser;
mod build;
mod cable;
pub mod control_socket;
mod converge;
mod dhcp_leases;
mod dhcp_message;
mod dhcp_server;
mod duties;
pub mod emulation;
pub mod emulator;
mod ends;
pub mod enter;
mod host;
pub mod impairment;
pub mod link_report;
mod middle;
pub mod needs;
pub mod netem;
mod part;
pub mod plan;
mod responder;
pub mod service;
mod settings;
mod setup_command;
mod traffic_control;
pub mod trial;
mod until;
mod up;

pub use host::{Host, Hosts};
pub use up::{Ground, Up};

use sixmark_sys::enclosure::{self, Refused, Rights, Side};

use sixmark_sys::command_error::CommandError;

/// The directory for temporary files of a lab.
pub const TEMPORARY: &str = enclosure::TEMPORARY;

/// Continues inside an enclosure. Returns `Ok(Ok(rights))` in the process inside. In the process
/// outside it returns `Ok(Err(status))` when the one inside has ended; nothing remains to be done
/// but to exit with that status.
///
/// # Errors
/// Fails if the kernel does not permit this user to create namespaces, the process has more than
/// one thread, or the process inside was killed.
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

/// Returns an error message if the process inside was killed by a signal other than those that a
/// user sends to stop it. A killed process cannot report this itself.
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
    let line = format!("a lab needs its own namespaces, but this process can't {what}: {error}");
    match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => {
            line + "; run as root, or allow user namespaces (kernel.unprivileged_userns_clone=1, \
                    kernel.apparmor_restrict_unprivileged_userns=0, a container that allows them)"
        }
        Some(libc::ENOSPC) => line + "; raise user.max_user_namespaces and user.max_net_namespaces",
        _ => line,
    }
}
