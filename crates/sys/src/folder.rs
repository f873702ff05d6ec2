//! Files and folders: whether they may be written, and how much room is left.

use std::ffi::CString;
use std::io;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use crate::check_return;

/// Checks that this process may write to a file, or create files in a folder. Nothing is changed.
///
/// # Errors
/// Returns an error if it may not (EACCES, EROFS), or if there is no such file.
pub fn check_access(path: &Path) -> io::Result<()> {
    let path = c_path(path)?;
    // With AT_EACCESS the effective user counts, as it does for open(2).
    // SAFETY: `path` is a C string that outlives the call.
    check_return(unsafe {
        libc::faccessat(libc::AT_FDCWD, path.as_ptr(), libc::W_OK, libc::AT_EACCESS)
    })
    .map(drop)
}

/// Returns the number of bytes that an unprivileged user may still write to the file system of
/// `path`.
///
/// # Errors
/// Returns an error if there is no such file.
pub fn free_bytes(path: &Path) -> io::Result<u64> {
    let path = c_path(path)?;
    let mut found = MaybeUninit::<libc::statvfs>::uninit();
    // SAFETY: `path` is a C string that outlives the call, and `found` may be written.
    check_return(unsafe { libc::statvfs(path.as_ptr(), found.as_mut_ptr()) })?;
    // SAFETY: statvfs has succeeded and has written the structure.
    let found = unsafe { found.assume_init() };
    Ok(found.f_bavail.saturating_mul(found.f_frsize))
}

fn c_path(path: &Path) -> io::Result<CString> {
    CString::new(path.as_os_str().as_bytes()).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_folder_is_writable_and_has_free_space() {
        let folder = tempfile::tempdir().unwrap();
        check_access(folder.path()).unwrap();
        assert!(free_bytes(folder.path()).unwrap() > 0);
        let absent = folder.path().join("absent");
        assert_eq!(check_access(&absent).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(free_bytes(&absent).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
