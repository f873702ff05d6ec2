//! Mounts within a private mount namespace (mount_namespaces(7)).

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use crate::check_return;

/// A mount namespace. It exists at least as long as this descriptor is open.
#[derive(Debug)]
pub struct MountNs(OwnedFd);

impl MountNs {
    /// Creates a copy of the calling thread's mount namespace and runs `furnish` in it, which may
    /// mount and unmount. `furnish` runs in a thread of its own and may change that thread's
    /// working folder.
    ///
    /// # Errors
    /// Returns an error if CAP_SYS_ADMIN is missing, or if `furnish` fails.
    pub fn create(furnish: impl FnOnce() -> io::Result<()> + Send) -> io::Result<MountNs> {
        let work = || {
            // SAFETY: unshare takes a number; it moves this thread alone, which ends below.
            check_return(unsafe { libc::unshare(libc::CLONE_NEWNS) })?;
            keep_to_this_namespace()?;
            furnish()?;
            Ok(MountNs(File::open("/proc/thread-self/ns/mnt")?.into()))
        };
        let lost = || Err(io::Error::other("the thread in the namespace panicked"));
        std::thread::scope(|scope| scope.spawn(work).join().unwrap_or_else(|_| lost()))
    }

    /// Moves the calling **thread** into the namespace for the rest of its life: it opens paths in
    /// that namespace. The thread gets a working folder of its own, with the same path as before.
    ///
    /// # Errors
    /// Returns an error if the capability is missing, or if the working folder does not exist in
    /// the namespace.
    pub fn enter(&self) -> io::Result<()> {
        let folder = std::env::current_dir()?;
        // Threads share their root and working folder. setns requires that this one does not.
        // SAFETY: unshare takes a number.
        check_return(unsafe { libc::unshare(libc::CLONE_FS) })?;
        // SAFETY: setns takes an open descriptor, which `self` holds, and a number.
        check_return(unsafe { libc::setns(self.0.as_raw_fd(), libc::CLONE_NEWNS) })?;
        // setns has set the working folder to the root.
        std::env::set_current_dir(folder)
    }
}

impl AsFd for MountNs {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Makes all mounts of this namespace private, so that later changes do not propagate to another
/// one.
///
/// # Errors
/// Returns an error if the capability is missing.
pub fn keep_to_this_namespace() -> io::Result<()> {
    let flags = libc::MS_REC | libc::MS_PRIVATE;
    mount(None, Path::new("/"), None, flags, "")
}

/// Mounts a file system of the given kind: `proc`, `sysfs` or `tmpfs`.
///
/// # Errors
/// Returns an error if the capability is missing, or if the folder does not exist.
pub fn special(kind: &str, at: &Path, options: &str) -> io::Result<()> {
    let flags = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
    // A tmpfs may contain programs, pipes and sockets.
    let flags = if kind == "tmpfs" { libc::MS_NOSUID | libc::MS_NODEV } else { flags };
    mount(Some(Path::new(kind)), at, Some(kind), flags, options)
}

/// Makes a file or folder visible at a second path.
///
/// # Errors
/// Returns an error if the capability is missing, or if one of the paths does not exist.
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
    // SAFETY: each pointer is null or points to a C string that outlives the call.
    check_return(unsafe { libc::mount(from, at.as_ptr(), kind, flags, options.as_ptr().cast()) })
        .map(drop)
}
