//! Into namespaces of another process, whose files it handed over (setns(2)).

use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd};

use crate::check_return;

/// A kind of namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamespaceKind {
    /// Accounts and rights. A process that joins has one thread.
    User,
    /// Processes: those that are begun from then on are in it.
    Processes,
    /// Interfaces, addresses, routes, sockets.
    Network,
    /// What is mounted where.
    Mounts,
}

/// Moves the calling thread there for good.
///
/// # Errors
/// The right is missing, or the process has several threads where one is needed.
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

/// Moves the calling process, which has one thread, to a mount namespace of its own, a copy.
///
/// # Errors
/// The right is missing.
pub fn own_mounts() -> io::Result<()> {
    // SAFETY: unshare takes a number.
    check_return(unsafe { libc::unshare(libc::CLONE_NEWNS) })?;
    crate::mount::keep_to_this_namespace()
}

/// The account that this process runs as.
pub fn account() -> u32 {
    // SAFETY: geteuid takes nothing and always succeeds.
    unsafe { libc::geteuid() }
}
