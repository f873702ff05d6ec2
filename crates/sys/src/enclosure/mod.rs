//! An enclosure: a copy of this process in namespaces of its own, which leaves nothing behind when
//! it ends, for whatever reason.
//!
//! ```text
//! the caller: waits, forwards signals, and exits with the status of the third process
//! └─ the first process of a new PID namespace: reaps; when it ends, the kernel kills the others
//!    └─ continues in place of the caller
//! ```
//!
//! When the caller ends, the kernel kills the first process of the PID namespace and with it all
//! others. Their network namespaces, mounts and temporary files (on a tmpfs of their own) are
//! removed as well. Thus `kill -9` of any of the three processes leaves nothing behind.

mod attempt;
mod keeper;
mod signals;

use crate::rtnetlink::Netlink;
use std::borrow::Cow;
use std::fs;
use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::path::Path;

use crate::{check_return, mount, terminal};
pub use attempt::{Attempt, attempt};
use keeper::Keeper;
pub use keeper::attend;

/// The folder for temporary files in an enclosure, a tmpfs of its own.
pub const TEMPORARY: &str = "/dev/shm";

/// The reason why an enclosure could not be entered.
#[derive(Debug)]
pub struct Refused {
    /// The step that failed.
    pub what: Cow<'static, str>,
    /// The error of the kernel.
    pub error: io::Error,
}

impl Refused {
    fn at(what: &'static str) -> impl Fn(io::Error) -> Refused {
        move |error| Refused { what: Cow::Borrowed(what), error }
    }
}

/// The privileges of the process in an enclosure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rights {
    /// The privileges of the host's root.
    Root,
    /// Privileges within a user namespace of its own, which contains a single account.
    User,
}

/// The process in which [`enter`] returns.
#[derive(Debug)]
pub enum Side {
    /// The caller, after the process inside has ended. The value is its exit status, or 128 plus
    /// the number of the signal that ended it.
    Outside(u8),
    /// The process inside, with its privileges.
    Inside(Rights),
}

/// Continues inside an enclosure, which has its own PID, mount, IPC and network namespaces and,
/// unless the caller is root, its own user namespace. The network has only a loopback interface, which is up,
/// /proc shows only the processes inside, and /dev/shm is a tmpfs of its own. All other files are
/// those of the host.
///
/// # Errors
/// Returns an error if this process has several threads, or if the kernel does not permit the
/// namespaces.
pub fn enter() -> Result<Side, Refused> {
    single().map_err(Refused::at("fork with several threads"))?;
    let (read, write) = pipe().map_err(Refused::at("make a pipe"))?;
    let ids = Ids::now();
    let foreground = terminal::is_foreground();
    let waiting = signals::hold().map_err(Refused::at("block signals"))?;
    let (first, rights) = fork_apart(&ids).map_err(Refused::at("make namespaces"))?;
    match first {
        Some(child) => {
            drop(read);
            let status = Keeper::of(child).wait(&waiting);
            drop(write);
            waiting.release();
            if foreground {
                terminal::reclaim_foreground();
            }
            status.map(Side::Outside).map_err(Refused::at("wait for the enclosure"))
        }
        None => {
            drop(write);
            if foreground {
                terminal::lend_foreground();
            }
            inside(rights, &ids, &read, waiting)
        }
    }
}

/// Runs in the first process of the new namespaces.
fn inside(
    rights: Rights,
    ids: &Ids,
    parent: &OwnedFd,
    waiting: signals::Held,
) -> Result<Side, Refused> {
    die_with(parent).map_err(Refused::at("arrange to end with its parent"))?;
    set_apart().map_err(Refused::at("make a process group"))?;
    if rights == Rights::User {
        ids.map().map_err(Refused::at("map accounts in a user namespace"))?;
    }
    let up = Netlink::open().and_then(|mut netlink| netlink.up("lo"));
    up.map_err(Refused::at("set its loopback interface up"))?;
    furnish().map_err(Refused::at("mount its own file systems"))?;
    match fork().map_err(Refused::at("fork"))? {
        Some(child) => {
            let status = Keeper::of(child).wait(&waiting).unwrap_or(1);
            // SAFETY: _exit ends this process without running anything more. exit would also flush
            // the buffers that this process has copied from its parent.
            unsafe { libc::_exit(i32::from(status)) }
        }
        None => {
            // Its own group too, which may become the foreground of the terminal without the process
            // that forwards signals.
            set_apart().map_err(Refused::at("make a process group"))?;
            waiting.release();
            Ok(Side::Inside(rights))
        }
    }
}

/// Mounts the file systems of the enclosure.
fn furnish() -> io::Result<()> {
    mount::keep_to_this_namespace()?;
    mount::special("proc", Path::new("/proc"), "")?;
    mount::special("tmpfs", Path::new(TEMPORARY), "mode=1777")
}

/// Checks that there is one thread. fork copies no other threads, but the locks that they hold.
fn single() -> io::Result<()> {
    match fs::read_dir("/proc/self/task")?.count() {
        1 => Ok(()),
        n => Err(io::Error::other(format!("there are {n}"))),
    }
}

/// Forks with the privileges of root if the kernel permits that and there are other accounts,
/// otherwise into a user namespace.
fn fork_apart(ids: &Ids) -> io::Result<(Option<libc::pid_t>, Rights)> {
    if ids.user == 0 && !is_alone() {
        match clone(SPACES) {
            Err(error) if error.raw_os_error() == Some(libc::EPERM) => {}
            done => return Ok((done?, Rights::Root)),
        }
    }
    Ok((clone(SPACES | libc::CLONE_NEWUSER)?, Rights::User))
}

/// Returns true in a user namespace with a single account, whose root has only [`Rights::User`].
fn is_alone() -> bool {
    let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    map.split_whitespace().skip(2).collect::<Vec<_>>() == ["1"]
}

/// The namespaces of an enclosure.
const SPACES: libc::c_int =
    libc::CLONE_NEWPID | libc::CLONE_NEWNS | libc::CLONE_NEWIPC | libc::CLONE_NEWNET;

/// Forks into new namespaces. Returns the child's id, or `None` in the child.
fn clone(spaces: libc::c_int) -> io::Result<Option<libc::pid_t>> {
    let flags = libc::c_long::from(spaces | libc::SIGCHLD);
    let none: libc::c_long = 0;
    // SAFETY: with only namespace flags and a signal this is a fork: no memory is shared, and no
    // stack and no pointers are passed. There is one thread, so that no lock stays held in the
    // child. Unlike fork(3), this does not renew what glibc knows of the thread: the id that
    // pthread_kill and recursive mutexes use stays that of the parent. The child uses neither, and
    // glibc remembers no process id (since 2.25). unshare(2) is no way out: it would move the caller.
    let child = unsafe { libc::syscall(libc::SYS_clone, flags, none, none, none, none) };
    let child = check_return(child as libc::c_int)?;
    Ok((child > 0).then_some(child))
}

fn fork() -> io::Result<Option<libc::pid_t>> {
    // SAFETY: there is one thread, so that no lock stays held in the child.
    let child = check_return(unsafe { libc::fork() })?;
    Ok((child > 0).then_some(child))
}

/// The account that is mapped to root in the new user namespace.
struct Ids {
    user: libc::uid_t,
    group: libc::gid_t,
}

impl Ids {
    fn now() -> Ids {
        // SAFETY: geteuid takes no arguments and always succeeds.
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

/// Creates a process group for the processes inside. A signal to the caller's group then reaches
/// them once, through the caller. Otherwise they would receive it three times, and the second one
/// could end them at once.
fn set_apart() -> io::Result<()> {
    // SAFETY: setpgid takes two numbers.
    check_return(unsafe { libc::setpgid(0, 0) }).map(drop)
}

fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: `ends` has room for the two descriptors.
    check_return(unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC | libc::O_NONBLOCK) })?;
    // SAFETY: the kernel has just returned this descriptor and nothing else owns it.
    let read = unsafe { OwnedFd::from_raw_fd(ends[0]) };
    // SAFETY: as above.
    Ok((read, unsafe { OwnedFd::from_raw_fd(ends[1]) }))
}

/// Requests SIGKILL when the caller ends. If it has ended before, its end of the pipe is closed.
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
