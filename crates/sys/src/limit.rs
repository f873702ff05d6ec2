//! The limits on open files.

use std::io;

use crate::check_return;

/// Raises the soft limit on open files to `wanted` and, if the process is privileged, the hard
/// limit as well. Returns the resulting soft limit, which may be lower.
pub fn raise_open_files(wanted: u64) -> io::Result<u64> {
    let mut limit = open_files()?;
    if limit.rlim_cur < wanted {
        let beyond = libc::rlimit { rlim_cur: wanted, rlim_max: limit.rlim_max.max(wanted) };
        let within = libc::rlimit { rlim_cur: wanted.min(limit.rlim_max), ..limit };
        set_open_files(&beyond).or_else(|_| set_open_files(&within))?;
        limit = open_files()?;
    }
    Ok(limit.rlim_cur)
}

/// Lets a write beyond the limit on the size of files (`ulimit -f`) fail with EFBIG, as on a full
/// disk, instead of ending the process. Programs that this process starts are not affected: a
/// handler, unlike an ignored signal, does not survive execve(2).
///
/// # Errors
/// Returns an error if the kernel refuses.
pub fn survive_file_size() -> io::Result<()> {
    extern "C" fn on_signal(_: libc::c_int) {}
    let handler = on_signal as extern "C" fn(libc::c_int);
    // SAFETY: the handler does nothing.
    let before = unsafe { libc::signal(libc::SIGXFSZ, handler as libc::sighandler_t) };
    if before == libc::SIG_ERR { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// The limits on open files of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenFilesLimits {
    /// The number of files that it may open now.
    pub soft: u64,
    /// The number to which it may raise that by itself.
    pub hard: u64,
}

/// Returns the limits on open files of this process.
///
/// # Errors
/// Returns an error if the kernel does not report them.
pub fn open_files_limits() -> io::Result<OpenFilesLimits> {
    open_files().map(|limit| OpenFilesLimits { soft: limit.rlim_cur, hard: limit.rlim_max })
}

/// Returns the current limits.
pub(crate) fn open_files() -> io::Result<libc::rlimit> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is a valid rlimit that the call may write.
    check_return(unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) })?;
    Ok(limit)
}

fn set_open_files(limit: &libc::rlimit) -> io::Result<()> {
    // SAFETY: `limit` is a valid rlimit that the call only reads.
    check_return(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, limit) }).map(drop)
}
