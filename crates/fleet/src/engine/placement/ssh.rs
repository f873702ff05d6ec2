//! Placement through the user's own OpenSSH: its configuration, keys, agent and known hosts.

use std::io;
use std::process::Command;
use std::str::FromStr;

use sixmark_sys::command_error::CommandError;

use super::last_words::last_line;
use super::remote::{ABSENT, NOT_STORED, OTHER_VERSION, UNUSABLE, VERSION, marked};
use crate::hosts::HostName;

/// The environment variable with the command to use in place of `ssh`, as in a shell:
/// `SIXMARK_SSH='ssh -F file'`.
pub const SSH_VARIABLE: &str = "SIXMARK_SSH";

/// The Debian package of the usual one.
pub const PACKAGE: &str = "openssh-client";

/// The exit status with which ssh(1) reports its own failures.
const OWN_FAILURE: i32 = 255;

/// Options that make a process of its own of it: it asks for nothing, opens no terminal and no
/// port, and notices within 15 s that the host is gone. An option of [`SSH_VARIABLE`] precedes them
/// and takes effect.
const OPTIONS: [&str; 13] = [
    "-T",
    "-o",
    "BatchMode=yes",
    "-o",
    "ConnectTimeout=10",
    "-o",
    "ServerAliveInterval=5",
    "-o",
    "ServerAliveCountMax=3",
    "-o",
    "ClearAllForwardings=yes",
    "-o",
    "RemoteCommand=none",
];

/// The program that reaches hosts, with its first arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SshCommand(Vec<String>);

impl SshCommand {
    /// Returns what [`SSH_VARIABLE`] says, or `ssh`.
    ///
    /// # Errors
    /// The variable can't be read as a command.
    pub fn from_environment() -> Result<SshCommand, CommandError> {
        let given = std::env::var_os(SSH_VARIABLE).filter(|text| !text.is_empty());
        let text = given.unwrap_or_else(|| "ssh".into());
        let text = text.to_str().ok_or("no UTF-8").and_then(|text| {
            text.parse().map_err(|()| "expected a command as in a shell, such as 'ssh -F file'")
        });
        text.map_err(|error| CommandError::Usage(format!("{SSH_VARIABLE}: {error}")))
    }

    /// Returns the name of the program.
    pub fn program(&self) -> &str {
        self.0.first().map_or("ssh", String::as_str)
    }

    /// Returns the command that runs `remote` in the login shell of a destination.
    pub(super) fn to(&self, destination: &str, remote: &str) -> Command {
        let mut words = self.0.iter();
        let mut command = Command::new(words.next().map_or("ssh", String::as_str));
        command.args(words).args(OPTIONS).args([destination, remote]);
        command
    }

    /// Returns the line for a program that could not be started.
    pub(super) fn explain_start(&self, error: &io::Error) -> String {
        let name = self.program();
        match error.kind() {
            io::ErrorKind::NotFound => format!(
                "--hosts needs OpenSSH, and '{name}' is not installed here (Debian: {PACKAGE}); \
                 {SSH_VARIABLE} names another command"
            ),
            _ => format!("can't start '{name}': {error}"),
        }
    }
}

impl FromStr for SshCommand {
    type Err = ();

    fn from_str(text: &str) -> Result<SshCommand, ()> {
        let words = shlex::split(text).filter(|words| !words.is_empty());
        words.map(SshCommand).ok_or(())
    }
}

/// Returns the line for a process that ended before it was an agent, with this status and these
/// last words.
pub(super) fn explain_end(host: &HostName, status: Option<i32>, words: &str) -> String {
    let (last, marked) = (last_line(words), marked(words).unwrap_or_default());
    let marked = sixmark_units::visible::visible(marked);
    match status {
        Some(OWN_FAILURE) if last.is_empty() => format!("the connection to {host} ended"),
        Some(OWN_FAILURE) => format!("can't reach {host}: {last}"),
        Some(ABSENT) if last.is_empty() => {
            format!("sixmark is not installed on {host}: install it there, or add --copy-sixmark")
        }
        Some(OTHER_VERSION) => format!(
            "{host} has '{marked}', this is {VERSION}: install the same version there, or add \
             --copy-sixmark"
        ),
        Some(NOT_STORED) => format!("can't copy sixmark to {host}: {}", or_nothing(&last)),
        Some(UNUSABLE) => {
            format!("the copy of sixmark does not run on {host}: {}", or_nothing(&marked))
        }
        Some(status) => {
            format!("the agent on {host} ended with status {status}: {}", or_nothing(&last))
        }
        None => format!("the connection to {host} was ended by a signal: {}", or_nothing(&last)),
    }
}

fn or_nothing(line: &str) -> &str {
    if line.is_empty() { "it wrote no reason" } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn puts_the_users_ssh_options_first_and_the_destination_in_one_word() {
        let ssh: SshCommand = "ssh -F 'a file'".parse().unwrap();
        let command = ssh.to("u@::1", "sh -c 'x y'");
        let words: Vec<_> = command.get_args().map(|word| word.to_str().unwrap()).collect();
        assert_eq!(words[..3], ["-F", "a file", "-T"]);
        assert_eq!(words[words.len() - 2..], ["u@::1", "sh -c 'x y'"]);
        assert_eq!(command.get_program(), "ssh");
        for wrong in ["", "  ", "'ssh"] {
            assert_eq!(wrong.parse::<SshCommand>(), Err(()), "{wrong}");
        }
    }

    #[test]
    fn explains_every_exit_status_in_one_line_that_names_the_host() {
        let host: HostName = "web".parse().unwrap();
        for (status, words, line) in [
            (
                Some(255),
                "Welcome\nssh: connect to host web port 22: Connection refused\r\n",
                "can't reach web: ssh: connect to host web port 22: Connection refused",
            ),
            (Some(255), "", "the connection to web ended"),
            (
                Some(127),
                "",
                "sixmark is not installed on web: install it there, or add --copy-sixmark",
            ),
            (
                Some(127),
                "bash: line 1: sh: command not found\n",
                "the agent on web ended with status 127: bash: line 1: sh: command not found",
            ),
            (
                Some(76),
                "sixmark-placement: sixmark 0.0.1\x1b\n",
                concat!(
                    "web has 'sixmark 0.0.1\\u{1b}', this is sixmark ",
                    env!("CARGO_PKG_VERSION"),
                    ": install the same version there, or add --copy-sixmark"
                ),
            ),
            (
                Some(77),
                "mktemp: failed: No space left on device\n",
                "can't copy sixmark to web: mktemp: failed: No space left on device",
            ),
            (
                Some(78),
                "sixmark-placement: GLIBC_2.39 not found\n",
                "the copy of sixmark does not run on web: GLIBC_2.39 not found",
            ),
            (
                Some(3),
                "sixmark: no loopback\n",
                "the agent on web ended with status 3: no loopback",
            ),
            (None, "", "the connection to web was ended by a signal: it wrote no reason"),
        ] {
            assert_eq!(explain_end(&host, status, words), line);
        }
    }
}
