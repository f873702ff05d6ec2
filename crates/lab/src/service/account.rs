//! The accounts of services that root starts without a lab.

use std::io;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use crate::plan::services::Service;
use sixmark_sys::join;
use sixmark_sys::process::Account;

/// Returns the account that a service runs as without a lab; `None` for that of the user.
fn account_of(service: &Service) -> io::Result<Option<Account>> {
    let name = service.account.as_deref().filter(|_| join::account() == 0);
    name.map(|name| Account::named(name, false)).transpose()
}

/// Has a command run as the service's account.
pub(super) fn put_account(command: &mut Command, service: &Service) -> io::Result<()> {
    if let Some(account) = account_of(service)? {
        // Without other groups: std drops those of root.
        command.uid(account.user).gid(account.group);
    }
    Ok(())
}

/// Makes the service's account the owner of a folder.
pub(super) fn give_folder(folder: &Path, service: &Service) -> io::Result<()> {
    match account_of(service)? {
        Some(account) => chown(folder, Some(account.user), Some(account.group)),
        None => Ok(()),
    }
}
