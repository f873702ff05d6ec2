//! `sixmark fleet` and `sixmark agent`, and the options of commands that load from a fleet.

pub(super) mod agent;
pub(super) mod args;
mod collect;
mod status;

use std::path::PathBuf;

use clap::Subcommand;
use sixmark_fleet::engine::controller::{abort_all, forget_kept};
use sixmark_fleet::engine::hosts_fleet::find_hosts_programs;
use sixmark_fleet::engine::nats::address::NatsAddress;
use sixmark_fleet::engine::nats::controller::NatsController;
use sixmark_fleet::engine::nats::credentials::Credentials;
use sixmark_fleet::engine::nats::init::write_fleet;
use sixmark_fleet::engine::nats::roster::{add_agents, revoke_agents};
use sixmark_fleet::engine::nats::server::NatsServer;
use sixmark_fleet::engine::standing;
use sixmark_fleet::names::{AgentName, LoadName};
use sixmark_sys::command_error::CommandError;
use sixmark_sys::program::find_program;
use sixmark_units::quantity::counted;

use super::keep::KeepArgs;
use super::out::{OutputPlace, complain, print};

/// Set up, look after and clean up a standing fleet.
///
/// A standing fleet is a NATS server and agents (`sixmark agent`) that wait for loads. For one
/// command on a few hosts, `sixmark run --hosts` needs none of this.
#[derive(Debug, clap::Args)]
pub(super) struct FleetCommandArgs {
    #[command(subcommand)]
    command: FleetCommand,
}

#[derive(Debug, Subcommand)]
enum FleetCommand {
    /// Write the configuration of a NATS server, its certificate, and the credentials of its users
    Init(InitArgs),
    /// Add agents to a fleet: each gets a key of its own
    Add(RosterArgs),
    /// Revoke the keys of agents
    Revoke(RosterArgs),
    /// List the agents, what they do, and the loads whose records are kept
    Status(StatusArgs),
    /// End every load that the agents are generating; what they counted is kept
    Abort(ServerArgs),
    /// Make the result of a load from its records, when its controller is gone
    Collect(CollectArgs),
    /// Remove the records of a load, at the server and at the agents that keep some
    Forget(ForgetArgs),
}

/// The server of a fleet.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct ServerArgs {
    /// NATS server of the fleet: nats://HOST[:PORT] or tls://HOST[:PORT]
    #[arg(long, value_name = "URL")]
    fleet: NatsAddress,

    /// Credentials of the controller
    #[arg(long, value_name = "FILE")]
    creds: PathBuf,
}

#[derive(Debug, clap::Args)]
struct InitArgs {
    /// Folder to write to, which must be new or empty
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,

    /// Name or address of the server, as agents and controllers will write it; repeatable
    #[arg(long = "server", value_name = "NAME", required = true)]
    names: Vec<String>,

    /// Agents: each gets a key of its own, in FOLDER/agents/NAME.creds
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    agents: Vec<AgentName>,

    /// Port of the server
    #[arg(long, value_name = "PORT", default_value = "4222")]
    port: u16,
}

/// Agents of a fleet.
#[derive(Debug, clap::Args)]
struct RosterArgs {
    /// Folder that `sixmark fleet init` wrote
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,

    /// Name of an agent
    #[arg(value_name = "NAME", required = true)]
    names: Vec<AgentName>,
}

#[derive(Debug, clap::Args)]
struct StatusArgs {
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Debug, clap::Args)]
struct ForgetArgs {
    /// Name of the load; `sixmark fleet status` lists them
    #[arg(value_name = "LOAD")]
    load: LoadName,

    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Debug, clap::Args)]
struct CollectArgs {
    /// Name of the load; `sixmark fleet status` lists them
    #[arg(value_name = "LOAD")]
    load: LoadName,

    #[command(flatten)]
    server: ServerArgs,

    /// Write the result document (sixmark.result/1)
    #[arg(long, value_name = "FILE|-")]
    json: Option<OutputPlace>,

    #[command(flatten)]
    keep: KeepArgs,

    /// Print only warnings and errors
    #[arg(short, long)]
    quiet: bool,
}

impl ServerArgs {
    fn connect(&self) -> Result<NatsController, CommandError> {
        let credentials = Credentials::read(&self.creds).map_err(CommandError::Usage)?;
        standing::connect(&self.fleet, &credentials)
    }
}

/// Runs the given subcommand.
pub(super) fn main(args: FleetCommandArgs) -> Result<u8, CommandError> {
    match args.command {
        FleetCommand::Init(args) => init(&args),
        FleetCommand::Add(args) => add(&args),
        FleetCommand::Revoke(args) => revoke(&args),
        FleetCommand::Status(args) => status::show_status(&args.server.connect()?),
        FleetCommand::Abort(args) => {
            abort_all(&args.connect()?)?;
            complain("told all agents to end their loads");
            Ok(0)
        }
        FleetCommand::Collect(args) => collect::collect_load(&args),
        FleetCommand::Forget(args) => forget(&args),
    }
}

fn forget(args: &ForgetArgs) -> Result<u8, CommandError> {
    let agents = forget_kept(&args.server.connect()?, &args.load)?;
    let agents = counted(agents.len() as u64, "agent", "agents");
    complain(&format!("removed the records of {} at the server and at {agents}", args.load));
    Ok(0)
}

/// Returns what a shell needs to start a nats-server that is new enough: its path where the shell would find another
/// one or none.
fn server_program() -> String {
    let found = find_hosts_programs().ok().and_then(|programs| programs.nats_server.ok());
    match found {
        Some(path) if find_program(NatsServer::PROGRAM).as_ref() != Some(&path) => {
            path.display().to_string()
        }
        _ => NatsServer::PROGRAM.to_owned(),
    }
}

fn init(args: &InitArgs) -> Result<u8, CommandError> {
    let InitArgs { folder, names, agents, port } = args;
    write_fleet(folder, names, *port, agents).map_err(CommandError::Usage)?;
    let folder = folder.display();
    let name = &names[0];
    let name = if name.contains(':') { format!("[{name}]") } else { name.clone() };
    let add = if agents.is_empty() {
        format!("add agents:          sixmark fleet add {folder} NAME...\n")
    } else {
        String::new()
    };
    let server = server_program();
    print(&format!(
        "start the server:    {server} -c {folder}/server.conf\n\
         {add}start each agent:    sixmark agent --nats tls://{name}:{port} --creds NAME.creds \
         --allow CIDR\n\
         generate a load:     sixmark run --fleet tls://{name}:{port} --creds controller.creds URL\n\
         Move {folder}/agents/NAME.creds to the machine of that agent alone; give \
         {folder}/controller.creds to nobody who may not load what agents allow.\n"
    ))
    .map(|()| 0)
}

fn add(args: &RosterArgs) -> Result<u8, CommandError> {
    let paths = add_agents(&args.folder, &args.names).map_err(CommandError::Usage)?;
    let paths: String = paths.iter().map(|path| format!("{}\n", path.display())).collect();
    print(&paths)?;
    complain(RELOAD);
    Ok(0)
}

fn revoke(args: &RosterArgs) -> Result<u8, CommandError> {
    revoke_agents(&args.folder, &args.names).map_err(CommandError::Usage)?;
    let names: String = args.names.iter().map(|name| format!("{name} is revoked\n")).collect();
    print(&names)?;
    complain(RELOAD);
    Ok(0)
}

/// What must be done after the users of a server have changed.
const RELOAD: &str =
    "the server must read its configuration again: nats-server --signal reload=PID, or SIGHUP";
