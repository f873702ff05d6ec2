//! Entering a host of a lab that belongs to another process.

use std::fs;
use std::io;
use std::os::fd::AsFd as _;
use std::path::Path;
use std::process::Command;

use sixmark_sys::enclosure;
use sixmark_sys::join::{self, NamespaceKind};
use sixmark_sys::mount;
use sixmark_sys::process::{StackFilter, lead_among};

use super::TEMPORARY;
use super::control_socket::HostNamespaces;
use sixmark_sys::command_error::CommandError;

/// Moves this **process**, which has one thread, into a host permanently. Programs it starts use
/// the host's network and resolve the host's names. Files are otherwise those outside the lab.
///
/// # Errors
/// Fails if the kernel refuses, or if the process has more than one thread.
pub fn go(namespaces: &HostNamespaces) -> Result<(), CommandError> {
    let cannot = |error| CommandError::Measure(format!("can't enter the lab: {error}"));
    let walk = || {
        if let Some(user) = &namespaces.user {
            join::join_namespace(NamespaceKind::User, user.as_fd())?;
        }
        join::join_namespace(NamespaceKind::Network, namespaces.network.as_fd())?;
        join::own_mounts()?;
        mount_names(namespaces)?;
        namespaces.missing_stack.map_or(Ok(()), |family| StackFilter::without(family).apply())
    };
    walk().map_err(cannot)
}

/// Mounts the host's name files over those outside.
fn mount_names(namespaces: &HostNamespaces) -> io::Result<()> {
    mount::special("tmpfs", Path::new(TEMPORARY), "mode=1777")?;
    let files = [("hosts", &namespaces.hosts), ("resolv.conf", &namespaces.resolv_conf)];
    for (name, text) in files {
        let file = Path::new(TEMPORARY).join(name);
        fs::write(&file, text)?;
        let place = Path::new("/etc").join(name);
        // The file may be a symbolic link. A dangling one is skipped: it provides no names anyway.
        if let Ok(place) = fs::canonicalize(&place) {
            mount::bind_mount(&file, &place)?;
        }
    }
    Ok(())
}

/// Runs a program in a host as one of the lab's processes, so that it ends with the lab. Returns
/// its exit status, or 128 plus the number of the signal that killed it.
///
/// # Errors
/// Fails if the program cannot be started.
pub fn run_inside(namespaces: &HostNamespaces, command: &mut Command) -> Result<u8, CommandError> {
    let program = command.get_program().to_string_lossy().into_owned();
    let cannot =
        |error| CommandError::Measure(format!("can't run '{program}' in the lab: {error}"));
    let walk = || {
        if let Some(user) = &namespaces.user {
            join::join_namespace(NamespaceKind::User, user.as_fd())?;
        }
        join::join_namespace(NamespaceKind::Processes, namespaces.processes.as_fd())
    };
    walk().map_err(cannot)?;
    command.env("TMPDIR", TEMPORARY);
    let filter = namespaces.missing_stack.map(StackFilter::without);
    lead_among(command, namespaces.network.as_fd(), namespaces.mounts.as_fd(), filter)
        .map_err(cannot)?;
    enclosure::attend(command).map_err(cannot)
}
