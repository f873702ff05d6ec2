//! `sixmark agent`.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use sixmark_fleet::allow::AllowedTargets;
use sixmark_fleet::engine::agent::AgentSettings;
use sixmark_fleet::engine::nats::address::NatsAddress;
use sixmark_fleet::engine::nats::credentials::Credentials;
use sixmark_fleet::engine::{placed_agent, standing};
use sixmark_fleet::names::AgentName;
use sixmark_sys::command_error::CommandError;

use crate::cli::inside::InsideArgs;
use crate::cli::out::complain;
use crate::cli::stop_flag;
use crate::store::agent_folder;
use sixmark_options::times::positive_time;

/// Make this machine an agent of a fleet: it generates shares of loads for a controller.
///
/// An agent connects to the NATS server of its fleet and waits. `sixmark run --fleet` and the other
/// commands that load use it. It loads only the targets that --allow names. What it counts stays on
/// its disk until the controller has it.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub(in crate::cli) struct AgentArgs {
    /// NATS server of the fleet: nats://HOST[:PORT] or tls://HOST[:PORT]
    #[arg(long, value_name = "URL", required_unless_present = "stdio", requires = "creds")]
    nats: Option<NatsAddress>,

    /// Credentials of an agent (`sixmark fleet init` writes them)
    #[arg(long, value_name = "FILE", requires = "nats")]
    creds: Option<PathBuf>,

    /// Targets that may be loaded: an address or a prefix, perhaps with a port (2001:db8::/32,
    /// [2001:db8::/32]:443, 192.0.2.0/24:80); repeatable; without it, every plan is refused
    #[arg(long, value_name = "CIDR[:PORT]")]
    allow: Vec<AllowedTargets>,

    /// Longest load that this agent runs, with its warm-up
    #[arg(long, value_name = "TIME", default_value = "24h", value_parser = positive_time)]
    longest: Duration,

    /// Name within the fleet [default: that of the credentials, else the host's name]
    #[arg(long, value_name = "NAME")]
    name: Option<AgentName>,

    /// Number of cores to use [default: all]
    #[arg(long, value_name = "N")]
    cores: Option<NonZeroUsize>,

    /// Folder of what no controller has confirmed yet [default: agent/NAME beside the store]
    #[arg(long, value_name = "FOLDER")]
    spool: Option<PathBuf>,

    /// Speak with the controller over the standard streams, as --hosts starts it
    #[arg(long, conflicts_with_all = ["nats", "creds", "allow", "name", "spool", "cores", "longest"])]
    stdio: bool,

    #[command(flatten)]
    inside: InsideArgs,

    /// Print only warnings and errors
    #[arg(short, long)]
    quiet: bool,
}

/// Serves as an agent until a signal, or until the controller that placed it is gone.
pub(in crate::cli) fn main(args: &AgentArgs) -> Result<u8, CommandError> {
    args.inside.go()?;
    let stop = stop_flag()?;
    let (Some(server), Some(creds)) = (&args.nats, &args.creds) else {
        return placed_agent::serve(&stop).map(|()| 0);
    };
    let credentials = Credentials::read(creds).map_err(CommandError::Usage)?;
    let name = name_of(args.name.as_ref(), &credentials)?;
    let folder = match &args.spool {
        Some(folder) => folder.clone(),
        None => agent_folder(|name| std::env::var_os(name))?.join(name.as_str()),
    };
    let settings = AgentSettings {
        name,
        allowed: args.allow.clone(),
        longest: Some(args.longest),
        cores: args.cores.map(NonZeroUsize::get),
        clock_ahead_ns: 0,
    };
    if args.allow.is_empty() {
        complain("warning: without --allow, this agent refuses every plan");
    }
    let (quiet, name) = (args.quiet, settings.name.clone());
    let ready = || {
        if !quiet {
            complain(&format!("agent {name} is connected to {server}; Ctrl-C ends it"));
        }
    };
    standing::serve_agent(server, &credentials, settings, &folder, &stop, ready)?;
    Ok(0)
}

/// Returns the name of the agent: the server knows its credentials by it.
fn name_of(
    given: Option<&AgentName>,
    credentials: &Credentials,
) -> Result<AgentName, CommandError> {
    match (given, credentials.agent()) {
        (Some(given), Some(own)) if given != own => Err(CommandError::Usage(format!(
            "these credentials are those of agent {own}: omit --name, or make some for {given} with \
             `sixmark fleet add`"
        ))),
        (Some(name), _) | (None, Some(name)) => Ok(name.clone()),
        (None, None) => Ok(standing::host_as_name()),
    }
}
