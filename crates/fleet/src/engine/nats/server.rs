//! A server for one command: it is started, watched, started again if it dies, and leaves nothing.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle, sleep};
use std::time::{Duration, Instant};

use serde::Deserialize;
use sixmark_sys::process::Running;
use sixmark_sys::threads::no_thread;

use super::address::{NatsAddress, ServerHost};
use super::configuration::{FleetUsers, Settings, UsersPart, configure};
use super::credentials::Credentials;
use super::program::find_program;
use crate::engine::guard::GuardedFolder;
use crate::names::AgentName;

/// How long a server may take until it listens, and to end.
const PATIENCE: Duration = Duration::from_secs(20);
/// The interval between two looks at whether the server lives.
const LOOK: Duration = Duration::from_millis(50);
/// The interval between two attempts to start one that can't be started, and between two looks for
/// its port.
const PAUSE: Duration = Duration::from_millis(10);

/// A running server, with credentials that only it knows. It ends when this value is dropped or
/// this process ends, and its folder is removed, even after SIGKILL.
#[derive(Debug)]
pub struct NatsServer {
    address: NatsAddress,
    controller: Credentials,
    agents: BTreeMap<AgentName, Credentials>,
    state: Arc<State>,
    commands: Option<Sender<Sender<Result<(), String>>>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct State {
    pid: AtomicU32,
    restarts: AtomicU64,
}

/// What a start needs.
#[derive(Debug)]
struct Recipe {
    program: PathBuf,
    folder: GuardedFolder,
    listen: SocketAddr,
    users: FleetUsers,
}

/// The file in which a server writes where it listens.
#[derive(Debug, Deserialize)]
struct Ports {
    nats: Vec<String>,
}

impl NatsServer {
    /// The name of the program.
    pub const PROGRAM: &str = super::program::PROGRAM;
    /// The command that builds a version of the program that is new enough.
    pub const INSTALL: &str = super::program::INSTALL;

    /// Returns the program that [`start`](NatsServer::start) would start.
    ///
    /// # Errors
    /// One line: there is no such program, or it is too old.
    pub fn find(folder: Option<&Path>) -> Result<PathBuf, String> {
        find_program(folder, std::env::var("PATH").ok().as_deref())
    }

    /// Starts the program nats-server on `loopback`, a loopback address of either family, with a
    /// port that is free, for a controller and these agents. The program is looked for in `folder`
    /// first, then in PATH.
    ///
    /// # Errors
    /// One line: there is no such program, it is too old, or it does not start.
    pub fn start(
        folder: Option<&Path>,
        loopback: IpAddr,
        agents: &[AgentName],
    ) -> Result<NatsServer, String> {
        NatsServer::start_in(folder, loopback, agents, &std::env::temp_dir())
    }

    /// As [`start`](NatsServer::start), with its files below the folder `temporary`.
    ///
    /// # Errors
    /// One line: there is no such program, it is too old, or it does not start.
    pub fn start_in(
        folder: Option<&Path>,
        loopback: IpAddr,
        agents: &[AgentName],
        temporary: &Path,
    ) -> Result<NatsServer, String> {
        let program = NatsServer::find(folder)?;
        let folder = GuardedFolder::create_in(temporary, "sixmark-nats-");
        let folder = folder.map_err(|error| format!("no folder for a NATS server: {error}"))?;
        let (controller, key) = Credentials::generate(None);
        let mut users = FleetUsers { controller: key, agents: BTreeMap::new() };
        let generate = |name: &AgentName| {
            let (credentials, key) = Credentials::generate(None);
            users.agents.insert(name.clone(), key);
            (name.clone(), credentials.for_agent(name))
        };
        let agents = agents.iter().map(generate).collect();
        let recipe = Recipe { program, folder, listen: SocketAddr::new(loopback, 0), users };
        let state = Arc::new(State::default());
        let (commands, receiver) = channel();
        let (sender, started) = channel();
        let shared = Arc::clone(&state);
        // The kernel ends the server when the thread that started it ends: it is this one's only
        // work, so that it ends with the process or when the value is dropped.
        let thread = Builder::new()
            .name("nats-server".to_owned())
            .spawn(move || watch(recipe, &shared, &sender, &receiver))
            .map_err(|error| no_thread(&error).to_string())?;
        let port = started.recv().map_err(|_| "the NATS server's thread ended".to_owned())??;
        let address = NatsAddress { tls: false, host: ServerHost::Address(loopback), port };
        let (commands, thread) = (Some(commands), Some(thread));
        Ok(NatsServer { address, controller, agents, state, commands, thread })
    }

    /// Returns where it listens.
    pub fn address(&self) -> &NatsAddress {
        &self.address
    }

    /// Returns the credentials of the controller, who may do everything.
    pub fn controller_credentials(&self) -> &Credentials {
        &self.controller
    }

    /// Returns the credentials of an agent, which may answer and publish its own records. `None` if
    /// the server was not started for it.
    pub fn agent_credentials(&self, agent: &AgentName) -> Option<&Credentials> {
        self.agents.get(agent)
    }

    /// Returns the process id of the server.
    pub fn id(&self) -> u32 {
        self.state.pid.load(Ordering::Relaxed)
    }

    /// Returns how many times the server died and was started again.
    pub fn restarts(&self) -> u64 {
        self.state.restarts.load(Ordering::Relaxed)
    }

    /// Stops the server and starts it again, with the same port and what it has kept.
    ///
    /// # Errors
    /// One line: it does not start. Further attempts are made.
    pub fn restart(&self) -> Result<(), String> {
        let (sender, receiver) = channel();
        let gone = || "the NATS server's thread ended".to_owned();
        let commands = self.commands.as_ref().ok_or_else(gone)?;
        commands.send(sender).map_err(|_| gone())?;
        receiver.recv().map_err(|_| gone())?
    }
}

impl Drop for NatsServer {
    fn drop(&mut self) {
        drop(self.commands.take());
        if let Some(thread) = self.thread.take() {
            // It does nothing that could panic.
            let _ = thread.join();
        }
    }
}

/// Starts the server, and starts it again when it has ended, until the commands end.
fn watch(
    mut recipe: Recipe,
    state: &State,
    started: &Sender<Result<u16, String>>,
    commands: &Receiver<Sender<Result<(), String>>>,
) {
    let first = recipe.start(state);
    let answer = first.as_ref().map(|_| recipe.listen.port()).map_err(Clone::clone);
    let Ok(mut server) = first.map(Some) else {
        drop(recipe);
        let _ = started.send(answer);
        return;
    };
    let _ = started.send(answer);
    loop {
        match commands.recv_timeout(LOOK) {
            Ok(answer) => {
                drop(server.take());
                let result = recipe.start(state).map(|running| server = Some(running));
                // Who asked may have stopped waiting.
                let _ = answer.send(result);
            }
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                if server
                    .as_mut()
                    .is_some_and(|server| matches!(server.wait(Duration::ZERO), Ok(None)))
                {
                    continue;
                }
                drop(server.take());
                // If it does not start, for instance since its port is taken for a moment, the next
                // look is the next attempt.
                if let Ok(running) = recipe.start(state) {
                    server = Some(running);
                    state.restarts.fetch_add(1, Ordering::Relaxed);
                }
            }
        }
    }
    // The server ends before its folder is removed.
    drop(server);
}

impl Recipe {
    /// Starts the server, and waits until it listens. The first start chooses the port of all.
    fn start(&mut self, state: &State) -> Result<Running, String> {
        let folder = self.folder.path().to_owned();
        let said = folder.join("said");
        let failed = |error: std::io::Error| format!("can't start a NATS server: {error}");
        let configuration = folder.join("configuration");
        fs::write(&configuration, self.configuration()).map_err(failed)?;
        let output = File::create(&said).map_err(failed)?;
        let mut command = Command::new(&self.program);
        command.arg("--config").arg(&configuration).current_dir(&folder);
        command.stdout(output.try_clone().map_err(failed)?).stderr(output);
        self.folder.hold(&mut command).map_err(failed)?;
        let mut running = Running::start(&mut command).map_err(failed)?;
        // The command would hold the folder as well.
        drop(command);
        state.pid.store(running.id(), Ordering::Relaxed);
        let ports = folder.join(format!("nats-server_{}.ports", running.id()));
        self.listen.set_port(wait_for_port(&mut running, &ports).map_err(|why| {
            let said = fs::read_to_string(&said).unwrap_or_default();
            let last = said.lines().last().unwrap_or("it says nothing");
            format!("the NATS server {why}: {}", last.escape_debug())
        })?);
        Ok(running)
    }

    fn configuration(&self) -> String {
        configure(&Settings {
            listen: self.listen,
            store: &self.folder.path().join("store"),
            users: UsersPart::Within(&self.users),
            tls: None,
            ports: Some(self.folder.path()),
        })
    }
}

/// Waits until the server has written where it listens.
fn wait_for_port(running: &mut Running, file: &Path) -> Result<u16, String> {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(port) = fs::read(file).ok().as_deref().and_then(read_port) {
            return Ok(port);
        }
        if !matches!(running.wait(Duration::ZERO), Ok(None)) {
            return Err("ended at once".to_owned());
        }
        if Instant::now() >= end {
            return Err(format!("does not listen after {} s", PATIENCE.as_secs()));
        }
        sleep(PAUSE);
    }
}

fn read_port(file: &[u8]) -> Option<u16> {
    let ports: Ports = crate::messages::read_json(file).ok()?;
    ports.nats.first()?.rsplit(':').next()?.parse().ok()
}
