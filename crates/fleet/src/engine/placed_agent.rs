//! An agent that a controller placed: it speaks through its standard streams, and ends with them.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::{Deserialize, Serialize};
use sixmark_sys::command_error::CommandError;

use super::agent::{Agent, AgentSettings};
use super::guard::GuardedFolder;
use super::nats::address::{NatsAddress, ServerHost};
use super::nats::agent::NatsAgent;
use super::nats::credentials::Credentials;
use super::placement::tunnel::GreetedTunnel;
use crate::allow::AllowedTargets;
use crate::names::AgentName;

/// What a placed agent needs to start. It comes through its standard input, so that credentials are
/// on no command line.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PlacedOrder {
    name: AgentName,
    /// The text of a file of credentials.
    credentials: String,
    /// The version of the controller's sixmark.
    version: String,
}

impl PlacedOrder {
    /// Creates the order for an agent of this name.
    pub fn new(name: AgentName, credentials: String) -> PlacedOrder {
        PlacedOrder { name, credentials, version: env!("CARGO_PKG_VERSION").to_owned() }
    }

    /// Returns it as a message.
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }
}

/// Serves as an agent until the controller is gone, or `stop` is set. What it counted is removed
/// then: the controller has it, or nobody wants it any more.
///
/// # Errors
/// The controller is of another version, or can't be reached.
pub fn serve(stop: &Arc<AtomicBool>) -> Result<(), CommandError> {
    let cannot = |error: &dyn std::fmt::Display| CommandError::Measure(error.to_string());
    let greeted = GreetedTunnel::greet(std::io::stdin(), std::io::stdout());
    let (greeted, hello) = greeted.map_err(|error| cannot(&error))?;
    let order: PlacedOrder = crate::messages::read_json(&hello)
        .map_err(|error| CommandError::Measure(format!("can't read the order: {error}")))?;
    let own = env!("CARGO_PKG_VERSION");
    if order.version != own {
        let line = format!(
            "the controller is sixmark {}, but this is {own}; use the same",
            order.version.escape_debug()
        );
        return Err(CommandError::Measure(line));
    }
    let credentials = Credentials::parse(&order.credentials).map_err(CommandError::Usage)?;
    let to_stop = Arc::clone(stop);
    let tunnel = greeted.open(own.as_bytes(), move |_| to_stop.store(true, Ordering::Relaxed));
    let tunnel = tunnel.map_err(|error| cannot(&error))?;
    let side = NatsAgent::connect(&address_of(tunnel.address()), &credentials, &order.name);
    let side = side.map_err(|error| cannot(&error))?;
    let folder = GuardedFolder::create("sixmark-agent-").map_err(|error| cannot(&error))?;
    let settings = AgentSettings {
        name: order.name,
        // The user who placed it could load any target from here without it.
        allowed: AllowedTargets::EVERYTHING.into(),
        longest: None,
        cores: None,
        clock_ahead_ns: 0,
    };
    let agent = Agent::start(settings, folder.path(), Arc::new(side), Arc::clone(stop))?;
    agent.serve();
    Ok(())
}

fn address_of(address: SocketAddr) -> NatsAddress {
    NatsAddress { tls: false, host: ServerHost::Address(address.ip()), port: address.port() }
}
