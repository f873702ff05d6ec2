//! Where a program is started, if not where this one is.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, RawFd};
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use crate::check;
use crate::mount::MountNs;
use crate::netns::NetNs;

/// Where a program is started.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// Its network.
    pub net: &'a NetNs,
    /// Its mounts.
    pub mounts: &'a MountNs,
    /// Who it is; as the starter where none.
    pub account: Option<Account>,
}

/// An account without rights over the namespaces that it is put into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Account {
    /// Its user.
    pub user: libc::uid_t,
    /// Its group.
    pub group: libc::gid_t,
    /// The starter is root in a user namespace with one account: the other one is this one by another
    /// name, in a user namespace below.
    pub nested: bool,
}

impl Account {
    /// The one called so in the system's list.
    ///
    /// # Errors
    /// There is none of that name.
    pub fn named(name: &str, nested: bool) -> io::Result<Account> {
        let absent = || io::Error::new(io::ErrorKind::NotFound, format!("no account '{name}'"));
        let list = std::fs::read_to_string("/etc/passwd")?;
        let entry = list.lines().map(|line| line.split(':').collect::<Vec<_>>());
        let entry = entry.into_iter().find(|fields| fields.first() == Some(&name));
        let entry = entry.ok_or_else(absent)?;
        let number = |at: usize| entry.get(at).and_then(|text| text.parse().ok());
        Ok(Account {
            user: number(2).ok_or_else(absent)?,
            group: number(3).ok_or_else(absent)?,
            nested,
        })
    }
}

impl Place<'_> {
    /// Has the program go there before it begins.
    pub(super) fn lead(&self, command: &mut Command) -> io::Result<()> {
        let way = Way::to(self)?;
        let go = move || way.go();
        // SAFETY: between fork and exec the closure makes system calls alone that are safe in a signal
        // handler; it allocates nothing and takes no lock.
        unsafe { command.pre_exec(go) };
        Ok(())
    }
}

/// All that is needed between fork and exec, where nothing may be allocated.
struct Way {
    net: RawFd,
    mounts: RawFd,
    account: Option<Account>,
    user_map: CString,
    group_map: CString,
}

impl Way {
    fn to(place: &Place<'_>) -> io::Result<Way> {
        let account = place.account;
        let map = |id: Option<u32>| CString::new(format!("{} 0 1\n", id.unwrap_or(0)));
        Ok(Way {
            net: place.net.as_fd().as_raw_fd(),
            mounts: place.mounts.as_fd().as_raw_fd(),
            account,
            user_map: map(account.map(|a| a.user)).map_err(io::Error::other)?,
            group_map: map(account.map(|a| a.group)).map_err(io::Error::other)?,
        })
    }

    fn go(&self) -> io::Result<()> {
        // The folder is kept: /proc/self/cwd leads into the old mounts, a path into the new.
        // SAFETY: setns takes a descriptor that the starter holds open, and a number.
        check(unsafe { libc::setns(self.net, libc::CLONE_NEWNET) })?;
        // SAFETY: as above; after fork there is one thread, so that no folder is shared.
        check(unsafe { libc::setns(self.mounts, libc::CLONE_NEWNS) })?;
        match self.account {
            None => Ok(()),
            Some(account) if account.nested => self.nest(),
            Some(account) => become_account(account),
        }
    }

    /// The same account by another name, without rights over what is above.
    fn nest(&self) -> io::Result<()> {
        // SAFETY: unshare takes a number.
        check(unsafe { libc::unshare(libc::CLONE_NEWUSER) })?;
        write(c"/proc/self/uid_map", &self.user_map)?;
        write(c"/proc/self/gid_map", &self.group_map)
    }
}

fn become_account(account: Account) -> io::Result<()> {
    // SAFETY: with no groups the pointer is not read.
    check(unsafe { libc::setgroups(0, std::ptr::null()) })?;
    // SAFETY: setresgid takes numbers.
    check(unsafe { libc::setresgid(account.group, account.group, account.group) })?;
    // SAFETY: setresuid takes numbers.
    check(unsafe { libc::setresuid(account.user, account.user, account.user) }).map(drop)
}

fn write(path: &std::ffi::CStr, text: &CString) -> io::Result<()> {
    // SAFETY: the path is a C string.
    let file = check(unsafe { libc::open(path.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC) })?;
    let bytes = text.as_bytes();
    // SAFETY: `bytes` are as many readable bytes as are said to be there.
    let written = unsafe { libc::write(file, bytes.as_ptr().cast(), bytes.len()) };
    let error = (written != bytes.len() as isize).then(io::Error::last_os_error);
    // SAFETY: the descriptor is ours and is not used any more.
    unsafe { libc::close(file) };
    error.map_or(Ok(()), Err)
}
