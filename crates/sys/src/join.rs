//! Entering the namespaces of another process by descriptors that it has handed over (setns(2)).

use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd};

use crate::check_return;

/// A kind of namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamespaceKind {
    /// Accounts and capabilities. The joining process must have one thread.
    User,
    /// Processes. Only children that are started after the call are in the namespace.
    Processes,
    /// Interfaces, addresses, routes, sockets.
    Network,
    /// The mount table.
    Mounts,
}

/// Moves the calling thread into a namespace for the rest of its life.
///
/// # Errors
/// Returns an error if the capability is missing, or if the process has several threads and the
/// kind of namespace requires one.
pub fn join_namespace(kind: NamespaceKind, namespace: BorrowedFd<'_>) -> io::Result<()> {
    let kind = match kind {
        NamespaceKind::User => libc::CLONE_NEWUSER,
        NamespaceKind::Processes => libc::CLONE_NEWPID,
        NamespaceKind::Network => libc::CLONE_NEWNET,
        NamespaceKind::Mounts => libc::CLONE_NEWNS,
    };
    // SAFETY: setns takes an open descriptor and a number.
    check_return(unsafe { libc::setns(namespace.as_raw_fd(), kind) }).map(drop)
}

/// Moves the calling process, which must have one thread, into a new mount namespace that is a copy
/// of the current one.
///
/// # Errors
/// Returns an error if the capability is missing.
pub fn own_mounts() -> io::Result<()> {
    // SAFETY: unshare takes a number.
    check_return(unsafe { libc::unshare(libc::CLONE_NEWNS) })?;
    crate::mount::keep_to_this_namespace()
}

/// Returns the effective user id of this process.
pub fn account() -> u32 {
    // SAFETY: geteuid takes nothing and always succeeds.
    unsafe { libc::geteuid() }
}
