//! The program nats-server that `scripts/install-nats-server` builds.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::PathBuf;

use sixmark_fleet::engine::nats::agent::NatsAgent;
use sixmark_fleet::engine::nats::server::NatsServer;

use crate::transport::agent_name;

/// The name that skips tests of NATS in `SIXMARK_SKIP`.
pub const SKIP: &str = "nats-server";

/// The loopback addresses of both families.
pub const LOOPBACKS: [IpAddr; 2] =
    [IpAddr::V6(Ipv6Addr::LOCALHOST), IpAddr::V4(Ipv4Addr::LOCALHOST)];

/// Returns the folder of the program.
pub fn nats_server_folder() -> PathBuf {
    // The test binary is in cargo's target folder, below `debug/deps`.
    let test = std::env::current_exe().unwrap();
    let mut folders = test.ancestors().map(|folder| folder.join("peers/bin"));
    folders.find(|folder| folder.join("nats-server").is_file()).unwrap_or_else(|| {
        panic!(
            "cargo's target folder has no peers/bin/nats-server: run scripts/install-nats-server, or \
             leave these tests out with SIXMARK_SKIP={SKIP}"
        )
    })
}

/// The agents that a server of [`start_nats`] knows.
const AGENTS: [&str; 10] = ["a", "b", "c", "late", "mute", "long", "a0", "a1", "a2", "a3"];

/// Starts a server on a loopback address.
pub fn start_nats(loopback: IpAddr) -> NatsServer {
    let agents = AGENTS.map(agent_name);
    NatsServer::start(Some(&nats_server_folder()), loopback, &agents).unwrap()
}

/// Connects as an agent of a server of [`start_nats`].
pub fn connect_agent(server: &NatsServer, name: &str) -> NatsAgent {
    let name = agent_name(name);
    let credentials = server.agent_credentials(&name).expect("the server knows this agent");
    NatsAgent::connect(server.address(), credentials, &name).unwrap()
}
