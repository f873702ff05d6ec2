//! What each way to a server costs: comparisons by sixmark compare, in a network with both ways.

use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use sixmark_lab::TEMPORARY;
use sixmark_sys::command_error::CommandError;
use sixmark_sys::program::plain_command;

use crate::scenario_lab::CLIENT;
use crate::way_cost::{COMPARED_WAYS, ComparedWays};

use super::app_network::AppNetwork;
use super::started_program::StartedProgram;
use super::{Only6Options, cannot, own_program};

/// The interval between two looks at a comparison.
const LOOK: Duration = Duration::from_millis(100);
/// How long a comparison may take: it ends by itself long before.
const LONGEST: Duration = Duration::from_secs(300);
/// How long it measures, at most.
const AT_MOST: &str = "20s";

/// A comparison of two ways.
#[derive(Clone, Debug)]
pub struct MeasuredCost {
    /// The ways.
    pub ways: &'static ComparedWays,
    /// The document, `sixmark.comparison/1`.
    pub document: String,
}

/// Compares each way to the server with native IPv6. Ends early, with what was measured, if it is stopped.
///
/// # Errors
/// Returns an error if the server does not listen, or if a comparison fails.
pub fn measure_costs(options: &Only6Options<'_>) -> Result<Vec<MeasuredCost>, CommandError> {
    let mut all = Vec::new();
    for ways in &COMPARED_WAYS {
        let Some(network) = AppNetwork::build(&ways.scenario, None, options)? else { break };
        let Some(server) = network.start_server(options, &mut || Ok(()))? else { break };
        if !server.sockets.is_empty()
            && let Some(document) = compare(&network, ways, options)?
        {
            all.push(MeasuredCost { ways, document });
        }
        server.end()?;
    }
    Ok(all)
}

/// Returns the document of a comparison; `None` if it was stopped.
fn compare(
    network: &AppNetwork,
    ways: &ComparedWays,
    options: &Only6Options<'_>,
) -> Result<Option<String>, CommandError> {
    let url = |address: IpAddr| {
        format!("http://{}{}", SocketAddr::new(address, options.port), options.path)
    };
    let file = Path::new(TEMPORARY).join("only6-comparison.json");
    let mut command = plain_command(&own_program()?);
    command.args([
        "compare",
        "--store",
        "none",
        "--until",
        "decided",
        "--at-most",
        AT_MOST,
        "--json",
    ]);
    command.arg(&file);
    command.args(ways.addresses().map(url));
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let host = network.host(CLIENT)?;
    let program = StartedProgram::start(host, &mut command)?;
    let until = Instant::now() + LONGEST;
    loop {
        let cannot_watch = |error| cannot("a comparison can't be watched", error);
        let has_ended = program.has_ended(LOOK).map_err(cannot_watch)?;
        if options.stop.load(Ordering::Relaxed) {
            program.end(host)?;
            return Ok(None);
        }
        if has_ended || Instant::now() > until {
            break;
        }
    }
    let end = program.end(host)?;
    let failed =
        |why: &str| CommandError::Measure(format!("the comparison of {} {why}", ways.way.words()));
    fs::read_to_string(&file).map(Some).map_err(|_| failed(&end.words()))
}
