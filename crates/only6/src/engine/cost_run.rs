//! What each way to a server costs: comparisons by sixmark compare, in a network with both ways.

use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use sixmark_document::provenance::Ended;
use sixmark_lab::TEMPORARY;
use sixmark_sys::command_error::CommandError;
use sixmark_sys::program::plain_command;

use crate::app_start::ServerWay;
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

/// A way that could not be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UncomparedWay {
    /// The way.
    pub way: ServerWay,
    /// Why, in words that follow "was not compared".
    pub why: String,
}

/// The comparisons of all ways.
#[derive(Clone, Debug)]
pub struct CostRun {
    /// Those that have a document.
    pub costs: Vec<MeasuredCost>,
    /// The ways that could not be compared.
    pub uncompared: Vec<UncomparedWay>,
    /// Whether all were tried.
    pub ended: Ended,
}

/// Compares each way to the server with native IPv6. Ends early, with what was measured, if it is stopped. What
/// fails for one way is kept, and the next is tried.
pub fn measure_costs(options: &Only6Options<'_>) -> CostRun {
    let mut run = CostRun { costs: Vec::new(), uncompared: Vec::new(), ended: Ended::Complete };
    for ways in &COMPARED_WAYS {
        let why = match measure_cost(ways, options) {
            Ok(Some(document)) => {
                run.costs.push(MeasuredCost { ways, document });
                continue;
            }
            // Those that follow end at once.
            Ok(None) => {
                run.ended = Ended::Interrupted;
                "it was interrupted".to_owned()
            }
            Err(error) => error.to_string(),
        };
        run.uncompared.push(UncomparedWay { way: ways.way, why });
    }
    run
}

/// Returns the document of a comparison; `None` if it was stopped.
fn measure_cost(
    ways: &'static ComparedWays,
    options: &Only6Options<'_>,
) -> Result<Option<String>, CommandError> {
    let Some(network) = AppNetwork::build(&ways.scenario, None, options)? else { return Ok(None) };
    let Some(server) = network.start_server(options, &mut || Ok(()))? else { return Ok(None) };
    let has_listened = !server.sockets.is_empty();
    let compared = if has_listened { compare(&network, ways, options) } else { Ok(None) };
    let end = server.end()?;
    if has_listened {
        return compared;
    }
    let end = end.map(|of| of.words()).unwrap_or_default();
    Err(CommandError::Measure(format!("the server does not listen: it {end}")))
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
    // A file of its own: what another comparison left must not count as this one.
    let file = Path::new(TEMPORARY).join(format!("only6-{}", ways.file()));
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
    fs::read_to_string(&file)
        .map(Some)
        .map_err(|_| CommandError::Measure(format!("sixmark compare {}", end.words())))
}
