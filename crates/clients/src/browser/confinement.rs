//! The account that a browser runs as, and the URLs that it may load. A browser runs foreign code.

use std::io;
use std::net::IpAddr;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use sixmark_http::url::{Host, Url};
use sixmark_sys::join;
use sixmark_sys::process::Account;

use super::threads::{network, network_of_program};

/// An account without files or rights of its own.
const NOBODY: &str = "nobody";

/// How a browser is isolated from the user that starts it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Confinement {
    /// The account that it runs as, if that is not the starter's.
    account: Option<Account>,
    /// Whether its own sandbox is on.
    has_sandbox: bool,
}

impl Confinement {
    /// Returns the default confinement: the browser's own sandbox, and the account `nobody` if the
    /// starter is root and can change accounts.
    pub(super) fn new() -> Confinement {
        let account = Account::named(NOBODY, false).ok();
        let may_change = |account: &Account| join::account() == 0 && is_mapped(account.user);
        Confinement { account: account.filter(may_change), has_sandbox: true }
    }

    /// Returns the same confinement for a host on which the sandbox can't be set up.
    pub(super) fn without_sandbox(self) -> Confinement {
        Confinement { has_sandbox: false, ..self }
    }

    /// Reports whether its own sandbox is on.
    pub(super) fn has_sandbox(&self) -> bool {
        self.has_sandbox
    }

    /// Sets the account of a browser's command, and gives that account these files.
    ///
    /// # Errors
    /// Returns an error if the owner of the files can't be changed.
    pub(super) fn lead(&self, command: &mut Command, files: &[&Path]) -> io::Result<()> {
        let Some(account) = self.account else { return Ok(()) };
        for file in files {
            chown(file, Some(account.user), Some(account.group))?;
        }
        command.uid(account.user).gid(account.group);
        Ok(())
    }

    /// Checks whether the browser may load this URL. Without its sandbox and without an account of
    /// its own, it may only load from this machine or from a lab.
    ///
    /// # Errors
    /// Returns a message that says what to do if it may not.
    pub(super) fn check(&self, url: &str) -> Result<(), String> {
        if self.has_sandbox || self.account.is_some() || is_in_lab()? || is_loopback(url) {
            return Ok(());
        }
        Err(format!(
            "its sandbox can't be created here, and without a sandbox it may load only from \
             loopback and lab hosts, not {url}; run the study in a lab, or as root (the browser \
             then runs as {NOBODY})"
        ))
    }
}

/// Reports whether the thread is in another network namespace than the program, which means in a
/// host of a lab.
fn is_in_lab() -> Result<bool, String> {
    Ok(network()? != network_of_program()?)
}

fn is_loopback(url: &str) -> bool {
    let host = url.parse::<Url>().map(|url| url.host);
    matches!(host, Ok(Host::Address(address, _)) if IpAddr::is_loopback(&address))
}

/// Reports whether the user namespace maps this account. The namespace of an unprivileged lab maps
/// only the user's own.
fn is_mapped(user: u32) -> bool {
    let map = std::fs::read_to_string("/proc/thread-self/uid_map").unwrap_or_default();
    map.lines().any(|line| {
        let mut numbers = line.split_whitespace().map(str::parse::<u64>);
        match (numbers.next(), numbers.nth(1)) {
            (Some(Ok(first)), Some(Ok(count))) => {
                u64::from(user).checked_sub(first).is_some_and(|at| at < count)
            }
            _ => false,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_only_loopback_urls_without_a_sandbox_or_a_separate_account() {
        let bare = Confinement { account: None, has_sandbox: false };
        for near in ["http://[::1]:80/", "https://127.0.0.1/x"] {
            assert_eq!(bare.check(near), Ok(()));
        }
        for far in ["http://[2001:db8::1]/", "http://192.0.2.1/", "http://localhost.example/"] {
            assert!(bare.check(far).unwrap_err().contains(far));
            assert_eq!(Confinement { has_sandbox: true, ..bare }.check(far), Ok(()));
            let nobody = Some(Account { user: 65_534, group: 65_534, nested: false });
            assert_eq!(Confinement { account: nobody, ..bare }.check(far), Ok(()));
        }
    }

    #[test]
    fn finds_its_own_account_mapped_in_its_user_namespace() {
        assert!(is_mapped(join::account()));
    }
}
