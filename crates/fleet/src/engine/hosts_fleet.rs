//! `--hosts`: a fleet for one command. A NATS server runs beside this process, and an agent on each
//! host ends with it.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sixmark_sys::command_error::CommandError;

use super::controller::{FleetController, FleetWatch, ReportSink, Wanted};
use super::nats::address::{NatsAddress, ServerHost};
use super::nats::controller::NatsController;
use super::nats::credentials::Credentials;
use super::nats::server::NatsServer;
use super::placed_agent::PlacedOrder;
use super::placement::ssh::SshCommand;
use super::placement::{
    AgentProgram, LineSink, Placed, PlacementTerms, StartInLab, end_all, place_all,
};
use super::standing::controller_name;
use crate::hosts::HostList;
use crate::names::AgentName;

/// How long a host may take to answer.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long agents may take to end.
const END: Duration = Duration::from_secs(5);

/// A lab that this process has built, in whose hosts agents are placed.
#[derive(Clone, Copy)]
pub struct OwnLab<'a> {
    /// How a program is started in a host.
    pub start: StartInLab<'a>,
    /// The folder of temporary files that are gone when the lab is.
    pub temporary: &'a Path,
}

impl fmt::Debug for OwnLab<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnLab").field("temporary", &self.temporary).finish_non_exhaustive()
    }
}

/// How a fleet is placed on hosts.
pub struct HostsOrder<'a> {
    /// Whether hosts that ssh reaches get a copy of this program.
    pub copied: bool,
    /// The lab that this process has built. Without it, hosts of labs are those of running labs.
    pub own_lab: Option<OwnLab<'a>>,
    /// What is done with lines that agents write to standard error.
    pub lines: LineSink,
    /// What is done with reports on the course of a load.
    pub reports: ReportSink,
}

impl fmt::Debug for HostsOrder<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostsOrder")
            .field("copied", &self.copied)
            .field("own_lab", &self.own_lab)
            .finish_non_exhaustive()
    }
}

/// Starts a server and places an agent on each host. All of it ends with the value that is
/// returned, or with the calling thread: it must be the main one.
///
/// # Errors
/// The server can't be started, or an agent can't be placed. Nothing is left then.
pub fn take_hosts(
    hosts: &HostList,
    order: &HostsOrder<'_>,
    stop: &AtomicBool,
) -> Result<FleetController, CommandError> {
    let ssh = SshCommand::from_environment()?;
    let (beside, loopback) = (beside(), loopback());
    let names: Vec<AgentName> = hosts.hosts().iter().map(|(_, name)| name.clone()).collect();
    let server = match order.own_lab {
        // Whatever ends the lab also ends what guards a folder elsewhere.
        Some(lab) => NatsServer::start_in(beside.as_deref(), loopback, &names, lab.temporary),
        None => NatsServer::start(beside.as_deref(), loopback, &names),
    };
    let server = server.map_err(CommandError::Measure)?;
    let terms = PlacementTerms {
        program: AgentProgram::this_one(order.copied),
        ssh,
        server: socket_of(server.address())?,
        own_lab: order.own_lab.map(|lab| lab.start),
        patience: PATIENCE,
        lines: Arc::clone(&order.lines),
    };
    let hello = |name: &AgentName| {
        // The server was started for all of them.
        let credentials = server.agent_credentials(name).map(Credentials::to_text);
        PlacedOrder::new(name.clone(), credentials.unwrap_or_default()).to_bytes()
    };
    let placed = place_all(hosts, hello, &terms, stop)?;
    let reports = Arc::clone(&order.reports);
    let agents = PlacedAgents { reports, placed: Mutex::new(placed), server };
    let server = &agents.server;
    let side = NatsController::connect(server.address(), server.controller_credentials());
    let side = side.map_err(|error| CommandError::Measure(error.to_string()))?;
    FleetController::take(
        Arc::new(side),
        &controller_name(),
        Wanted::Named(names),
        Box::new(agents),
    )
}

/// Returns a loopback address of this host, which may have IPv6 alone.
fn loopback() -> IpAddr {
    let ipv4 = IpAddr::V4(Ipv4Addr::LOCALHOST);
    match TcpListener::bind((ipv4, 0)) {
        Ok(_) => ipv4,
        Err(_) => IpAddr::V6(Ipv6Addr::LOCALHOST),
    }
}

/// The programs that placing agents on hosts (`--hosts`) needs on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostsPrograms {
    /// nats-server, or in one line why there is none that can be used.
    pub nats_server: Result<PathBuf, String>,
    /// The name of the program that reaches hosts, `ssh` unless [`SSH_VARIABLE`] names another.
    ///
    /// [`SSH_VARIABLE`]: super::placement::ssh::SSH_VARIABLE
    pub ssh: String,
    /// Its path; `None` if it is missing.
    pub found_ssh: Option<PathBuf>,
}

/// The Debian package of `ssh`.
pub const SSH_PACKAGE: &str = super::placement::ssh::PACKAGE;

/// Returns what `--hosts` would find on this machine.
///
/// # Errors
/// The environment variable that names the program that reaches hosts can't be read as a command.
pub fn find_hosts_programs() -> Result<HostsPrograms, CommandError> {
    let ssh = SshCommand::from_environment()?.program().to_owned();
    let found_ssh = sixmark_sys::program::find_program(&ssh);
    Ok(HostsPrograms { nats_server: NatsServer::find(beside().as_deref()), ssh, found_ssh })
}

/// Returns the folder of this program, where a nats-server may be beside it.
fn beside() -> Option<PathBuf> {
    std::env::current_exe().ok()?.parent().map(Path::to_owned)
}

/// Returns the socket address of a server on loopback.
fn socket_of(address: &NatsAddress) -> Result<SocketAddr, CommandError> {
    match &address.host {
        ServerHost::Address(host) => Ok(SocketAddr::new(*host, address.port)),
        ServerHost::Name(name) => {
            Err(CommandError::Measure(format!("the server's address is a name: {name}")))
        }
    }
}

/// The agents, and the server between them and the controller. They end when this is dropped.
struct PlacedAgents {
    reports: ReportSink,
    placed: Mutex<Vec<Placed>>,
    server: NatsServer,
}

impl fmt::Debug for PlacedAgents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlacedAgents").field("placed", &self.placed).finish_non_exhaustive()
    }
}

impl FleetWatch for PlacedAgents {
    fn lost(&self, agent: &AgentName) -> Option<String> {
        let mut placed = self.placed.lock().unwrap_or_else(PoisonError::into_inner);
        placed.iter_mut().find(|one| one.name() == agent)?.loss()
    }

    fn agents_stay(&self) -> bool {
        false
    }

    fn report(&self, line: &str) {
        (self.reports)(line);
    }

    fn server_restarts(&self) -> u32 {
        u32::try_from(self.server.restarts()).unwrap_or(u32::MAX)
    }
}

impl Drop for PlacedAgents {
    fn drop(&mut self) {
        let placed = std::mem::take(self.placed.get_mut().unwrap_or_else(PoisonError::into_inner));
        end_all(placed, END);
    }
}
