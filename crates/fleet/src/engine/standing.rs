//! A standing fleet: agents that wait at a NATS server for any controller with its credentials.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::SystemTime;

use sixmark_sys::command_error::CommandError;
use sixmark_sys::output;

use super::agent::{Agent, AgentSettings};
use super::controller::{FleetController, FleetWatch, ReportSink, Wanted};
use super::nats::address::NatsAddress;
use super::nats::agent::NatsAgent;
use super::nats::controller::NatsController;
use super::nats::credentials::Credentials;
use crate::names::AgentName;

/// Takes a standing fleet. Reports on the course of loads go to `reports`.
///
/// # Errors
/// The server can't be reached, agents are missing or busy, or another controller has the fleet.
pub fn take_standing(
    server: &NatsAddress,
    credentials: &Credentials,
    wanted: Wanted,
    reports: ReportSink,
) -> Result<FleetController, CommandError> {
    let side = connect(server, credentials)?;
    let watch = StandingWatch { reports };
    FleetController::take(Arc::new(side), &controller_name(), wanted, Box::new(watch))
}

/// What is known of a standing fleet: nothing but its messages.
struct StandingWatch {
    reports: ReportSink,
}

impl fmt::Debug for StandingWatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StandingWatch").finish_non_exhaustive()
    }
}

impl FleetWatch for StandingWatch {
    fn lost(&self, _: &AgentName) -> Option<String> {
        None
    }

    fn server_restarts(&self) -> u32 {
        0
    }

    fn agents_stay(&self) -> bool {
        true
    }

    fn report(&self, line: &str) {
        (self.reports)(line);
    }
}

/// Connects as a controller.
///
/// # Errors
/// The server can't be reached, refuses the credentials, is too old, or has no JetStream.
pub fn connect(
    server: &NatsAddress,
    credentials: &Credentials,
) -> Result<NatsController, CommandError> {
    let side = NatsController::connect(server, credentials);
    side.map_err(|error| CommandError::Measure(error.to_string()))
}

/// Serves as an agent of a standing fleet until `stop` is set. `ready` is called when it is
/// connected.
///
/// # Errors
/// The server can't be reached, or the folder can't be used.
pub fn serve_agent(
    server: &NatsAddress,
    credentials: &Credentials,
    settings: AgentSettings,
    folder: &Path,
    stop: &Arc<AtomicBool>,
    ready: impl FnOnce(),
) -> Result<(), CommandError> {
    let side = NatsAgent::connect(server, credentials, &settings.name);
    let side = side.map_err(|error| CommandError::Measure(error.to_string()))?;
    let agent = Agent::start(settings, folder, Arc::new(side), Arc::clone(stop))?;
    ready();
    agent.serve();
    Ok(())
}

/// Returns a name for this controller that no other one has: its time and some random letters.
pub(super) fn controller_name() -> String {
    let time = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let digits: String = time.chars().filter(char::is_ascii_alphanumeric).collect();
    let random: String = output::unguessable().chars().take(6).collect();
    format!("{digits}-{random}")
}

/// Returns the host's own name, as the name of an agent.
pub fn host_as_name() -> AgentName {
    AgentName::made_from(&super::agent::host_name())
}
