//! Creating a plan from options.

use std::num::NonZeroU32;
use std::path::Path;
use std::time::Duration;

use sixmark_document::provenance::Warning;
use sixmark_http::HttpVersion;
use sixmark_http::url::{Scheme, has_scheme};
use sixmark_plan::pace::{OpenLoop, Pace, Timetable};
use sixmark_plan::plan::http::Http;
use sixmark_plan::plan::list::{self, ListEntry};
use sixmark_plan::plan::ratio::PlanRatio;
use sixmark_plan::plan::{Close, Connection, LoadPlan, Plan, Target};
use sixmark_result::failed_lookup::{
    FailedLookup, describe_absence, describe_failed_lookups, failed_lookups,
};
use sixmark_units::family::Family;

use crate::args::{ConnectionArgs, TargetArgs, WorkloadArgs};
use crate::pace;
use crate::plan_options::PlanOptions;
use crate::requests::{self, Sent};
use crate::search;
use crate::source;
use crate::tls::{self, TlsArgs};
use sixmark_result::warnings as warning;
use sixmark_run::Draft;
use sixmark_run::resolve::Resolver;
use sixmark_sys::command_error::CommandError;
use sixmark_sys::text_file;

/// Duration of a run if neither its duration nor its number of requests is given.
const DURATION: Duration = Duration::from_secs(10);

/// Default number of concurrent connections.
const CONNECTIONS: NonZeroU32 = NonZeroU32::new(50).unwrap();

/// In an open loop, the minimum number of exchanges that each thread may have in flight, unless -t
/// is given. Threads can't use each other's places, so many threads with few places each would have
/// queues that one thread with all places would not have.
const PLACES: u32 = 16;

/// What to do if the look-up of a name failed.
const TO_MEND_LOOKUPS: &str =
    "check the name servers (/etc/resolv.conf), or give addresses with --resolve";

/// Returns the plan that the options describe, how long looking up its names took, and warnings.
///
/// # Errors
/// The options contradict one another, a file can't be read, or a name can't be looked up.
pub fn draft(options: &PlanOptions<'_>) -> Result<Draft, CommandError> {
    let WorkloadArgs { target, request, connection, tls, .. } = options.workload;
    let entries = entries(options)?;
    tls::check_tls(tls, &entries)?;
    let remarks = [tls::unused_insecure(tls, &entries)].into_iter().flatten();
    let remarks: Vec<Warning> = remarks.chain(assumed_schemes(target)?).collect();
    agreed(connection, &entries)?;
    let http = http(connection, tls)?;
    let mut resolver = Resolver::new(target.resolve.clone(), &asked_families(target));
    let mut targets = resolved(&entries, tls, &mut resolver)?;
    let dns = resolver.lookups();
    let failed = failed_lookups(&dns);
    let ratio = search::search_ratio(options, plan_ratio(target, &targets, &failed)?);
    let left_out = warning::left_out(keep_used(&mut targets, ratio), ratio);
    let Sent { requests, timetable, warnings } = requests::sent(options, &targets)?;
    let before = alone(target, ratio, &failed).into_iter().chain(left_out);
    let remarks = remarks.into_iter().chain(threads_limited(options, ratio));
    let warnings = before.chain(warnings).chain(remarks).collect();
    let plan = Plan {
        http,
        ratio,
        load: search::search_load(options, load_plan(options, ratio, timetable)?)?,
        requests,
        location: request.location,
        accept_status: request.accept_status,
        cookies: request.cookies,
        connection: Connection {
            keep_alive: !connection.no_keep_alive,
            requests: connection.requests_per_connection,
            close: connection.close,
            preopen: connection.preopen,
            resend: !connection.no_resend,
            most_open: connections(options),
        },
        tls: tls::plan(tls, &targets, http)?,
        sources: source::sources(&target.source)?,
        seed: options.seed,
        targets,
    };
    search::fits(options, &plan)?;
    // The connections of `--preopen` are opened before the load, so their number must be known.
    let more_places = options.workload.load.connections.is_none() && !connection.preopen;
    let search = search::asked(options, &plan, more_places);
    Ok(Draft { plan, search, dns, warnings })
}

/// The only family that the targets of a command have.
pub struct OnlyFamily {
    /// The family.
    pub family: Family,
    /// Which name was found to have no address of the other family. `None` if that one was not
    /// asked for, or if no look-up is the reason.
    pub absence: Option<String>,
}

/// Returns the family that was asked for, or the only one that the addresses of the URLs on the
/// command line have. `None` if there are both.
///
/// # Errors
/// A URL is invalid, or the look-up of its name failed for one of two families: the other is not
/// the only one.
pub fn only_family(args: &TargetArgs) -> Result<Option<OnlyFamily>, CommandError> {
    let asked = [(args.ipv6, Family::Ipv6), (args.ipv4, Family::Ipv4)];
    if let Some((_, family)) = asked.into_iter().find(|(asked, _)| *asked) {
        return Ok(Some(OnlyFamily { family, absence: None }));
    }
    let mut resolver = Resolver::new(args.resolve.clone(), &Family::BOTH);
    let mut addresses = Vec::new();
    for text in &args.urls {
        addresses.extend(resolver.addresses(&entry(args, text, false)?.url)?);
    }
    let has = |family: &Family| addresses.iter().any(|a| Family::of(a.ip()) == *family);
    let found: Vec<Family> = Family::BOTH.into_iter().filter(has).collect();
    let dns = resolver.lookups();
    let mut failed = failed_lookups(&dns);
    failed.retain(|failed| !found.contains(&failed.family));
    if let Some(described) = describe_failed_lookups(&failed) {
        return Err(CommandError::Measure(format!("{described}; {TO_MEND_LOOKUPS}")));
    }
    let [family] = found[..] else { return Ok(None) };
    Ok(Some(OnlyFamily { family, absence: describe_absence(&dns, family.other()) }))
}

/// Returns the number of concurrent connections.
fn connections(options: &PlanOptions<'_>) -> NonZeroU32 {
    options.workload.load.connections.unwrap_or(CONNECTIONS)
}

/// Returns the URLs of the command line, followed by those of the target list.
fn entries(options: &PlanOptions<'_>) -> Result<Vec<ListEntry>, CommandError> {
    let (args, replays) = (&options.workload.target, options.schedule.replay.is_some());
    check_path(&args.path)?;
    let parse = |text: &String| entry(args, text, replays);
    let mut entries = args.urls.iter().map(parse).collect::<Result<Vec<_>, _>>()?;
    if let Some(file) = &args.targets {
        entries.extend(read_list(file, &args.path)?);
    }
    Ok(entries)
}

/// Parses a target of the command line. If a recording is replayed, it may be a misplaced value of
/// `--replay`, and the error says so.
fn entry(args: &TargetArgs, text: &str, replays: bool) -> Result<ListEntry, CommandError> {
    if replays && crate::values::speed(text).is_ok() {
        let line = format!("'{text}' is not a URL; write a speed as --replay={text}");
        return Err(CommandError::Usage(line));
    }
    let url = list::parse_target(text, &args.path);
    let url = url.map_err(|error| CommandError::Usage(format!("URL '{text}': {error}")))?;
    Ok(ListEntry { line: 0, url, weight: 1 })
}

/// Returns a remark for each target of the command line without a scheme. (In an address list file
/// most have none.)
fn assumed_schemes(args: &TargetArgs) -> Result<Vec<Warning>, CommandError> {
    let bare = args.urls.iter().filter(|text| !has_scheme(text));
    bare.map(|text| Ok(warning::scheme_assumed(text, &entry(args, text, false)?.url))).collect()
}

fn check_path(path: &str) -> Result<(), CommandError> {
    if path.starts_with('/') {
        Ok(())
    } else {
        Err(CommandError::Usage(format!("--path '{path}' does not begin with /")))
    }
}

fn read_list(file: &Path, path: &str) -> Result<Vec<ListEntry>, CommandError> {
    let name = file.display();
    let cannot = |error| CommandError::Usage(format!("can't read the list '{name}': {error}"));
    let text = text_file::read(file).map_err(cannot)?;
    list::parse_list(&text, path)
        .map_err(|wrong| CommandError::Usage(wrong.of_file(&name.to_string())))
}

/// Looks up the names of the entries and returns the targets.
fn resolved(
    entries: &[ListEntry],
    args: &TlsArgs,
    resolver: &mut Resolver,
) -> Result<Vec<Target>, CommandError> {
    resolver.look_up_ahead(entries.iter().map(|entry| &entry.url));
    entries.iter().map(|entry| target(entry, args, resolver)).collect()
}

fn target(
    entry: &ListEntry,
    args: &TlsArgs,
    resolver: &mut Resolver,
) -> Result<Target, CommandError> {
    Ok(Target {
        url: entry.url.to_string(),
        authority: entry.url.authority(),
        server_name: tls::server_name(&entry.url, args),
        path: entry.url.path.clone(),
        weight: entry.weight,
        addresses: resolver.addresses(&entry.url)?,
    })
}

/// Returns the ratio that was asked for, else that of the target list, else 1:1 or the only family
/// that there is.
fn plan_ratio(
    args: &TargetArgs,
    targets: &[Target],
    failed: &[FailedLookup],
) -> Result<PlanRatio, CommandError> {
    let weight = |family| weight_of(targets, family);
    let ratio = match (args.ratio, args.ipv6, args.ipv4) {
        (Some(ratio), ..) => ratio,
        (_, true, _) => PlanRatio::only(Family::Ipv6),
        (_, _, true) => PlanRatio::only(Family::Ipv4),
        _ if args.targets.is_some() => PlanRatio::new(weight(Family::Ipv6), weight(Family::Ipv4))
            .map_err(CommandError::Usage)?,
        _ if weight(Family::Ipv4) == 0 => PlanRatio::only(Family::Ipv6),
        _ if weight(Family::Ipv6) == 0 => PlanRatio::only(Family::Ipv4),
        _ => PlanRatio::EVEN,
    };
    let missing = Family::BOTH.into_iter().find(|&f| ratio.uses(f) && weight(f) == 0);
    missing.map_or(Ok(ratio), |family| Err(no_address(family, targets, failed)))
}

/// Returns the families whose addresses are looked up: those that may be loaded.
fn asked_families(args: &TargetArgs) -> Vec<Family> {
    match (args.ratio, args.ipv6, args.ipv4) {
        (Some(ratio), ..) => {
            Family::BOTH.into_iter().filter(|&family| ratio.uses(family)).collect()
        }
        (_, true, _) => vec![Family::Ipv6],
        (_, _, true) => vec![Family::Ipv4],
        _ => Family::BOTH.to_vec(),
    }
}

/// Returns a warning if look-ups failed, or if only one family is loaded although nobody asked for
/// that.
fn alone(args: &TargetArgs, ratio: PlanRatio, failed: &[FailedLookup]) -> Option<Warning> {
    if let Some(warning) = warning::lookup_failed(failed) {
        return Some(warning);
    }
    let missing = Family::BOTH.into_iter().find(|&family| !ratio.uses(family))?;
    let asked = args.ratio.is_some() || args.ipv6 || args.ipv4;
    (!asked).then(|| warning::single_family(missing))
}

fn weight_of(targets: &[Target], family: Family) -> u32 {
    let has = |target: &&Target| target.addresses.iter().any(|a| Family::of(a.ip()) == family);
    targets.iter().filter(has).map(|target| target.weight).fold(0, u32::saturating_add)
}

fn no_address(family: Family, targets: &[Target], failed: &[FailedLookup]) -> CommandError {
    let of_family: Vec<FailedLookup> =
        failed.iter().filter(|failed| failed.family == family).cloned().collect();
    if let Some(described) = describe_failed_lookups(&of_family) {
        return CommandError::Measure(format!("{described}; {TO_MEND_LOOKUPS}"));
    }
    let first = targets.first().map_or("", |target| target.url.as_str());
    CommandError::Measure(format!(
        "{first} has no {family} address, which this run needs; give one with --resolve, or choose \
         the other family with {}",
        if family == Family::Ipv6 { "-4" } else { "-6" }
    ))
}

/// Removes the addresses of families that the ratio does not use, and the targets without any other
/// address. Returns the number of targets removed.
fn keep_used(targets: &mut Vec<Target>, ratio: PlanRatio) -> usize {
    let before = targets.len();
    for target in targets.iter_mut() {
        target.addresses.retain(|address| ratio.uses(Family::of(address.ip())));
    }
    targets.retain(|target| !target.addresses.is_empty());
    before - targets.len()
}

fn load_plan(
    options: &PlanOptions<'_>,
    ratio: PlanRatio,
    timetable: Option<Timetable>,
) -> Result<LoadPlan, CommandError> {
    let (args, connections) = (&options.workload.load, connections(options));
    let pace = pace::pace(options, timetable)?;
    let threads = threads(options, &pace, ratio)?;
    let of_stages = pace.open().and_then(OpenLoop::duration);
    let usual = args.count.is_none().then_some(DURATION);
    Ok(LoadPlan {
        requests: args.count,
        // A recording has an end. With -d, the run may end earlier but not later.
        duration: [options.schedule.duration, of_stages].into_iter().flatten().min().or(usual),
        warmup: args.warmup,
        pace,
        connections,
        threads,
        timeout: args.timeout,
        drain: options.schedule.drain.unwrap_or_default(),
        driver: args.driver,
        timestamps: options.workload.timestamps,
        linger: args.linger,
    })
}

/// Returns the number of threads. Of a fleet, all agents have the same number, and at least one
/// connection each.
fn threads(
    options: &PlanOptions<'_>,
    pace: &Pace,
    ratio: PlanRatio,
) -> Result<NonZeroU32, CommandError> {
    let here = || std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32);
    let connections = connections(options);
    let (machines, cores) = match options.fleet {
        Some(fleet) => (fleet.agents, fleet.cores.get()),
        None => (NonZeroU32::MIN, here()),
    };
    let of_each = NonZeroU32::new(connections.get() / machines).ok_or_else(|| {
        CommandError::Usage(format!(
            "-c {connections} is too few for {machines} agents: each needs a connection; use -c \
             {machines} or more, or fewer agents"
        ))
    })?;
    let usual = if pace.open().is_some() { cores.min(of_each.get() / PLACES) } else { cores };
    let usual = NonZeroU32::new(usual).unwrap_or(NonZeroU32::MIN);
    let asked = options.workload.load.threads.unwrap_or(usual);
    Ok(asked.min(most_threads(of_each, ratio)).saturating_mul(machines))
}

/// Returns a remark if more threads were asked for than there are connections for.
fn threads_limited(options: &PlanOptions<'_>, ratio: PlanRatio) -> Option<Warning> {
    let asked = options.workload.load.threads?;
    let (connections, machines) = (connections(options), options.fleet.map(|of| of.agents));
    let of_each = NonZeroU32::new(connections.get() / machines.unwrap_or(NonZeroU32::MIN))?;
    let most = most_threads(of_each, ratio);
    (asked > most).then(|| warning::threads_limited(asked.get(), most.get(), connections.get()))
}

/// Returns the maximum number of threads, so that each has at least one connection of each family,
/// if there are enough connections.
fn most_threads(connections: NonZeroU32, ratio: PlanRatio) -> NonZeroU32 {
    let families = Family::BOTH.into_iter().filter(|&family| ratio.uses(family)).count() as u32;
    NonZeroU32::new(connections.get() / families.max(1)).unwrap_or(NonZeroU32::MIN)
}

/// Returns an error if a version of HTTP that requires TLS is used without it.
fn agreed(args: &ConnectionArgs, entries: &[ListEntry]) -> Result<(), CommandError> {
    let plain = entries.iter().find(|entry| entry.url.scheme == Scheme::Http);
    let Some(ListEntry { url, .. }) = plain.filter(|_| args.http2 || args.http3) else {
        return Ok(());
    };
    Err(CommandError::Usage(if args.http2 {
        format!(
            "--http2 is negotiated in TLS, which {url} does not use; use --http2-prior-knowledge"
        )
    } else {
        format!("--http3 needs https://, but {url} is http://")
    }))
}

/// Returns the version of HTTP to use and the number of streams.
fn http(args: &ConnectionArgs, tls: &TlsArgs) -> Result<Http, CommandError> {
    let version = match (args.http2 || args.http2_prior_knowledge, args.http3) {
        (true, _) => HttpVersion::Http2,
        (_, true) => HttpVersion::Http3,
        _ if args.http1_0 => HttpVersion::Http10,
        _ => HttpVersion::Http1,
    };
    if version == HttpVersion::Http3 && args.close == Close::Rst {
        let line = "--close rst needs TCP, but --http3 uses QUIC; omit it";
        return Err(CommandError::Usage(line.into()));
    }
    let streams = args.streams.unwrap_or(NonZeroU32::MIN);
    if version.is_http1() && streams > NonZeroU32::MIN {
        let line = "--streams needs --http2 or --http3: HTTP/1.1 carries one exchange at a time";
        return Err(CommandError::Usage(line.into()));
    }
    if streams > NonZeroU32::MIN && args.no_keep_alive {
        let line = "--streams needs persistent connections; omit --no-keep-alive";
        return Err(CommandError::Usage(line.into()));
    }
    let http = Http { version, prior_knowledge: args.http2_prior_knowledge, streams };
    tls::agrees(tls, http)?;
    Ok(http)
}

/// Returns a new seed. It differs from run to run.
pub fn random_seed() -> u64 {
    use std::hash::{BuildHasher as _, Hasher as _, RandomState};
    // 53 bits: every reader of JSON keeps such a number exactly (RFC 8259, 6).
    RandomState::new().build_hasher().finish() >> 11
}
