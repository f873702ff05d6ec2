//! An enclosure: this program once more, in namespaces of its own, of which nothing is left when it
//! ends, however it ends.
//!
//! ```text
//! the caller: waits, hands signals on, and ends as the third does
//! └─ the first process of a new PID namespace: reaps; when it ends the kernel kills all others in it
//!    └─ goes on as the caller would have
//! ```
//!
//! The second is killed by the kernel when the first ends, and with it all processes, whose network
//! namespaces, mounts and temporary files (on a tmpfs of their own) go with them. So `kill -9` of any
//! of the three leaves nothing.

mod keeper;
mod signals;

use std::fs;
use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::path::Path;

use crate::{check_return, mount};
use keeper::Keeper;
pub use keeper::attend;

/// Where temporary files of an enclosure go: a tmpfs of its own.
pub const TEMPORARY: &str = "/dev/shm";

/// What stands between a process and an enclosure.
#[derive(Debug)]
pub struct Refused {
    /// What was tried.
    pub what: &'static str,
    /// What the kernel said.
    pub error: io::Error,
}

impl Refused {
    fn at(what: &'static str) -> impl Fn(io::Error) -> Refused {
        move |error| Refused { what, error }
    }
}

/// How far a process may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rights {
    /// Those of the host's root.
    Root,
    /// Those within a user namespace of its own, where one account is all there is.
    User,
}

/// Who returns from [`enter`].
#[derive(Debug)]
pub enum Side {
    /// The caller, when what is inside has ended; its exit status, 128 and more after a signal.
    Outside(u8),
    /// The process inside, with the rights that it has there.
    Inside(Rights),
}

/// Goes on inside an enclosure: user (unless root), PID, mount, IPC and network namespaces of its
/// own. Its network has no interface but loopback; its /proc shows its own processes; /dev/shm is a
/// tmpfs of its own. Files elsewhere are those of outside.
///
/// # Errors
/// This process has several threads, or the kernel allows no such namespaces.
pub fn enter() -> Result<Side, Refused> {
    single().map_err(Refused::at("go on with one thread"))?;
    let (read, write) = pipe().map_err(Refused::at("make a pipe"))?;
    let ids = Ids::now();
    let waiting = signals::hold().map_err(Refused::at("hold signals back"))?;
    let (first, rights) = fork_apart(&ids).map_err(Refused::at("make namespaces"))?;
    match first {
        Some(child) => {
            drop(read);
            let status = Keeper::of(child).wait(&waiting);
            drop(write);
            waiting.release();
            status.map(Side::Outside).map_err(Refused::at("wait for the enclosure"))
        }
        None => {
            drop(write);
            inside(rights, &ids, &read, waiting)
        }
    }
}

/// In the first process of the new namespaces.
fn inside(
    rights: Rights,
    ids: &Ids,
    parent: &OwnedFd,
    waiting: signals::Held,
) -> Result<Side, Refused> {
    die_with(parent).map_err(Refused::at("end with the caller"))?;
    set_apart().map_err(Refused::at("make a process group"))?;
    if rights == Rights::User {
        ids.map().map_err(Refused::at("name accounts in a user namespace"))?;
    }
    furnish().map_err(Refused::at("mount what an enclosure has"))?;
    match fork().map_err(Refused::at("fork"))? {
        Some(child) => {
            let status = Keeper::of(child).wait(&waiting).unwrap_or(1);
            // SAFETY: _exit ends this process; nothing of it is to be run any more, and the standard
            // library's exit would flush what the other process has as well.
            unsafe { libc::_exit(i32::from(status)) }
        }
        None => {
            waiting.release();
            Ok(Side::Inside(rights))
        }
    }
}

/// Mounts of its own.
fn furnish() -> io::Result<()> {
    mount::keep_to_this_namespace()?;
    mount::special("proc", Path::new("/proc"), "")?;
    mount::special("tmpfs", Path::new(TEMPORARY), "mode=1777")
}

/// Fork leaves the other threads behind, and what they hold locked.
fn single() -> io::Result<()> {
    match fs::read_dir("/proc/self/task")?.count() {
        1 => Ok(()),
        n => Err(io::Error::other(format!("there are {n}"))),
    }
}

/// With the rights of root where the kernel allows that and there are other accounts, else in a user
/// namespace.
fn fork_apart(ids: &Ids) -> io::Result<(Option<libc::pid_t>, Rights)> {
    if ids.user == 0 && !is_alone() {
        match clone(SPACES) {
            Err(error) if error.raw_os_error() == Some(libc::EPERM) => {}
            done => return Ok((done?, Rights::Root)),
        }
    }
    Ok((clone(SPACES | libc::CLONE_NEWUSER)?, Rights::User))
}

/// True in a user namespace where one account is all there is: its root has the rights of [`Rights::User`].
fn is_alone() -> bool {
    let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    map.split_whitespace().skip(2).collect::<Vec<_>>() == ["1"]
}

/// The namespaces of an enclosure.
const SPACES: libc::c_int =
    libc::CLONE_NEWPID | libc::CLONE_NEWNS | libc::CLONE_NEWIPC | libc::CLONE_NEWNET;

/// A fork into new namespaces; the child's id, or none in the child.
fn clone(spaces: libc::c_int) -> io::Result<Option<libc::pid_t>> {
    let flags = libc::c_long::from(spaces | libc::SIGCHLD);
    let none: libc::c_long = 0;
    // SAFETY: with no flag but namespaces and a signal this is a fork: no memory is shared, no stack
    // and no pointers are given. There is one thread, so that no lock is left behind held.
    let child = unsafe { libc::syscall(libc::SYS_clone, flags, none, none, none, none) };
    let child = check_return(child as libc::c_int)?;
    Ok((child > 0).then_some(child))
}

fn fork() -> io::Result<Option<libc::pid_t>> {
    // SAFETY: there is one thread, so that no lock is left behind held.
    let child = check_return(unsafe { libc::fork() })?;
    Ok((child > 0).then_some(child))
}

/// The accounts that a user namespace begins with: the caller is its root.
struct Ids {
    user: libc::uid_t,
    group: libc::gid_t,
}

impl Ids {
    fn now() -> Ids {
        // SAFETY: geteuid takes nothing and always succeeds.
        let user = unsafe { libc::geteuid() };
        // SAFETY: as above.
        let group = unsafe { libc::getegid() };
        Ids { user, group }
    }

    fn map(&self) -> io::Result<()> {
        fs::write("/proc/self/setgroups", "deny")?;
        fs::write("/proc/self/uid_map", format!("0 {} 1\n", self.user))?;
        fs::write("/proc/self/gid_map", format!("0 {} 1\n", self.group))
    }
}

/// A process group of its own for what is inside: a signal to the caller's group then comes there once,
/// by way of the caller, and not three times, of which the second would be taken for impatience.
fn set_apart() -> io::Result<()> {
    // SAFETY: setpgid takes two numbers.
    check_return(unsafe { libc::setpgid(0, 0) }).map(drop)
}

fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: `ends` has room for the two descriptors.
    check_return(unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC | libc::O_NONBLOCK) })?;
    // SAFETY: the kernel has just given us this descriptor, nothing else owns it.
    let read = unsafe { OwnedFd::from_raw_fd(ends[0]) };
    // SAFETY: as above.
    Ok((read, unsafe { OwnedFd::from_raw_fd(ends[1]) }))
}

/// Killed when the caller ends. Had it ended before, its end of the pipe is closed.
fn die_with(parent: &OwnedFd) -> io::Result<()> {
    let kill = libc::SIGKILL as libc::c_ulong;
    // SAFETY: this prctl takes a number and no pointers.
    check_return(unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, kill) })?;
    let mut byte = 0_u8;
    // SAFETY: there is room for the one byte.
    match unsafe { libc::read(parent.as_raw_fd(), (&raw mut byte).cast(), 1) } {
        0 => Err(io::Error::from_raw_os_error(libc::ESRCH)),
        _ => Ok(()),
    }
}
