//! The users of a standing server: agents are added and revoked. `fleet.json` has everyone's public
//! key, and the server's `users.conf` is written from it.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use sixmark_sys::output::{self, Readers};
use sixmark_sys::text_file;

use super::configuration::FleetUsers;
use super::credentials::Credentials;
use crate::names::AgentName;

/// Everyone's public key.
const USERS: &str = "fleet.json";
/// The part of the server's configuration that states who may use it.
pub(super) const CONFIGURATION: &str = "users.conf";
/// The certificate of the authority that signed the server's.
pub(super) const AUTHORITY: &str = "authority.pem";
/// The folder of agents' credentials.
const AGENTS: &str = "agents";

/// Adds agents to the fleet in `folder`, which `fleet init` wrote, and writes the credentials of
/// each. Returns their paths. The server must read its configuration again.
///
/// # Errors
/// One line: there is no fleet, an agent has a key already, or a file can't be written.
pub fn add_agents(folder: &Path, names: &[AgentName]) -> Result<Vec<PathBuf>, String> {
    let _locked = lock(folder)?;
    let mut users = read_users(folder)?;
    if let Some(name) = names.iter().find(|name| users.agents.contains_key(*name)) {
        return Err(format!("agent {name} has a key: revoke it first, or choose another name"));
    }
    let authority = text_file::read_file(&folder.join(AUTHORITY));
    let authority = authority.map_err(|error| failed(&folder.join(AUTHORITY), &error))?;
    let paths = write_agents(folder, &mut users, names, &authority)?;
    write_users(folder, &users)?;
    Ok(paths)
}

/// Removes agents, and their credentials if these are still in `folder`. The server must read its
/// configuration again; it then closes their connections.
///
/// # Errors
/// One line: there is no fleet, it has no such agent, or a file can't be written.
pub fn revoke_agents(folder: &Path, names: &[AgentName]) -> Result<(), String> {
    let _locked = lock(folder)?;
    let mut users = read_users(folder)?;
    for name in names {
        if users.agents.remove(name).is_none() {
            let line = format!("the fleet in {} has no agent {name}", folder.display());
            return Err(line);
        }
    }
    write_users(folder, &users)?;
    for name in names {
        let path = credentials_of(folder, name);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(failed(&path, &error));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Writes the credentials of agents, and adds their keys to `users`. Returns the files.
pub(super) fn write_agents(
    folder: &Path,
    users: &mut FleetUsers,
    names: &[AgentName],
    authority: &str,
) -> Result<Vec<PathBuf>, String> {
    let agents = folder.join(AGENTS);
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(&agents);
    made.map_err(|error| failed(&agents, &error))?;
    let mut paths = Vec::new();
    for name in names {
        let (credentials, key) = Credentials::generate(Some(authority));
        let path = credentials_of(folder, name);
        write_new(&path, &credentials.for_agent(name).to_text(), 0o600)?;
        if users.agents.insert(name.clone(), key).is_some() {
            return Err(format!("agent {name} is named twice"));
        }
        paths.push(path);
    }
    Ok(paths)
}

/// Writes the users of a new fleet.
pub(super) fn write_first_users(folder: &Path, users: &FleetUsers) -> Result<(), String> {
    write_new(&folder.join(CONFIGURATION), &users.to_text(), 0o644)?;
    write_new(&folder.join(USERS), &text_of(users)?, 0o644)
}

/// Writes a file that does not exist.
pub(super) fn write_new(path: &Path, text: &str, mode: u32) -> Result<(), String> {
    let file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path);
    let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => is_there(path),
        _ => failed(path, &error),
    })
}

/// Says that a file exists.
pub(super) fn is_there(path: &Path) -> String {
    format!(
        "{} already exists: name another folder, or remove the files of the earlier fleet",
        path.display()
    )
}

/// Says why a file can't be used.
pub(super) fn failed(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}

fn credentials_of(folder: &Path, name: &AgentName) -> PathBuf {
    folder.join(AGENTS).join(format!("{name}.creds"))
}

/// Keeps other commands from changing the same fleet until the file is dropped.
fn lock(folder: &Path) -> Result<File, String> {
    let locked = File::open(folder).and_then(|file| file.lock().map(|()| file));
    locked.map_err(|error| failed(folder, &error))
}

fn read_users(folder: &Path) -> Result<FleetUsers, String> {
    let path = folder.join(USERS);
    let text = text_file::read_file(&path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => format!(
            "{} is not the folder of a fleet: it has no {USERS}; `sixmark fleet init` makes one",
            folder.display()
        ),
        _ => failed(&path, &error),
    })?;
    serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
}

/// Writes who may use the server, first for this program and then for the server.
fn write_users(folder: &Path, users: &FleetUsers) -> Result<(), String> {
    for (name, text) in [(USERS, text_of(users)?), (CONFIGURATION, users.to_text())] {
        let path = folder.join(name);
        output::replace(&path, &text, Readers::Umask).map_err(|error| failed(&path, &error))?;
    }
    Ok(())
}

fn text_of(users: &FleetUsers) -> Result<String, String> {
    let text = serde_json::to_string_pretty(users).map_err(|error| error.to_string())?;
    Ok(format!("{text}\n"))
}

#[cfg(test)]
mod tests {
    use super::super::init::write_fleet;
    use super::*;

    fn names<const N: usize>(names: [&str; N]) -> [AgentName; N] {
        names.map(|name| name.parse().unwrap())
    }

    /// The agents that the server's configuration knows.
    fn known(folder: &Path) -> Vec<String> {
        let text = fs::read_to_string(folder.join(CONFIGURATION)).unwrap();
        let lines = text.lines().filter_map(|line| line.trim().strip_prefix("# Agent "));
        lines.map(|name| name.trim_end_matches('.').to_owned()).collect()
    }

    #[test]
    fn adds_and_revokes_agents_with_separate_keys() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("fleet");
        write_fleet(&folder, &["::1".to_owned()], 4222, &names(["a", "b"])).unwrap();
        assert_eq!(known(&folder), ["a", "b"]);
        let added = add_agents(&folder, &names(["c"])).unwrap();
        assert_eq!((known(&folder), added.len()), (["a", "b", "c"].map(str::to_owned).into(), 1));
        let read = |name: &AgentName| Credentials::read(&credentials_of(&folder, name)).unwrap();
        let [a, b, c] = names(["a", "b", "c"]).map(|name| {
            assert_eq!(read(&name).agent(), Some(&name));
            read(&name)
        });
        assert!(a.authority().is_some() && a.authority() == c.authority());
        assert!(a.seed() != b.seed() && b.seed() != c.seed());
        assert!(add_agents(&folder, &names(["b"])).unwrap_err().contains("b has a key"));
        revoke_agents(&folder, &names(["a", "b"])).unwrap();
        assert_eq!(known(&folder), ["c"]);
        assert!(!credentials_of(&folder, &names(["a"])[0]).exists());
        assert!(revoke_agents(&folder, &names(["a"])).unwrap_err().contains("no agent a"));
        add_agents(&folder, &names(["a"])).unwrap();
        assert_ne!(read(&names(["a"])[0]).seed(), a.seed());
    }

    #[test]
    fn a_folder_without_a_fleet_is_refused_in_one_line() {
        let folder = tempfile::tempdir().unwrap();
        for line in [
            add_agents(folder.path(), &names(["a"])).unwrap_err(),
            revoke_agents(folder.path(), &names(["a"])).unwrap_err(),
        ] {
            assert!(line.contains("not the folder of a fleet") && !line.contains('\n'), "{line}");
        }
        assert!(add_agents(&folder.path().join("x"), &names(["a"])).is_err());
    }
}
