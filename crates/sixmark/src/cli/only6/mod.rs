//! `sixmark only6`.

mod output;

use std::num::{NonZeroU16, NonZeroU32};
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

use clap::builder::PossibleValuesParser;
use sixmark_document::environment::environment;
use sixmark_document::provenance::{Ended, Tool, Warning};
use sixmark_lab as lab;
use sixmark_only6::app_scenario::{AppScenario, SCENARIOS, ScenarioSide};
use sixmark_only6::app_start::AppStart;
use sixmark_only6::engine::{
    AppCommand, AppNetwork, CostRun, FolderWriter, Only6Options, describe_files, measure_costs,
    watch_start,
};
use sixmark_only6::filed_folder::capture_path;
use sixmark_only6::judge_program::{JudgedSide, ScenarioStarts, judge_program};
use sixmark_only6::only6_result::{
    BackendKind, Only6Result, SCHEMA, TestedPrograms, name_scenario,
};
use sixmark_only6::only6_warnings::{only6_warnings, warn_of_early_end, warn_of_uncompared};
use sixmark_sys::command_error::{CommandError, INTERRUPTED};
use sixmark_units::random::Random;

use super::out::{INCOMPLETE, warn};
use super::stop_flag;
use output::{Only6OutputArgs, describe_costs, write_outputs};

/// How long a client may run unless --patience says otherwise, in seconds: glibc's resolver waits for 15 s.
const USUAL_PATIENCE_S: u64 = 20;
/// The place of the backend's URL in the command of a proxy.
const BACKEND_PLACE: &str = "{backend}";

/// Report whether a program works with IPv6 alone, IPv4 alone, both, and translation, and why not.
///
/// Starts the client or the server in labs of its own: the scenarios of draft-ietf-v6ops-ipv6-app-testing and
/// some more. Reads from its packets, its sockets and its answers what is wrong. In the client's command {url}
/// stands for the URL that it opens (the last argument if there is no place), {authority}, {host} and {port} for
/// parts of it; in the server's {port} for the port, {backend} for the URL of a proxy's backend. Needs network namespaces,
/// nftables, tayga and unbound.
#[derive(Debug, clap::Args)]
pub(super) struct Only6Args {
    /// Command of the client, in one argument, quoted as for a shell
    #[arg(
        long,
        value_name = "COMMAND",
        required_unless_present = "server",
        help_heading = "Program"
    )]
    client: Option<String>,

    /// Command of the server, in one argument, quoted as for a shell; with --client that client's server
    #[arg(long, value_name = "COMMAND", requires = "port", help_heading = "Program")]
    server: Option<String>,

    /// The server's port, of TCP; not 53
    #[arg(long, value_name = "PORT", requires = "server", help_heading = "Program")]
    port: Option<NonZeroU16>,

    /// The path to ask for [default: / of a given server]
    #[arg(long, value_name = "PATH", requires = "server", help_heading = "Program")]
    path: Option<String>,

    /// Name and version of the program, for the report
    #[arg(long, value_name = "TEXT", help_heading = "Program")]
    product: Option<String>,

    /// Only these scenarios [default: all]
    #[arg(
        long,
        value_name = "SCENARIO,...",
        value_delimiter = ',',
        value_parser = PossibleValuesParser::new(SCENARIOS.iter().map(|of| of.name)),
        help_heading = "Measurement"
    )]
    scenarios: Vec<String>,

    /// Only the base scenarios, the data centre of IPv6 alone, and the literal
    #[arg(long, conflicts_with = "scenarios", help_heading = "Measurement")]
    quick: bool,

    /// Start the program N times in each scenario [default: 1]
    #[arg(long, value_name = "N", help_heading = "Measurement")]
    repeat: Option<NonZeroU32>,

    /// How long a client may run, and a server may take to listen and to answer first, in seconds [default: 20]
    #[arg(long, value_name = "S", help_heading = "Measurement")]
    patience: Option<NonZeroU32>,

    /// Measure what each way to the server costs, by sixmark compare
    #[arg(long, requires = "server", conflicts_with = "client", help_heading = "Measurement")]
    cost: bool,

    #[command(flatten)]
    output: Only6OutputArgs,
}

/// The programs of a test, with what they are called.
struct GivenPrograms {
    client: Option<AppCommand>,
    server: Option<AppCommand>,
    tested: TestedPrograms,
}

impl GivenPrograms {
    fn judged_side(&self) -> JudgedSide {
        if self.client.is_some() { JudgedSide::Client } else { JudgedSide::Server }
    }
}

/// The port of the name server in the labs.
const DNS: u16 = 53;

/// A scenario to run, with the backend of a proxy.
type AskedScenario = (&'static AppScenario, Option<BackendKind>);

impl Only6Args {
    fn patience(&self) -> Duration {
        Duration::from_secs(self.patience.map_or(USUAL_PATIENCE_S, |of| of.get().into()))
    }

    fn repeat(&self) -> u32 {
        self.repeat.map_or(1, NonZeroU32::get)
    }

    fn programs(&self) -> Result<GivenPrograms, CommandError> {
        let find = |option: &str, text: &Option<String>| -> Result<_, CommandError> {
            let Some(text) = text else { return Ok(None) };
            let words = shlex::split(text).filter(|of| !of.is_empty()).ok_or_else(|| {
                CommandError::Usage(format!(
                    "{option} '{text}': a command with closed quotes is needed"
                ))
            })?;
            AppCommand::find(words)
                .map(Some)
                .map_err(|error| error.map(|line| format!("{option}: {line}")))
        };
        let client = find("--client", &self.client)?;
        let server = find("--server", &self.server)?;
        let default = if server.is_some() { "/" } else { "/bytes/1000" };
        let path = self.path.as_deref().unwrap_or(default);
        let is_plain = path.starts_with('/') && path.bytes().all(|of| of.is_ascii_graphic());
        if !is_plain {
            return Err(CommandError::Usage(format!(
                "--path '{path}': begins with / and has no blanks"
            )));
        }
        if self.port.is_some_and(|of| of.get() == DNS) {
            let line = "--port 53: packets of this port count as DNS; give the server another one";
            return Err(CommandError::Usage(line.to_owned()));
        }
        let files = [&client, &server].into_iter().flatten().flat_map(describe_files).collect();
        let tested = TestedPrograms {
            client: self.client.clone(),
            server: self.server.clone(),
            port: self.port.map_or(80, NonZeroU16::get),
            path: path.to_owned(),
            product: self.product.clone(),
            files,
        };
        Ok(GivenPrograms { client, server, tested })
    }

    /// Returns the scenarios that are asked for, those of a proxy with its backend.
    fn scenarios(&self, programs: &GivenPrograms) -> Result<Vec<AskedScenario>, CommandError> {
        let is_server = programs.client.is_none();
        let applies = |of: &AppScenario| !is_server || of.side == ScenarioSide::Either;
        let asked = self.scenarios.iter().filter_map(|name| AppScenario::named(name));
        if let Some(of) = asked.clone().find(|of| !applies(of)) {
            let line =
                format!("--scenarios {} is for clients: it shows nothing of a server", of.name);
            return Err(CommandError::Usage(line));
        }
        let is_asked = |of: &AppScenario| match self.scenarios.is_empty() {
            true => applies(of) && (!self.quick || of.is_quick()),
            false => asked.clone().any(|other| other == of),
        };
        let proxy = programs.server.as_ref().filter(|of| is_server && of.has_place(BACKEND_PLACE));
        let backend = proxy.map(|_| BackendKind::Dual);
        let mut all: Vec<AskedScenario> =
            SCENARIOS.iter().filter(|of| is_asked(of)).map(|of| (of, backend)).collect();
        if let (Some(_), Some(dual)) = (proxy, AppScenario::named("dual-to-dual")) {
            let kinds = [BackendKind::Ipv6, BackendKind::Ipv4, BackendKind::Ipv6Literal];
            if self.scenarios.is_empty() || all.iter().any(|of| of.0 == dual) {
                all.extend(kinds.map(|kind| (dual, Some(kind))));
            }
        }
        Ok(all)
    }
}

/// Runs the program in each scenario, and prints what is wrong with it.
pub(super) fn main(args: &Only6Args) -> Result<u8, CommandError> {
    args.output.check()?;
    let programs = args.programs()?;
    let asked = args.scenarios(&programs)?;
    let rights = match lab::enclose()? {
        Ok(rights) => rights,
        Err(status) => return Ok(status),
    };
    let stop = stop_flag()?;
    let started = humantime::format_rfc3339_millis(SystemTime::now()).to_string();
    let begin = Instant::now();
    let options = Only6Options {
        client: programs.client.as_ref(),
        server: programs.server.as_ref(),
        port: programs.tested.port,
        path: &programs.tested.path,
        patience: args.patience(),
        rights,
        stop: &stop,
    };
    let mut filed = args.output.folder_writer();
    let asked_starts = asked.len() * args.repeat() as usize;
    let mut seen = watch_all(args.repeat(), &asked, &options, filed.as_mut());
    if seen.count() == 0
        && let Some(failure) = seen.failure
    {
        return Err(failure);
    }
    let early_end = seen.warn_of_early_end(asked_starts);
    let failed = seen.failure.take();
    let mut costs = match args.cost && seen.ended == Ended::Complete {
        true => measure_costs(&options),
        false => CostRun { costs: Vec::new(), uncompared: Vec::new(), ended: seen.ended },
    };
    let ended = costs.ended;
    let described = describe_costs(&mut costs);
    let (scenarios, findings) = judge_program(programs.judged_side(), seen.into_starts());
    let uncompared = costs.uncompared.iter().map(|of| warn_of_uncompared(of.way, &of.why));
    let warnings: Vec<_> =
        only6_warnings(&scenarios).into_iter().chain(early_end).chain(uncompared).collect();
    let result = Only6Result {
        schema: SCHEMA.to_owned(),
        tool: Tool::of_this_program(),
        started,
        elapsed_s: begin.elapsed().as_secs_f64(),
        ended,
        environment: environment(Vec::new()),
        programs: programs.tested,
        scenarios,
        findings,
        costs: described,
        warnings: warnings.clone(),
    };
    let status = write_outputs(&args.output, result, filed, &costs.costs)?;
    warn(&warnings);
    // What was seen until a failure is written.
    match failed {
        Some(failure) => Err(failure),
        None if ended == Ended::Interrupted => Ok(INTERRUPTED),
        None if status == 0 && !costs.uncompared.is_empty() => Ok(INCOMPLETE),
        None => Ok(status),
    }
}

/// What was seen of a program, in each scenario that was asked for.
struct WatchedScenarios {
    all: Vec<(AskedScenario, Vec<AppStart>)>,
    /// Why no more of it was seen.
    ended: Ended,
    /// What failed, if it ended for that.
    failure: Option<CommandError>,
}

impl WatchedScenarios {
    fn warn_of_early_end(&self, asked: usize) -> Option<Warning> {
        let failure = self.failure.as_ref().map(CommandError::to_string);
        warn_of_early_end(self.ended, failure, self.count(), asked)
    }

    fn count(&self) -> usize {
        self.all.iter().map(|of| of.1.len()).sum()
    }

    /// Returns what was seen, of the scenarios of which anything was.
    fn into_starts(self) -> Vec<ScenarioStarts> {
        let seen = self.all.into_iter().filter(|of| !of.1.is_empty());
        seen.map(|((scenario, backend), starts)| ScenarioStarts { scenario, backend, starts })
            .collect()
    }
}

/// Runs the program in each scenario as often as is asked for, in random order. What was seen until something
/// fails is kept. The packets of each start are written as soon as it ends, if they are to be filed.
fn watch_all(
    repeat: u32,
    asked: &[AskedScenario],
    options: &Only6Options<'_>,
    filed: Option<&mut FolderWriter>,
) -> WatchedScenarios {
    let mut all: Vec<(AskedScenario, Vec<AppStart>)> =
        asked.iter().map(|of| (*of, Vec::new())).collect();
    let (ended, failure) = match watch_starts(repeat, &mut all, options, filed) {
        Ok(ended) => (ended, None),
        Err(failure) => (Ended::Hopeless, Some(failure)),
    };
    WatchedScenarios { all, ended, failure }
}

fn watch_starts(
    repeat: u32,
    all: &mut [(AskedScenario, Vec<AppStart>)],
    options: &Only6Options<'_>,
    mut filed: Option<&mut FolderWriter>,
) -> Result<Ended, CommandError> {
    let seed = SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_nanos() as u64);
    let mut random = Random::new(seed, 0);
    let mut order: Vec<usize> = (0..all.len()).collect();
    for _ in 0..repeat {
        for last in (1..order.len()).rev() {
            order.swap(last, random.below(last as u64 + 1) as usize);
        }
        for at in &order {
            let ((scenario, backend), starts) = &mut all[*at];
            let network = AppNetwork::build(scenario, *backend, options)?;
            let Some(network) = network else { return Ok(Ended::Interrupted) };
            let start = watch_start(&network, options)?;
            let Some(start) = start else { return Ok(Ended::Interrupted) };
            starts.push(start.start);
            if let Some(filed) = filed.as_deref_mut() {
                let name = name_scenario(scenario.name, *backend);
                filed.write(&capture_path(&name, starts.len()), &start.capture)?;
            }
        }
    }
    Ok(Ended::Complete)
}

/// Checks what was filed, and computes it again.
#[derive(Debug, clap::Args)]
pub(super) struct VerifyArgs {
    /// Folder that sixmark only6 --output has written
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
}

/// Checks each file of a folder against its hash, and computes the document again from its captures.
pub(super) fn verify(args: &VerifyArgs) -> Result<u8, CommandError> {
    output::verify_folder(&args.folder)
}
