//! Network namespaces, each with its own interfaces, addresses, routes and counters
//! (network_namespaces(7)).

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::path::Path;

use crate::check_return;

/// The file that represents the calling thread's namespace.
const OWN: &str = "/proc/thread-self/ns/net";

/// A network namespace. Without a bind mount, the kernel removes it when no process is in it and no
/// descriptor refers to it.
#[derive(Debug)]
pub struct NetNs(OwnedFd);

impl NetNs {
    /// Creates a namespace, which contains only a loopback interface that is down. The caller's
    /// namespace does not change.
    ///
    /// # Errors
    /// Returns an error if CAP_SYS_ADMIN is missing, or if the limit on namespaces is reached.
    pub fn create() -> io::Result<NetNs> {
        aside(|| {
            // SAFETY: unshare takes a number; it moves this thread alone, which ends below.
            check_return(unsafe { libc::unshare(libc::CLONE_NEWNET) })?;
            NetNs::current()
        })
    }

    /// Returns the namespace of the calling thread.
    ///
    /// # Errors
    /// Returns an error if /proc is not mounted.
    pub fn current() -> io::Result<NetNs> {
        NetNs::open(Path::new(OWN))
    }

    /// Opens a namespace by its file, which is `/proc/PID/ns/net` or a bind mount.
    ///
    /// # Errors
    /// Returns an error if the file does not exist or cannot be read.
    pub fn open(path: &Path) -> io::Result<NetNs> {
        Ok(NetNs(File::open(path)?.into()))
    }

    /// Moves the calling **thread** into the namespace for the rest of its life. Threads and
    /// processes that it starts are in the namespace too. Open sockets stay in the namespace in
    /// which they were opened.
    ///
    /// # Errors
    /// Returns an error if the capability is missing, or if this is not a network namespace.
    pub fn enter(&self) -> io::Result<()> {
        // SAFETY: setns takes an open descriptor, which `self` holds, and a number.
        check_return(unsafe { libc::setns(self.0.as_raw_fd(), libc::CLONE_NEWNET) }).map(drop)
    }

    /// Runs `work` in the namespace, in a thread of its own. The caller's namespace does not
    /// change.
    ///
    /// # Errors
    /// Returns an error if the namespace cannot be entered, or the error of `work`.
    pub fn within<T: Send>(&self, work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
        aside(|| {
            self.enter()?;
            work()
        })
    }
}

/// A namespace whose descriptor was received from another process.
impl From<OwnedFd> for NetNs {
    fn from(namespace: OwnedFd) -> NetNs {
        NetNs(namespace)
    }
}

impl AsFd for NetNs {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Runs `work` in a thread of its own, so that the caller's namespaces do not change.
fn aside<T: Send>(work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    let lost = || Err(io::Error::other("the thread in the namespace panicked"));
    std::thread::scope(|scope| scope.spawn(work).join().unwrap_or_else(|_| lost()))
}
