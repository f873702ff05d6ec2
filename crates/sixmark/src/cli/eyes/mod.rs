//! `sixmark eyes`.

mod output;

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use clap::builder::PossibleValuesParser;
use sixmark_document::environment::environment;
use sixmark_document::provenance::{Ended, Tool};
use sixmark_eyes::browser_start::WatchedBrowser;
use sixmark_eyes::clause::judge_clauses;
use sixmark_eyes::client_profile::ClientProfile;
use sixmark_eyes::client_trace::ClientTrace;
use sixmark_eyes::client_warnings::{client_warnings, warn_of_early_end};
use sixmark_eyes::engine::{
    CaseNetwork, EyesOptions, ServedLink, SiteIdentity, WatchedClient, describe_served_link,
    site_url,
};
use sixmark_eyes::eyes_case::{CASES, EyesCase, SiteScheme};
use sixmark_eyes::eyes_result::{CaseResult, EyesResult, SCHEMA, case_traces};
use sixmark_lab as lab;
use sixmark_sys::command_error::{CommandError, INTERRUPTED};
use sixmark_units::random::Random;

use super::out::{complain, warn};
use super::stop_flag;
use output::{EyesOutputArgs, judge_gates, write_outputs};

/// How often the client is started in each case.
const USUAL_REPEAT: u32 = 5;
/// How often with --quick.
const QUICK_REPEAT: u32 = 2;
/// How long a start may take unless --patience says otherwise, in seconds: glibc's resolver waits for 15 s.
const USUAL_PATIENCE_S: u64 = 20;

/// Report what a client does when a family is slow or dead (Happy Eyeballs).
///
/// Starts the client in a lab of its own, in networks in which a family is slow, silent, refused or
/// unreachable, or its answers from DNS are late or missing, and reads from the packets what it does.
/// The site's URL is put for {url} in the command, or behind it. Needs network namespaces.
#[derive(Debug, clap::Args)]
pub(super) struct EyesArgs {
    /// Command of the client and its arguments
    #[arg(value_name = "COMMAND", required_unless_present_any = ["browser", "serve"], last = true)]
    command: Vec<String>,

    /// Start a browser, each time with a new profile
    #[arg(long, value_name = "BROWSER", conflicts_with = "command", help_heading = "Client")]
    browser: Option<BrowserName>,

    /// Wait for a client beyond this interface of the machine, which is started by hand; needs root
    ///
    /// Prints the addresses, the name server and the URL to use. The client is expected once in each case.
    #[arg(
        long,
        value_name = "INTERFACE",
        conflicts_with_all = ["command", "browser"],
        help_heading = "Client"
    )]
    serve: Option<String>,

    /// Serve the site over TLS, with HTTP/2 and HTTP/3
    ///
    /// Variables such as SSL_CERT_FILE name the file with the authority of its certificate; {ca} in the
    /// command stands for it.
    #[arg(long, help_heading = "Measurement")]
    https: bool,

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

    /// How long a start may take, in seconds [default: 20]
    #[arg(long, value_name = "S", help_heading = "Measurement")]
    patience: Option<NonZeroU32>,

    #[command(flatten)]
    output: EyesOutputArgs,
}

/// A browser that can be started.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum BrowserName {
    Chromium,
    Firefox,
}

impl From<BrowserName> for WatchedBrowser {
    fn from(name: BrowserName) -> WatchedBrowser {
        match name {
            BrowserName::Chromium => WatchedBrowser::Chromium,
            BrowserName::Firefox => WatchedBrowser::Firefox,
        }
    }
}

impl EyesArgs {
    fn scheme(&self) -> SiteScheme {
        if self.https { SiteScheme::Https } else { SiteScheme::Http }
    }

    fn repeat(&self) -> u32 {
        let usual = match self.serve {
            Some(_) => 1,
            None if self.quick => QUICK_REPEAT,
            None => USUAL_REPEAT,
        };
        self.repeat.map_or(usual, NonZeroU32::get)
    }

    fn patience(&self) -> Duration {
        Duration::from_secs(self.patience.map_or(USUAL_PATIENCE_S, |of| of.get().into()))
    }

    fn client<'a>(&'a self, served: Option<&'a ServedLink>) -> WatchedClient<'a> {
        match (self.browser, served) {
            (_, Some(link)) => WatchedClient::Served(link),
            (Some(browser), None) => WatchedClient::Browser(browser.into()),
            (None, None) => WatchedClient::Command(&self.command),
        }
    }

    /// Returns the cases that are asked for.
    fn cases(&self) -> Result<Vec<&'static EyesCase>, CommandError> {
        let scheme = self.scheme();
        let asked = self.cases.iter().filter_map(|name| EyesCase::named(name));
        if let Some(case) = asked.clone().find(|case| !case.applies_to(scheme)) {
            return Err(CommandError::Usage(format!("--cases {} needs --https", case.name)));
        }
        let is_asked = |case: &EyesCase| {
            if self.cases.is_empty() {
                case.applies_to(scheme)
            } else {
                asked.clone().any(|of| of == case)
            }
        };
        Ok(CASES.iter().filter(|case| is_asked(case)).collect())
    }
}

/// Watches the client, and prints what it did.
pub(super) fn main(args: &EyesArgs) -> Result<u8, CommandError> {
    args.output.check_files()?;
    let served = args.serve.as_deref().map(ServedLink::of).transpose()?;
    let client = args.client(served.as_ref());
    let cases = args.cases()?;
    let gates = args.output.gates(&cases.iter().map(|case| case.name).collect::<Vec<_>>())?;
    let program = client.find()?;
    let rights = match lab::enclose()? {
        Ok(rights) => rights,
        Err(status) => return Ok(status),
    };
    let stop = stop_flag()?;
    let started = humantime::format_rfc3339_millis(SystemTime::now()).to_string();
    let begin = Instant::now();
    let identity = args.https.then(SiteIdentity::make).transpose()?;
    let options = EyesOptions {
        client,
        program: &program,
        identity: identity.as_ref(),
        patience: args.patience(),
        rights,
        stop: &stop,
    };
    let asked_starts = cases.len() * args.repeat() as usize;
    let watched = watch_all(args.repeat(), cases, &options);
    if watched.traces.is_empty()
        && let Some(failure) = watched.failure
    {
        return Err(failure);
    }
    let about = StartedEyes { started, elapsed: begin.elapsed(), program: &program, asked_starts };
    let mut result = make_result(args, &about, &watched);
    result.gates = judge_gates(&gates, &result);
    let warnings = result.warnings.clone();
    let has_attempts = watched.traces.values().flatten().any(|of| !of.attempts.is_empty());
    let status = write_outputs(&args.output, result)?;
    if let Some(failure) = watched.failure {
        warn(&warnings);
        return Err(failure);
    }
    match warnings.first() {
        Some(first) if !has_attempts && watched.ended != Ended::Interrupted => {
            Err(CommandError::Measure(first.message.clone()))
        }
        _ => {
            warn(&warnings);
            Ok(if watched.ended == Ended::Interrupted { INTERRUPTED } else { status })
        }
    }
}

/// What is known of a measurement beside what was seen.
struct StartedEyes<'a> {
    /// When it began, RFC 3339 in UTC.
    started: String,
    elapsed: Duration,
    program: &'a Path,
    /// How many starts were asked for.
    asked_starts: usize,
}

/// Returns the document of what was seen, without gates.
fn make_result(args: &EyesArgs, about: &StartedEyes<'_>, watched: &WatchedStarts) -> EyesResult {
    let starts = |case: &EyesCase| watched.traces.get(case.name).cloned();
    let cases: Vec<CaseResult> =
        CASES.iter().filter_map(|case| Some(CaseResult::of(case.name, starts(case)?))).collect();
    let traces = case_traces(&cases);
    let failure = watched.failure.as_ref().map(CommandError::to_string);
    let seen = traces.values().flatten().count();
    let early_end = warn_of_early_end(watched.ended, failure, seen, about.asked_starts);
    EyesResult {
        schema: SCHEMA.to_owned(),
        tool: Tool::of_this_program(),
        started: about.started.clone(),
        elapsed_s: about.elapsed.as_secs_f64(),
        ended: watched.ended,
        environment: environment(Vec::new()),
        scheme: args.scheme(),
        command: client_words(args, about.program),
        served_on: args.serve.clone(),
        profile: ClientProfile::of(&traces),
        clauses: judge_clauses(&traces),
        warnings: client_warnings(&traces).into_iter().chain(early_end).collect(),
        cases,
        gates: Vec::new(),
    }
}

/// Returns the command, or the program of the browser.
fn client_words(args: &EyesArgs, program: &Path) -> Vec<String> {
    match args.browser {
        Some(_) => vec![program.display().to_string()],
        None => args.command.clone(),
    }
}

/// Returns what a person is to do in a case.
fn served_prompt(case: &EyesCase, scheme: SiteScheme) -> String {
    let times = match case.starts_before {
        0 => String::new(),
        before => format!(", {} times with a pause", before + 1),
    };
    format!("{}: start the client now, open {}{times}", case.name, site_url(scheme))
}

/// What was seen of a client.
struct WatchedStarts {
    traces: BTreeMap<&'static str, Vec<ClientTrace>>,
    /// Why no more of it was seen.
    ended: Ended,
    /// What failed, if it ended for that.
    failure: Option<CommandError>,
}

/// Starts the client in each case as often as is asked for, in random order. What was seen until something
/// fails is kept.
fn watch_all(
    repeat: u32,
    order: Vec<&'static EyesCase>,
    options: &EyesOptions<'_>,
) -> WatchedStarts {
    let mut traces = BTreeMap::new();
    let (ended, failure) = match watch_starts(repeat, order, options, &mut traces) {
        Ok(ended) => (ended, None),
        Err(failure) => (Ended::Hopeless, Some(failure)),
    };
    WatchedStarts { traces, ended, failure }
}

/// Starts the client until all is seen. Returns why it ended.
fn watch_starts(
    repeat: u32,
    mut order: Vec<&'static EyesCase>,
    options: &EyesOptions<'_>,
    traces: &mut BTreeMap<&'static str, Vec<ClientTrace>>,
) -> Result<Ended, CommandError> {
    let seed = SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_nanos() as u64);
    let mut random = Random::new(seed, 0);
    if let WatchedClient::Served(link) = options.client {
        // Standard output may be the document.
        describe_served_link(link).lines().for_each(complain);
    }
    for _ in 0..repeat {
        for last in (1..order.len()).rev() {
            order.swap(last, random.below(last as u64 + 1) as usize);
        }
        for case in &order {
            let Some(network) = CaseNetwork::build(case, options)? else {
                return Ok(Ended::Interrupted);
            };
            if let WatchedClient::Served(_) = options.client {
                complain(&served_prompt(case, options.scheme()));
            }
            let Some(trace) = network.watch_start(options)? else {
                return Ok(Ended::Interrupted);
            };
            let is_first = traces.is_empty();
            let shows_nothing = trace.queries.is_empty() && trace.attempts.is_empty();
            traces.entry(case.name).or_default().push(trace);
            if is_first && shows_nothing {
                // It is no client of this site: the other starts would take as long, and show as little.
                return Ok(Ended::Hopeless);
            }
        }
    }
    Ok(Ended::Complete)
}
