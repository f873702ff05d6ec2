//! `sixmark check`.

mod earlier;

use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::{Instant, SystemTime};

use clap::builder::PossibleValuesParser;
use sixmark_check::check_result::{CheckAsked, CheckResult, SCHEMA, SiteResult};
use sixmark_check::engine::{CheckOptions, TrustedRoots, observe_site};
use sixmark_check::judge::judge_site;
use sixmark_check::sheet::{check_text, site_line, summary_lines};
use sixmark_check::site_finding::{FindingState, SiteCheck, SiteFinding};
use sixmark_document::environment::environment;
use sixmark_document::provenance::Tool;
use sixmark_http::http1::request::parse_own_header;
use sixmark_http::url::Url;
use sixmark_names::ask::PORT;
use sixmark_plan::plan::secrets::redact;
use sixmark_result::gate_result::GateResult;
use sixmark_sys::command_error::CommandError;
use sixmark_sys::output::Readers;
use sixmark_sys::text_file;

use super::files::CommandFiles;
use super::gates::status_of_gates;
use super::inside::InsideArgs;
use super::keep::{KeepArgs, Keeper};
use super::out::{OutputPlace, do_all, encoded, print};
use super::report::write_page;
use crate::report::documents::Document;
use crate::report::headline::ListHeadline;
use crate::report::junit;

/// The name that stands for all checks after --fail-if.
const ANY: &str = "any";
/// How often a site is fetched from each address, unless that takes too many requests.
const USUAL_REPEAT: u32 = 5;

/// Report whether a site is as good over IPv6 as over IPv4, in a few dozen requests.
///
/// Looks the name up, fetches the URL a few times from every address of both families in random
/// order, and compares what arrives: connections, TLS, status, fields, content, times. Each
/// difference comes with what was found, who can mend it, and a command that shows it. Then it says
/// what changed since the last check of the site that the store has. It needs no privilege and sends
/// at most 60 requests to a site, one at a time. The exit status is 0 unless --fail-if is given.
#[derive(Debug, clap::Args)]
pub(super) struct SiteCheckArgs {
    /// URL of the site; repeatable
    #[arg(value_name = "URL", required_unless_present = "targets")]
    urls: Vec<String>,

    /// Check the sites of this file too, a URL in each line, and print a line for each site
    #[arg(long, value_name = "FILE")]
    targets: Option<PathBuf>,

    /// Fetch the URL N times from each address, however many requests that takes [default: 5, and at
    /// most 60 requests]
    #[arg(long, value_name = "N", help_heading = "Measurement")]
    repeat: Option<NonZeroU32>,

    /// Race for real, as each client does: connect to the site's addresses over TCP in its order, with
    /// its delays; at most 4 connections for each, within the 60 requests
    #[arg(long, help_heading = "Measurement")]
    race: bool,

    /// Ask this resolver instead of the system's; repeatable
    #[arg(long, value_name = "ADDR[:PORT]", help_heading = "Measurement")]
    resolver: Vec<String>,

    /// Judge only these checks
    #[arg(
        long,
        value_name = "CHECK,...",
        value_delimiter = ',',
        hide_possible_values = true,
        value_parser = PossibleValuesParser::new(check_names()),
        help_heading = "Measurement"
    )]
    only: Vec<String>,

    /// Exit with status 1 if the families differ in one of these checks, or in any; by the names in
    /// the document (docs/check.md)
    #[arg(
        long,
        value_name = "CHECK,...|any",
        value_delimiter = ',',
        hide_possible_values = true,
        value_parser = PossibleValuesParser::new(check_names().chain([ANY])),
        help_heading = "Measurement"
    )]
    fail_if: Vec<String>,

    /// Add this field to requests; repeatable
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE", help_heading = "Request")]
    headers: Vec<String>,

    /// Trust the CA certificates in this PEM file
    #[arg(long, value_name = "FILE", help_heading = "TLS")]
    cacert: Option<PathBuf>,

    /// Write the document (sixmark.check/1)
    #[arg(long, value_name = "FILE|-", help_heading = "Output")]
    json: Option<OutputPlace>,

    /// Write the report as one HTML page
    #[arg(long, value_name = "FILE|-", help_heading = "Output")]
    html: Option<OutputPlace>,

    /// Write the checks as JUnit XML
    #[arg(long, value_name = "FILE|-", help_heading = "Output")]
    junit: Option<OutputPlace>,

    #[command(flatten)]
    keep: KeepArgs,

    #[command(flatten)]
    inside: InsideArgs,
}

fn check_names() -> impl Iterator<Item = &'static str> {
    SiteCheck::ALL.into_iter().map(SiteCheck::name)
}

/// Checks the sites, prints what was found, and keeps it.
pub(super) fn main(args: &SiteCheckArgs) -> Result<u8, CommandError> {
    let lab_host = args.inside.lab_host()?;
    args.inside.go()?;
    let files = CommandFiles::default().document("--json", args.json.as_ref());
    let files = files.document("--html", args.html.as_ref());
    files.document("--junit", args.junit.as_ref()).store(args.keep.store()).check()?;
    let urls = read_urls(args)?;
    let options = read_options(args)?;
    let only: Vec<SiteCheck> = args.only.iter().filter_map(|name| SiteCheck::named(name)).collect();
    check_gates(args, &only)?;
    let asked = options_asked(args, &options, &only, lab_host);
    let mut keeper = Keeper::open(&args.keep)?;
    // With a list of sites each has its line as soon as it is checked.
    let shows_lines = args.targets.is_some() && !has_standard_output(args);
    let shown = |site: &SiteResult| if shows_lines { print(&site_line(site)) } else { Ok(()) };
    let mut result = check_sites(&urls, &options, &only, asked, shown)?;
    if let Some(store) = keeper.store() {
        earlier::compare_with_earlier(store, &mut result);
    }
    let gates = gates_of(&result, &args.fail_if);
    write_outputs(args, result, &gates, &mut keeper)?;
    Ok(status_of_gates(&gates, false))
}

/// Refuses a gate on a check that is not shown.
fn check_gates(args: &SiteCheckArgs, only: &[SiteCheck]) -> Result<(), CommandError> {
    let is_omitted =
        |name: &str| SiteCheck::named(name).is_some_and(|check| !only.contains(&check));
    match args.fail_if.iter().find(|name| !only.is_empty() && is_omitted(name)) {
        None => Ok(()),
        Some(omitted) => {
            let line = format!("--fail-if {omitted}: --only omits this check");
            Err(CommandError::Usage(line))
        }
    }
}

fn check_sites(
    urls: &[Url],
    options: &CheckOptions,
    only: &[SiteCheck],
    asked: CheckAsked,
    shown: impl Fn(&SiteResult) -> Result<(), CommandError>,
) -> Result<CheckResult, CommandError> {
    let started = humantime::format_rfc3339_millis(SystemTime::now()).to_string();
    let begin = Instant::now();
    let check = |url: &Url| {
        let site = judge_site(url, observe_site(url, options), only);
        shown(&site).map(|()| site)
    };
    let sites = urls.iter().map(check).collect::<Result<Vec<SiteResult>, _>>()?;
    Ok(CheckResult {
        schema: SCHEMA.to_owned(),
        tool: Tool::of_this_program(),
        started,
        elapsed_s: begin.elapsed().as_secs_f64(),
        environment: environment(Vec::new()),
        asked: Some(asked),
        sites,
    })
}

/// Returns true if a document is written to standard output.
fn has_standard_output(args: &SiteCheckArgs) -> bool {
    [&args.json, &args.html, &args.junit].contains(&&Some(OutputPlace::Standard))
}

/// Prints the report, and writes the document to the place of --json, to the store and to the page.
fn write_outputs(
    args: &SiteCheckArgs,
    result: CheckResult,
    gates: &[GateResult],
    keeper: &mut Keeper,
) -> Result<(), CommandError> {
    let printed = if has_standard_output(args) {
        Ok(())
    } else if args.targets.is_some() {
        print(&summary_lines(&result))
    } else {
        print(&check_text(&result))
    };
    let document = encoded(&result)?;
    let written = args.json.as_ref().map_or(Ok(()), |place| place.write(&document));
    let junit = args.junit.as_ref();
    let suite = junit.map_or(Ok(()), |place| place.write(&junit::of_check(&result, gates)));
    let elsewhere = args.json.as_ref().filter(|_| written.is_ok());
    let kept = keeper.finish(&ListHeadline::of_check(&result), &document, elsewhere, false);
    let page = write_page(args.html.as_ref(), Readers::Umask, || Document::Check(Box::new(result)));
    do_all([printed, written, suite, kept, page])
}

/// Returns the options that change what is found. Credentials are never among them.
fn options_asked(
    args: &SiteCheckArgs,
    options: &CheckOptions,
    only: &[SiteCheck],
    lab_host: Option<String>,
) -> CheckAsked {
    CheckAsked {
        resolvers: options.resolvers.iter().map(SocketAddr::to_string).collect(),
        headers: args.headers.iter().map(|line| redact(line)).collect(),
        cacert: args.cacert.as_ref().map(|path| path.display().to_string()),
        only: only.to_vec(),
        lab_host,
    }
}

/// Returns the URLs of the command line, then those of the file.
fn read_urls(args: &SiteCheckArgs) -> Result<Vec<Url>, CommandError> {
    let read = |text: &String| text.parse::<Url>().map_err(CommandError::Usage);
    let mut urls: Vec<Url> = args.urls.iter().map(read).collect::<Result<_, _>>()?;
    if let Some(path) = &args.targets {
        let wrong =
            |why: String| CommandError::Usage(format!("--targets '{}': {why}", path.display()));
        let text = text_file::read(path).map_err(|error| wrong(error.to_string()))?;
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if !line.is_empty() && !line.starts_with('#') {
                let url =
                    line.parse().map_err(|why| wrong(format!("line {}: {why}", number + 1)))?;
                urls.push(url);
            }
        }
        if urls.is_empty() {
            return Err(wrong("no URL in it; write one in each line".to_owned()));
        }
    }
    Ok(urls)
}

fn read_options(args: &SiteCheckArgs) -> Result<CheckOptions, CommandError> {
    let headers = args.headers.iter().map(|text| parse_own_header(text));
    let headers = headers.collect::<Result<_, _>>().map_err(CommandError::Usage)?;
    let resolvers: Result<_, _> = args.resolver.iter().map(|text| read_resolver(text)).collect();
    Ok(CheckOptions {
        repeat: args.repeat.map_or(USUAL_REPEAT, NonZeroU32::get),
        is_repeat_given: args.repeat.is_some(),
        races: args.race,
        resolvers: resolvers?,
        headers,
        roots: TrustedRoots::read(args.cacert.as_deref())?,
        seed: SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_nanos() as u64),
    })
}

fn read_resolver(text: &str) -> Result<SocketAddr, CommandError> {
    let address = text.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    let at = address.map(|address| SocketAddr::new(address, PORT)).or_else(|_| text.parse());
    at.map_err(|_| {
        CommandError::Usage(format!(
            "--resolver '{text}': not an address; give one as in 192.0.2.53 or [2001:db8::53]:53"
        ))
    })
}

/// Returns a gate for each check of each site that --fail-if names and that was tried. Without
/// --fail-if there is one for each check, and none of them fails.
fn gates_of(result: &CheckResult, names: &[String]) -> Vec<GateResult> {
    let is_named = |check: SiteCheck| names.iter().any(|name| name == ANY || name == check.name());
    let gate = |site: &SiteResult, of: &SiteFinding| GateResult {
        fail_if: format!("{} differs: {}", of.check.name(), site.url),
        failed: is_named(of.check) && of.state == FindingState::Differs,
        because: format!("{}: {}", of.state.word(), of.found),
    };
    let of_site = |site: &SiteResult| {
        let tried = site.findings.iter().filter(|of| of.state != FindingState::NotTried);
        let named = tried.filter(|of| names.is_empty() || is_named(of.check));
        named.map(|of| gate(site, of)).collect::<Vec<_>>()
    };
    result.sites.iter().flat_map(of_site).collect()
}
