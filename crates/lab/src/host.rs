//! The hosts of a lab that is up.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::process::Command;

use crate::plan::Lab;
use sixmark_sys::enclosure::Rights;
use sixmark_sys::mount::MountNs;
use sixmark_sys::netns::NetNs;
use sixmark_sys::process::{Account, Place, Running, StackFilter};
use sixmark_units::family::Family;

use super::TEMPORARY;
use sixmark_sys::command_error::CommandError;

/// A host that is up, with its own network and mount namespaces.
#[derive(Debug)]
pub struct Host {
    name: String,
    net: NetNs,
    mounts: MountNs,
    rights: Rights,
    missing_stack: Option<Family>,
}

/// All hosts of a lab that is up.
#[derive(Debug)]
pub struct Hosts {
    list: Vec<Host>,
    values: BTreeMap<String, String>,
    rights: Rights,
}

impl Host {
    pub(super) fn new(name: &str, net: NetNs, mounts: MountNs, rights: Rights) -> Host {
        Host { name: name.to_owned(), net, mounts, rights, missing_stack: None }
    }

    /// Returns the host, whose programs have no stack of a family if one is given.
    pub(super) fn without_stack(self, missing_stack: Option<Family>) -> Host {
        Host { missing_stack, ..self }
    }

    /// Returns the family of which the host's programs have no stack.
    pub fn missing_stack(&self) -> Option<Family> {
        self.missing_stack
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the network namespace.
    pub fn net(&self) -> &NetNs {
        &self.net
    }

    /// Returns whether the host's privileges are those of a user namespace.
    pub(super) fn is_in_user_namespace(&self) -> bool {
        self.rights == Rights::User
    }

    /// Returns the mount namespace.
    pub fn mounts(&self) -> &MountNs {
        &self.mounts
    }

    /// Moves the calling **thread** into the host permanently, together with all threads that it
    /// starts later. They use the host's network and its files with host names.
    ///
    /// # Errors
    /// Fails if the kernel refuses.
    pub fn enter(&self) -> Result<(), CommandError> {
        let cannot =
            |error| CommandError::Measure(format!("can't enter the host {}: {error}", self.name));
        self.net.enter().and_then(|()| self.mounts.enter()).map_err(cannot)
    }

    /// Runs a function in the host, on a new thread.
    ///
    /// # Errors
    /// Fails if the host cannot be entered, or if the function fails or panics.
    pub fn within<T: Send>(
        &self,
        work: impl FnOnce() -> Result<T, CommandError> + Send,
    ) -> Result<T, CommandError> {
        let there = || {
            self.enter()?;
            work()
        };
        let lost =
            || Err(CommandError::Measure(format!("a task in the host {} panicked", self.name)));
        std::thread::scope(|scope| scope.spawn(there).join().unwrap_or_else(|_| lost()))
    }

    /// Starts a program in the host, as another account if one is given. The program ends with the
    /// calling thread.
    ///
    /// # Errors
    /// Fails if the program cannot be started or the account does not exist.
    pub fn start(&self, command: &mut Command, account: Option<&str>) -> io::Result<Running> {
        let named = |name| Account::named(name, self.rights == Rights::User);
        let account = account.map(named).transpose()?;
        command.env("TMPDIR", TEMPORARY);
        let filter = self.missing_stack.map(StackFilter::without);
        Running::start_in(command, &Place { net: &self.net, mounts: &self.mounts, account, filter })
    }
}

impl Hosts {
    pub(super) fn new(lab: &Lab, list: Vec<Host>, rights: Rights) -> Hosts {
        Hosts { values: lab.values(), list, rights }
    }

    /// Returns the host with this name.
    ///
    /// # Errors
    /// Fails if there is none.
    pub fn get(&self, name: &str) -> Result<&Host, CommandError> {
        let found = self.list.iter().find(|host| host.name == name);
        found.ok_or_else(|| {
            let names: Vec<&str> = self.list.iter().map(Host::name).collect();
            CommandError::Usage(format!(
                "the lab has no host '{name}'; it has: {}",
                names.join(", ")
            ))
        })
    }

    /// Returns all hosts in the order of the file, followed by the bridges.
    pub fn all(&self) -> &[Host] {
        &self.list
    }

    /// Returns the values of placeholders in services, the addresses of hosts and the lab's texts, by
    /// the name in braces.
    pub fn values(&self) -> BTreeMap<String, String> {
        self.values.clone()
    }

    /// Makes an account the owner of a folder.
    pub(crate) fn give(&self, folder: &Path, account: &str) -> io::Result<()> {
        match Account::named(account, self.rights == Rights::User)? {
            // In a user namespace it is the same account under another name.
            Account { nested: true, .. } => Ok(()),
            account => std::os::unix::fs::chown(folder, Some(account.user), Some(account.group)),
        }
    }
}
