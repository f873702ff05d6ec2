//! Network namespaces: a network of one's own, with its own interfaces, addresses, routes and
//! counters (network_namespaces(7)).

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::path::Path;

use crate::check_return;

/// The calling thread's namespace, as the kernel shows it.
const OWN: &str = "/proc/thread-self/ns/net";

/// A network namespace, kept by this descriptor. Without a name and without a mount it goes with the
/// last process that is in it or holds it.
#[derive(Debug)]
pub struct NetNs(OwnedFd);

impl NetNs {
    /// A new one, in which only a loopback interface is, down. The caller stays where it is.
    ///
    /// # Errors
    /// The right to make one is missing (CAP_SYS_ADMIN), or the kernel has too many.
    pub fn create() -> io::Result<NetNs> {
        aside(|| {
            // SAFETY: unshare takes a number; it moves this thread alone, which ends below.
            check_return(unsafe { libc::unshare(libc::CLONE_NEWNET) })?;
            NetNs::current()
        })
    }

    /// The one that the calling thread is in.
    ///
    /// # Errors
    /// /proc is not there.
    pub fn current() -> io::Result<NetNs> {
        NetNs::open(Path::new(OWN))
    }

    /// One by its file, `/proc/PID/ns/net` or a name that somebody mounted.
    ///
    /// # Errors
    /// The file is not there, or may not be read.
    pub fn open(path: &Path) -> io::Result<NetNs> {
        Ok(NetNs(File::open(path)?.into()))
    }

    /// Moves the calling **thread** there for good; threads and processes that it begins are there
    /// too. What is open stays where it was opened.
    ///
    /// # Errors
    /// The right is missing, or this is no network namespace.
    pub fn enter(&self) -> io::Result<()> {
        // SAFETY: setns takes an open descriptor, which `self` holds, and a number.
        check_return(unsafe { libc::setns(self.0.as_raw_fd(), libc::CLONE_NEWNET) }).map(drop)
    }

    /// Does something there, in a thread of its own; the caller stays where it is.
    ///
    /// # Errors
    /// It can't be entered, or what is done fails.
    pub fn within<T: Send>(&self, work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
        aside(|| {
            self.enter()?;
            work()
        })
    }
}

/// One that somebody handed over.
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

/// In a thread of its own, so that the caller's namespaces stay as they are.
fn aside<T: Send>(work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    let lost = || Err(io::Error::other("a thread of its own panicked"));
    std::thread::scope(|scope| scope.spawn(work).join().unwrap_or_else(|_| lost()))
}
