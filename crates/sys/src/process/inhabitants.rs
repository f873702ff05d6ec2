//! The processes in a network namespace, whoever started them.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::os::unix::fs::MetadataExt as _;
use std::ptr;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::check_return;
use crate::netns::NetNs;

use super::open_pidfd;

/// How long processes are killed that start others meanwhile, or that the kernel has not ended yet.
const LONGEST: Duration = Duration::from_secs(10);
/// The time that killed processes have to go, in each round.
const ROUND: Duration = Duration::from_millis(5);

/// Returns the ids of the processes in a network namespace. One that has ended and was not waited for is in
/// none any more.
///
/// # Errors
/// Returns an error if /proc can't be read.
pub fn processes_in(net: &NetNs) -> io::Result<Vec<u32>> {
    let own = identity_of(net)?;
    let entries = fs::read_dir("/proc")?.flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    Ok(ids.filter(|id| is_in(*id, own)).collect())
}

/// Kills all processes in a network namespace, and waits until none is there. Returns how many were killed.
/// The namespace must be one that this process has created and is not in itself.
///
/// # Errors
/// Returns an error if /proc can't be read, or if processes start others faster than they are killed.
pub fn kill_processes_in(net: &NetNs) -> io::Result<u32> {
    let own = identity_of(net)?;
    let until = Instant::now() + LONGEST;
    let (mut killed, mut before) = (0, Vec::new());
    loop {
        let there = processes_in(net)?;
        if there.is_empty() {
            return Ok(killed);
        }
        if Instant::now() > until {
            // Of a process that waits for a device the kernel delivers no signal.
            let has_new = there.iter().any(|id| !before.contains(id));
            return Err(io::Error::other(match has_new {
                true => "its processes start others faster than they are killed".to_owned(),
                false => format!("its process {} does not end when it is killed", there[0]),
            }));
        }
        killed += there.iter().filter(|id| kill_in(**id, own)).count() as u32;
        before = there;
        sleep(ROUND);
    }
}

/// What identifies a namespace: a device and an inode.
type NamespaceIdentity = (u64, u64);

fn identity_of(net: &NetNs) -> io::Result<NamespaceIdentity> {
    let found = File::from(net.as_fd().try_clone_to_owned()?).metadata()?;
    Ok((found.dev(), found.ino()))
}

fn is_in(id: u32, own: NamespaceIdentity) -> bool {
    fs::metadata(format!("/proc/{id}/ns/net")).is_ok_and(|of| (of.dev(), of.ino()) == own)
}

/// Kills a process if it is in the namespace. Its descriptor stays that of the same process, while its id may
/// become that of another one.
fn kill_in(id: u32, own: NamespaceIdentity) -> bool {
    let Ok(file) = open_pidfd(id as libc::pid_t) else { return false };
    if !is_in(id, own) {
        return false;
    }
    let (kill, none) = (libc::SIGKILL, ptr::null::<libc::siginfo_t>());
    // SAFETY: pidfd_send_signal takes an open descriptor, a number, a null pointer and no flags.
    let sent = unsafe {
        libc::syscall(libc::SYS_pidfd_send_signal, file.as_raw_fd(), kill, none, 0 as libc::c_uint)
    };
    check_return(sent as libc::c_int).is_ok()
}
