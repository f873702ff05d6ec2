//! What is placed, and how.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use sixmark_sys::process::Running;

use super::ssh::SshCommand;
use crate::names::AgentName;

/// What is done with a line that an agent, or ssh(1) for it, writes to standard error.
pub type LineSink = Arc<dyn Fn(&AgentName, &str) + Send + Sync>;

/// Starts a program in a host of a lab that this process has built. The program ends with the calling
/// thread.
pub type StartInLab<'a> = &'a dyn Fn(&str, &mut Command) -> io::Result<Running>;

/// The program that is an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentProgram {
    /// The program and its arguments, as on a command line of its host.
    pub words: Vec<String>,
    /// This program: it is started in hosts of labs, and it is what `copied` sends.
    pub executable: PathBuf,
    /// Whether hosts that ssh reaches get a copy for this command alone (`--copy-sixmark`). It
    /// runs from a removed file, so that std's `current_exe` does not name it.
    pub copied: bool,
}

/// How agents are placed.
#[derive(Clone)]
pub struct PlacementTerms<'a> {
    /// What is started.
    pub program: AgentProgram,
    /// How hosts are reached.
    pub ssh: SshCommand,
    /// The server to which the connections of agents lead.
    pub server: SocketAddr,
    /// How a program is started in a host of the lab that this process has built; `None` if it has
    /// built none. Hosts of labs are then those of running labs, which the program enters.
    pub own_lab: Option<StartInLab<'a>>,
    /// How long a host may take to answer, after it has the copy, if there is one.
    pub patience: Duration,
    /// What is done with the lines of agents that have been placed.
    pub lines: LineSink,
}

impl AgentProgram {
    /// Returns `sixmark agent --stdio`, this program.
    pub fn this_one(copied: bool) -> AgentProgram {
        AgentProgram {
            words: ["sixmark", "agent", "--stdio"].map(str::to_owned).into(),
            executable: "/proc/self/exe".into(),
            copied,
        }
    }
}

impl fmt::Debug for PlacementTerms<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlacementTerms")
            .field("program", &self.program)
            .field("ssh", &self.ssh)
            .field("server", &self.server)
            .finish_non_exhaustive()
    }
}
