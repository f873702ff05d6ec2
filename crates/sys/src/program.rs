//! Other programs: where to find them, and the environment they run in.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Directories of daemons, which a user's PATH may lack.
const DAEMONS: [&str; 3] = ["/usr/local/sbin", "/usr/sbin", "/sbin"];

/// Environment variables that make a client connect to a proxy instead of the given address.
const PROXIES: [&str; 8] = [
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
];

/// Finds the executable file of a program in PATH and in the directories of daemons. A name that
/// contains a slash is a path.
pub fn find_program(program: &str) -> Option<PathBuf> {
    if program.contains('/') {
        return Some(PathBuf::from(program)).filter(|path| is_program(path));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(DAEMONS.map(PathBuf::from));
    folders.map(|folder| folder.join(program)).find(|path| is_program(path))
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// Environment variables that a service or a client is started with, if they are set. Others, such
/// as credentials, may be meant for this program alone.
const PLAIN: [&str; 8] = ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ", "TERM"];

/// Returns a command with the caller's environment that prints English messages (`LC_ALL=C`), uses
/// no proxy and reads nothing from standard input.
pub fn command_of(path: &Path) -> Command {
    let mut command = Command::new(path);
    command.env("LC_ALL", "C").env_remove("LANGUAGE").stdin(Stdio::null());
    for name in PROXIES {
        command.env_remove(name);
    }
    command
}

/// Returns the same command with only those variables of the caller's environment that any program
/// needs.
pub fn plain_command(path: &Path) -> Command {
    let mut command = Command::new(path);
    command.env_clear().env("LC_ALL", "C").stdin(Stdio::null());
    command.envs(PLAIN.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
    command
}
