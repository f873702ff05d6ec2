//! Mounts, within a mount namespace of one's own (mount_namespaces(7)).

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use crate::check_return;

/// A mount namespace, kept by this descriptor.
#[derive(Debug)]
pub struct MountNs(OwnedFd);

impl MountNs {
    /// A copy of the calling thread's, in which `furnish` mounts what is to be different; it runs in a
    /// thread of its own, whose working folder may change.
    ///
    /// # Errors
    /// The right is missing (CAP_SYS_ADMIN), or `furnish` fails.
    pub fn create(furnish: impl FnOnce() -> io::Result<()> + Send) -> io::Result<MountNs> {
        let work = || {
            // SAFETY: unshare takes a number; it moves this thread alone, which ends below.
            check_return(unsafe { libc::unshare(libc::CLONE_NEWNS) })?;
            keep_to_this_namespace()?;
            furnish()?;
            Ok(MountNs(File::open("/proc/thread-self/ns/mnt")?.into()))
        };
        let lost = || Err(io::Error::other("a thread of its own panicked"));
        std::thread::scope(|scope| scope.spawn(work).join().unwrap_or_else(|_| lost()))
    }

    /// Moves the calling **thread** there for good: paths that it opens are those of there. Its working
    /// folder is then its own, the one of the same path.
    ///
    /// # Errors
    /// The right is missing, or there is no such folder there.
    pub fn enter(&self) -> io::Result<()> {
        let folder = std::env::current_dir()?;
        // Threads share their root and working folder; this one must not.
        // SAFETY: unshare takes a number.
        check_return(unsafe { libc::unshare(libc::CLONE_FS) })?;
        // SAFETY: setns takes an open descriptor, which `self` holds, and a number.
        check_return(unsafe { libc::setns(self.0.as_raw_fd(), libc::CLONE_NEWNS) })?;
        // The kernel has put it at the root.
        std::env::set_current_dir(folder)
    }
}

impl AsFd for MountNs {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// What is mounted here from now on shows nowhere else.
///
/// # Errors
/// The right is missing.
pub fn keep_to_this_namespace() -> io::Result<()> {
    let flags = libc::MS_REC | libc::MS_PRIVATE;
    mount(None, Path::new("/"), None, flags, "")
}

/// Mounts a file system of this kind: `proc`, `sysfs`, `tmpfs`.
///
/// # Errors
/// The right is missing, or there is no such folder.
pub fn special(kind: &str, at: &Path, options: &str) -> io::Result<()> {
    let flags = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
    // Programs may be put on a tmpfs, and pipes and sockets.
    let flags = if kind == "tmpfs" { libc::MS_NOSUID | libc::MS_NODEV } else { flags };
    mount(Some(Path::new(kind)), at, Some(kind), flags, options)
}

/// Shows a file or folder at another place too.
///
/// # Errors
/// The right is missing, or one of them is not there.
pub fn bind_mount(from: &Path, at: &Path) -> io::Result<()> {
    mount(Some(from), at, None, libc::MS_BIND | libc::MS_REC, "")
}

fn mount(
    from: Option<&Path>,
    at: &Path,
    kind: Option<&str>,
    flags: libc::c_ulong,
    options: &str,
) -> io::Result<()> {
    let text = |bytes: &[u8]| CString::new(bytes).map_err(io::Error::other);
    let from = from.map(|path| text(path.as_os_str().as_bytes())).transpose()?;
    let at = text(at.as_os_str().as_bytes())?;
    let kind = kind.map(|kind| text(kind.as_bytes())).transpose()?;
    let options = text(options.as_bytes())?;
    let pointer = |text: &Option<CString>| text.as_ref().map_or(std::ptr::null(), |t| t.as_ptr());
    let (from, kind) = (pointer(&from), pointer(&kind));
    // SAFETY: each pointer is null or that of a C string that outlives the call.
    check_return(unsafe { libc::mount(from, at.as_ptr(), kind, flags, options.as_ptr().cast()) })
        .map(drop)
}
