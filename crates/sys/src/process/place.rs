//! The place in which a program is started, if it differs from that of this process.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use super::stack_filter::StackFilter;
use crate::check_return;
use crate::mount::MountNs;
use crate::netns::NetNs;

/// The namespaces and the account in which a program is started.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The network namespace.
    pub net: &'a NetNs,
    /// The mount namespace.
    pub mounts: &'a MountNs,
    /// The account; that of the starting process if `None`.
    pub account: Option<Account>,
    /// The stack that the program does not have, if any.
    pub filter: Option<StackFilter>,
}

/// An account without rights over the namespaces in which its program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Account {
    /// The user id.
    pub user: libc::uid_t,
    /// The group id.
    pub group: libc::gid_t,
    /// The starting process is root in a user namespace with a single account. The program then
    /// runs in a nested user namespace, where `user` and `group` are mapped to that root.
    pub nested: bool,
}

impl Account {
    /// Returns the account of this name in /etc/passwd.
    ///
    /// # Errors
    /// Returns an error if there is no account of that name.
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
    /// Makes the program enter this place before it is executed.
    pub(super) fn lead(&self, command: &mut Command) -> io::Result<()> {
        let mut way = ForkPlan::to(self.net.as_fd(), self.mounts.as_fd(), self.account, command)?;
        way.filter = self.filter;
        way.before(command);
        Ok(())
    }
}

/// Makes a program enter a network and a mount namespace before it is executed, there without the stack
/// that a filter denies it, and end when the calling thread ends. It stays in the process group of the caller and keeps its terminal.
///
/// # Errors
/// Returns an error if the working folder does not exist any more, or if no descriptor is
/// available.
pub fn lead_among(
    command: &mut Command,
    net: BorrowedFd<'_>,
    mounts: BorrowedFd<'_>,
    filter: Option<StackFilter>,
) -> io::Result<()> {
    let mut way = ForkPlan::to(net, mounts, None, command)?;
    way.filter = filter;
    way.before(command);
    let ask = || {
        let term: libc::c_ulong = libc::SIGTERM as libc::c_ulong;
        // SAFETY: this prctl takes a number and no pointers.
        check_return(unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, term) }).map(drop)
    };
    // SAFETY: the closure makes one system call, which is safe in a signal handler.
    unsafe { command.pre_exec(ask) };
    Ok(())
}

/// Everything that is needed between fork and exec, where allocation is not allowed. The
/// descriptors are duplicates, because the command that captures them may outlive the originals.
struct ForkPlan {
    net: OwnedFd,
    mounts: OwnedFd,
    account: Option<Account>,
    user_map: CString,
    group_map: CString,
    folder: CString,
    filter: Option<StackFilter>,
}

impl ForkPlan {
    fn to(
        net: BorrowedFd<'_>,
        mounts: BorrowedFd<'_>,
        account: Option<Account>,
        command: &Command,
    ) -> io::Result<ForkPlan> {
        let map = |id: Option<u32>| CString::new(format!("{} 0 1\n", id.unwrap_or(0)));
        let folder = match command.get_current_dir() {
            Some(folder) => folder.to_owned(),
            None => std::env::current_dir()?,
        };
        Ok(ForkPlan {
            net: net.try_clone_to_owned()?,
            mounts: mounts.try_clone_to_owned()?,
            account,
            user_map: map(account.map(|a| a.user)).map_err(io::Error::other)?,
            group_map: map(account.map(|a| a.group)).map_err(io::Error::other)?,
            folder: CString::new(folder.as_os_str().as_bytes()).map_err(io::Error::other)?,
            filter: None,
        })
    }

    fn before(self, command: &mut Command) {
        let go = move || self.go();
        // SAFETY: between fork and exec the closure makes only system calls that are
        // async-signal-safe. It does not allocate and takes no lock.
        unsafe { command.pre_exec(go) };
    }

    fn go(&self) -> io::Result<()> {
        // SAFETY: setns takes a descriptor, which `self` holds open, and a number.
        check_return(unsafe { libc::setns(self.net.as_raw_fd(), libc::CLONE_NEWNET) })?;
        // SAFETY: as above. After fork there is one thread, so that the working folder is not
        // shared.
        check_return(unsafe { libc::setns(self.mounts.as_raw_fd(), libc::CLONE_NEWNS) })?;
        // setns moved the working folder to the root: return to the same path in the new mounts.
        // SAFETY: the folder is a C string.
        check_return(unsafe { libc::chdir(self.folder.as_ptr()) })?;
        // Another account may not set a filter.
        self.filter.map_or(Ok(()), |filter| filter.apply())?;
        match self.account {
            None => Ok(()),
            Some(account) if account.nested => self.nest(),
            Some(account) => become_account(account),
        }
    }

    /// Enters a new user namespace, in which the same account has another id. It has no rights over
    /// the namespaces outside.
    fn nest(&self) -> io::Result<()> {
        // SAFETY: unshare takes a number.
        check_return(unsafe { libc::unshare(libc::CLONE_NEWUSER) })?;
        write_file(c"/proc/self/uid_map", &self.user_map)?;
        write_file(c"/proc/self/gid_map", &self.group_map)
    }
}

fn become_account(account: Account) -> io::Result<()> {
    // SAFETY: the pointer is not read because the number of groups is 0.
    check_return(unsafe { libc::setgroups(0, std::ptr::null()) })?;
    // SAFETY: setresgid takes numbers.
    check_return(unsafe { libc::setresgid(account.group, account.group, account.group) })?;
    // SAFETY: setresuid takes numbers.
    check_return(unsafe { libc::setresuid(account.user, account.user, account.user) }).map(drop)
}

fn write_file(path: &std::ffi::CStr, text: &CString) -> io::Result<()> {
    // SAFETY: the path is a C string.
    let file =
        check_return(unsafe { libc::open(path.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC) })?;
    let bytes = text.as_bytes();
    // SAFETY: `bytes` points to `bytes.len()` readable bytes.
    let written = unsafe { libc::write(file, bytes.as_ptr().cast(), bytes.len()) };
    let error = match written {
        ..0 => Some(io::Error::last_os_error()),
        // A short write leaves an older errno. `from_raw_os_error` does not allocate.
        written if written as usize != bytes.len() => Some(io::Error::from_raw_os_error(libc::EIO)),
        _ => None,
    };
    // SAFETY: this function opened the descriptor and does not use it afterwards.
    unsafe { libc::close(file) };
    error.map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns how many descriptors of this process refer to the same file as `one`.
    fn names_of(one: BorrowedFd<'_>) -> usize {
        let name = |number: &str| std::fs::read_link(format!("/proc/self/fd/{number}")).ok();
        let wanted = name(&one.as_raw_fd().to_string()).unwrap();
        let all = std::fs::read_dir("/proc/self/fd").unwrap();
        let all = all.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        all.filter(|number| name(number).as_ref() == Some(&wanted)).count()
    }

    #[test]
    fn a_command_duplicates_the_namespace_descriptors_it_enters() {
        let (reader, writer) = std::io::pipe().unwrap();
        let mut command = Command::new("true");
        lead_among(&mut command, writer.as_fd(), writer.as_fd(), None).unwrap();
        drop(writer);
        assert_eq!(names_of(reader.as_fd()), 3, "the reader, and two of the command's");
        drop(command);
        assert_eq!(names_of(reader.as_fd()), 1);
    }
}
