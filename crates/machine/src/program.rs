//! Other programs: where they are, and in which surroundings they run.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Where daemons are, which a user's own path may lack.
const DAEMONS: [&str; 3] = ["/usr/local/sbin", "/usr/sbin", "/sbin"];

/// Variables that lead a client elsewhere than it was told.
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

/// The file of a program, found where daemons are too.
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

/// Variables that a service or a client is started with, where they are set. Others may be meant for
/// this program alone: credentials, say.
const PLAIN: [&str; 8] = ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ", "TERM"];

/// A program whose words are English and that goes where it is told, with the caller's environment.
pub fn command_of(path: &Path) -> Command {
    let mut command = Command::new(path);
    command.env("LC_ALL", "C").env_remove("LANGUAGE").stdin(Stdio::null());
    for name in PROXIES {
        command.env_remove(name);
    }
    command
}

/// The same with nothing of the caller's environment but what any program needs.
pub fn plain_command(path: &Path) -> Command {
    let mut command = Command::new(path);
    command.env_clear().env("LC_ALL", "C").stdin(Stdio::null());
    command.envs(PLAIN.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
    command
}
