//! `sixmark eyes`.

mod output;

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant, SystemTime};

use clap::builder::PossibleValuesParser;
use sixmark_document::environment::environment;
use sixmark_document::provenance::Tool;
use sixmark_eyes::client_trace::ClientTrace;
use sixmark_eyes::engine::{CaseNetwork, EyesOptions};
use sixmark_eyes::eyes_case::{CASES, EyesCase};
use sixmark_eyes::eyes_result::{CaseResult, EyesResult, SCHEMA, judge_cases};
use sixmark_lab as lab;
use sixmark_sys::command_error::CommandError;
use sixmark_sys::enclosure::Rights;
use sixmark_units::random::Random;

use super::out::complain;
use super::stop_flag;
use output::{EyesOutputArgs, judge_gates, write_outputs};

/// How often the client is started in each case.
const USUAL_REPEAT: u32 = 5;
/// How often with --quick.
const QUICK_REPEAT: u32 = 2;
/// How long a start may take unless --patience says otherwise, in seconds.
const USUAL_PATIENCE_S: u64 = 15;

/// Report what a client does when a family is slow or dead (Happy Eyeballs).
///
/// Starts the client in a lab of its own, in networks in which a family is slow, silent, refused or
/// unreachable, or its answers from DNS are late or missing, and reads from the packets what it does.
/// The site's URL is put for {url} in the command, or behind it. Needs network namespaces.
#[derive(Debug, clap::Args)]
pub(super) struct EyesArgs {
    /// Command of the client and its arguments
    #[arg(value_name = "COMMAND", required = true, last = true)]
    command: Vec<String>,

    /// Only these cases [default: all]
    #[arg(
        long,
        value_name = "CASE,...",
        value_delimiter = ',',
        value_parser = PossibleValuesParser::new(CASES.iter().map(|case| case.name)),
        help_heading = "Measurement"
    )]
    cases: Vec<String>,

    /// Start the client N times in each case [default: 5]
    #[arg(long, value_name = "N", help_heading = "Measurement")]
    repeat: Option<NonZeroU32>,

    /// Start the client twice in each case
    #[arg(long, conflicts_with = "repeat", help_heading = "Measurement")]
    quick: bool,

    /// How long a start may take, in seconds [default: 15]
    #[arg(long, value_name = "S", help_heading = "Measurement")]
    patience: Option<NonZeroU32>,

    #[command(flatten)]
    output: EyesOutputArgs,
}

/// Watches the client, and prints what it did.
pub(super) fn main(args: &EyesArgs) -> Result<u8, CommandError> {
    args.output.check_files()?;
    let gates = args.output.gates(&case_names(args))?;
    let rights = match lab::enclose()? {
        Ok(rights) => rights,
        Err(status) => return Ok(status),
    };
    let stop = stop_flag()?;
    let started = humantime::format_rfc3339_millis(SystemTime::now()).to_string();
    let begin = Instant::now();
    let traces = watch_all(args, rights, &stop)?;
    let cases: Vec<CaseResult> = CASES
        .iter()
        .filter_map(|case| Some(CaseResult::of(case.name, traces.get(case.name)?.clone())))
        .collect();
    let clauses = judge_cases(&cases);
    let mut result = EyesResult {
        schema: SCHEMA.to_owned(),
        tool: Tool::of_this_program(),
        started,
        elapsed_s: begin.elapsed().as_secs_f64(),
        environment: environment(Vec::new()),
        command: args.command.clone(),
        cases,
        clauses,
        gates: Vec::new(),
    };
    result.gates = judge_gates(&gates, &result);
    write_outputs(&args.output, result)
}

/// Returns the names of the cases that are watched.
fn case_names(args: &EyesArgs) -> Vec<&str> {
    if args.cases.is_empty() {
        CASES.iter().map(|case| case.name).collect()
    } else {
        args.cases.iter().map(String::as_str).collect()
    }
}

/// Starts the client in each case as often as is asked for, in random order.
fn watch_all(
    args: &EyesArgs,
    rights: Rights,
    stop: &AtomicBool,
) -> Result<BTreeMap<&'static str, Vec<ClientTrace>>, CommandError> {
    let usual = if args.quick { QUICK_REPEAT } else { USUAL_REPEAT };
    let repeat = args.repeat.map_or(usual, NonZeroU32::get);
    let patience_s = args.patience.map_or(USUAL_PATIENCE_S, |of| of.get().into());
    let options = EyesOptions {
        command: &args.command,
        patience: Duration::from_secs(patience_s),
        rights,
        stop,
    };
    let is_meant =
        |case: &&EyesCase| args.cases.is_empty() || args.cases.iter().any(|of| of == case.name);
    let mut order: Vec<&'static EyesCase> = CASES.iter().filter(is_meant).collect();
    let seed = SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_nanos() as u64);
    let mut random = Random::new(seed, 0);
    let mut traces: BTreeMap<&'static str, Vec<ClientTrace>> = BTreeMap::new();
    for _ in 0..repeat {
        for last in (1..order.len()).rev() {
            order.swap(last, random.below(last as u64 + 1) as usize);
        }
        for case in &order {
            let Some(network) = CaseNetwork::build(case, &options)? else { return Ok(traces) };
            let Some(trace) = network.watch_start(&options)? else {
                complain("interrupted: what was seen until then follows");
                return Ok(traces);
            };
            traces.entry(case.name).or_default().push(trace);
        }
    }
    Ok(traces)
}
