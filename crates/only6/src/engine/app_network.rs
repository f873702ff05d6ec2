//! The network of a scenario that is up, and the servers in it.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::thread::sleep;
use std::time::{Duration, Instant};

use sixmark_lab::plan::parse_lab;
use sixmark_lab::{Ground, Host, TEMPORARY, Up};
use sixmark_sys::command_error::CommandError;
use sixmark_sys::program::plain_command;
use sixmark_units::family::Family;

use crate::app_scenario::{AppScenario, NodeAccess, ScenarioTwist};
use crate::app_start::{ListeningSocket, ProgramEnd};
use crate::only6_result::BackendKind;
use crate::scenario_lab::{
    BACKEND, BACKEND_NAME, ROUTER, SERVER, ScenarioNetwork, host_address, link_addresses,
};

use super::listening::listening_sockets;
use super::started_program::StartedProgram;
use super::{Only6Options, cannot, own_program};

/// The interval between two looks at a server that starts.
const LOOK: Duration = Duration::from_millis(20);
/// How long a server that listens may take until it does so over both families.
const SETTLE: Duration = Duration::from_secs(1);
/// How long a connection from the router may take.
const CONNECT: Duration = Duration::from_secs(1);
/// The port of the backend.
const BACKEND_PORT: u16 = 80;

/// What is done while a server is waited for: packets are read, which the kernel keeps for a short time alone.
pub(super) type Meanwhile<'a> = dyn FnMut() -> Result<(), CommandError> + 'a;

/// The network of a scenario that is up.
#[derive(Debug)]
pub struct AppNetwork {
    pub(super) network: ScenarioNetwork,
    pub(super) backend: Option<BackendKind>,
    lab: Up,
}

/// A server that was started.
pub(super) struct StartedServer<'a> {
    host: &'a Host,
    program: StartedProgram,
    /// The sockets that listen on its port; empty if none does.
    pub(super) sockets: Vec<ListeningSocket>,
}

impl AppNetwork {
    /// Builds the network of a scenario, with the backend of a proxy. `None` if it was stopped.
    ///
    /// # Errors
    /// Returns an error if the lab can't be built.
    pub fn build(
        scenario: &'static AppScenario,
        backend: Option<BackendKind>,
        options: &Only6Options<'_>,
    ) -> Result<Option<AppNetwork>, CommandError> {
        let access = backend.map(|of| match of {
            BackendKind::Dual | BackendKind::Ipv6Literal => NodeAccess::DualStack,
            BackendKind::Ipv6 => NodeAccess::Ipv6Strict,
            BackendKind::Ipv4 => NodeAccess::Ipv4Only,
        });
        let network = ScenarioNetwork { scenario, backend: access };
        let mistake =
            |_| CommandError::Measure(format!("the lab of {} has a mistake", scenario.name));
        let plan = parse_lab(&network.lab_text(), None, &BTreeMap::new()).map_err(mistake)?;
        let folder = Path::new(TEMPORARY);
        let ground =
            Ground { rights: options.rights, logs: folder, www: folder, stop: options.stop };
        let lab = Up::build(plan, &ground)?;
        Ok(lab.map(|lab| AppNetwork { network, backend, lab }))
    }

    pub(super) fn host(&self, name: &str) -> Result<&Host, CommandError> {
        self.lab.hosts().get(name)
    }

    /// Starts the server: the user's, or sixmark's own. `None` if it was stopped.
    pub(super) fn start_server(
        &self,
        options: &Only6Options<'_>,
        meanwhile: &mut Meanwhile<'_>,
    ) -> Result<Option<StartedServer<'_>>, CommandError> {
        let access = self.network.scenario.server;
        let Some(command) = options.server else {
            return self.start_own(SERVER, access, options.port, options);
        };
        let (port, backend) = (options.port.to_string(), self.backend_url());
        let places = [("{port}", port.as_str()), ("{backend}", backend.as_str())];
        let host = self.host(SERVER)?;
        let program = StartedProgram::start(host, &mut command.fill(&places, None))?;
        self.await_server(host, program, options.port, options, meanwhile)
    }

    /// Starts the backend of a proxy.
    pub(super) fn start_backend(
        &self,
        options: &Only6Options<'_>,
    ) -> Result<Option<StartedServer<'_>>, CommandError> {
        let access = self.network.backend.unwrap_or(NodeAccess::DualStack);
        self.start_own(BACKEND, access, BACKEND_PORT, options)
    }

    fn backend_url(&self) -> String {
        match self.backend {
            Some(BackendKind::Ipv6Literal) => {
                format!("http://[{}]:{BACKEND_PORT}/", host_address(BACKEND, Family::Ipv6))
            }
            _ => format!("http://{BACKEND_NAME}:{BACKEND_PORT}/"),
        }
    }

    /// Starts sixmark's own server in a host, at each of its addresses.
    fn start_own(
        &self,
        name: &str,
        access: NodeAccess,
        port: u16,
        options: &Only6Options<'_>,
    ) -> Result<Option<StartedServer<'_>>, CommandError> {
        let host = self.host(name)?;
        let mut command = plain_command(&own_program()?);
        command.arg("origin");
        for address in link_addresses(name, access) {
            command.args(["--listen", &SocketAddr::new(address, port).to_string()]);
        }
        command.stdout(std::process::Stdio::null());
        let program = StartedProgram::start(host, &mut command)?;
        let server = self.await_server(host, program, port, options, &mut || Ok(()))?;
        match server {
            Some(server) if server.sockets.is_empty() => {
                let why = server.end()?.map(|end| end.words()).unwrap_or_default();
                let line = format!("the server of the lab does not listen: it {why}");
                Err(CommandError::Measure(line))
            }
            server => Ok(server),
        }
    }

    /// Waits until a server listens, or has ended, or its time is over. `None` if it was stopped.
    fn await_server<'a>(
        &'a self,
        host: &'a Host,
        program: StartedProgram,
        port: u16,
        options: &Only6Options<'_>,
        meanwhile: &mut Meanwhile<'_>,
    ) -> Result<Option<StartedServer<'a>>, CommandError> {
        let until = Instant::now() + options.patience;
        loop {
            if options.stop.load(Ordering::Relaxed) {
                return Ok(None);
            }
            let has_ended = program
                .has_ended(LOOK)
                .map_err(|error| cannot("the server can't be watched", error))?;
            meanwhile()?;
            let mut sockets = listening_sockets(host, port)?;
            if !sockets.is_empty() {
                self.settle(host, port, &sockets, meanwhile)?;
                sockets = listening_sockets(host, port)?;
            }
            if !sockets.is_empty() || has_ended || Instant::now() > until {
                return Ok(Some(StartedServer { host, program, sockets }));
            }
        }
    }

    /// Waits until a server that listens is reached at all addresses of its host, for a short time. Those for which
    /// it has a socket of their family are not tried: some servers take one connection alone.
    fn settle(
        &self,
        host: &Host,
        port: u16,
        sockets: &[ListeningSocket],
        meanwhile: &mut Meanwhile<'_>,
    ) -> Result<(), CommandError> {
        let (name, scenario) = (host.name(), self.network.scenario);
        let access = match name {
            SERVER => scenario.server,
            _ => self.network.backend.unwrap_or(NodeAccess::DualStack),
        };
        let is_dead = |address: &IpAddr| {
            scenario.twist == ScenarioTwist::SilentIpv6 && name == SERVER && address.is_ipv6()
        };
        let has_socket = |address: &IpAddr| {
            let is_own = |of: &ListeningSocket| of.family == Family::of(*address);
            sockets.iter().any(|of| is_own(of) && !of.address.is_loopback())
        };
        let all = link_addresses(name, access).into_iter();
        let addresses: Vec<IpAddr> = all.filter(|of| !is_dead(of) && !has_socket(of)).collect();
        let connects = |address: &IpAddr| {
            TcpStream::connect_timeout(&SocketAddr::new(*address, port), CONNECT).is_ok()
        };
        let router = self.host(ROUTER)?;
        let until = Instant::now() + SETTLE;
        while !router.within(|| Ok(addresses.iter().all(connects)))? && Instant::now() < until {
            sleep(LOOK);
            meanwhile()?;
        }
        Ok(())
    }
}

impl StartedServer<'_> {
    /// Ends the server. Returns how it ended; `None` if it ran until then.
    ///
    /// # Errors
    /// Returns an error if it can't be ended.
    pub(super) fn end(self) -> Result<Option<ProgramEnd>, CommandError> {
        let has_ended = self
            .program
            .has_ended(Duration::ZERO)
            .map_err(|error| cannot("the server can't be watched", error))?;
        let end = self.program.end(self.host)?;
        Ok((has_ended || self.sockets.is_empty()).then_some(end))
    }
}
