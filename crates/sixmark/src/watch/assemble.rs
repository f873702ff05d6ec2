//! The document of what was watched.

use std::time::{Duration, UNIX_EPOCH};

use sixmark_core::comparison::{Comparison, Kind, Settings, judge};
use sixmark_core::family::{Family, PerFamily};
use sixmark_core::result::{
    Ended, Families, FamilyResult, RatioResult, RunResult, SCHEMA, Tool, family_result,
};
use sixmark_core::tally::FamilyTally;
use sixmark_core::watch::{Gathered, Source, Watched, WatchedServer};

use super::eye::Eye;
use crate::{Error, environment, warning};

/// What is known of a capture beside its packets.
pub(super) struct Told {
    pub(super) ended: Ended,
    /// When it ended, by its clock.
    pub(super) end_ns: u64,
    pub(super) clock_went_back: u64,
    /// Packets that had no time of their own.
    pub(super) untimed: u64,
    pub(super) sources: Vec<Source>,
    /// Interfaces that went away, and why.
    pub(super) lost: Vec<String>,
}

/// Makes the result.
///
/// # Errors
/// Lines could not be written.
pub(super) fn assemble(eye: Eye, told: Told) -> Result<RunResult, Error> {
    let (begin_ns, first_ns, last_ns) = (eye.begin_ns.unwrap_or(0), eye.first_ns, eye.last_ns);
    let (packets, frame_bytes, unreadable) = (eye.packets, eye.frame_bytes, eye.unreadable);
    let ports = eye.ports.clone();
    let (gatherer, counts) = eye.finish()?;
    let gathered = gatherer.finish(told.end_ns.max(last_ns), &counts);
    let elapsed_s = told.end_ns.max(last_ns).saturating_sub(begin_ns) as f64 / 1e9;
    let dropped = told.sources.iter().filter_map(|source| source.dropped).reduce(|a, b| a + b);
    let comparison = mixed(&gathered);
    let (families, total) = figures(&gathered, elapsed_s);
    let sent = |family: Family| gathered.tally[family].sent;
    let watched = Watched {
        sources: told.sources,
        ports,
        packets,
        frame_bytes,
        followed: counts.segments,
        dropped,
        cut: counts.cut,
        malformed: counts.malformed,
        unreadable,
        clock_went_back: told.clock_went_back,
        first: first_ns.map(time),
        last: first_ns.map(|_| time(last_ns)),
        evicted: counts.evicted,
        families: gathered.families,
        servers: gathered.servers,
        servers_left_out: gathered.servers_left_out,
    };
    let mut result = RunResult {
        schema: SCHEMA.to_owned(),
        tool: Tool { name: "sixmark".into(), version: env!("CARGO_PKG_VERSION").into() },
        started: time(begin_ns),
        elapsed_s,
        ended: told.ended,
        plan: None,
        seed: 0,
        dns: Vec::new(),
        environment: environment::environment(Vec::new()),
        warnings: Vec::new(),
        ratio: RatioResult { asked: None, sent: [sent(Family::Ipv6), sent(Family::Ipv4)] },
        families,
        total,
        intervals: gathered.intervals,
        generator: None,
        watched: Some(watched),
        calibration: None,
        truth: None,
        find_max: None,
        comparison,
        gates: Vec::new(),
    };
    result.warnings = warning::of_watched(&result, told.untimed, &told.lost);
    Ok(result)
}

fn figures(gathered: &Gathered, elapsed_s: f64) -> (Families, FamilyResult) {
    let figures = |tally: &FamilyTally, servers: &mut dyn Iterator<Item = &WatchedServer>| {
        let addresses = servers.map(|server| server.address).collect();
        family_result(tally, addresses, elapsed_s, false)
    };
    let of = |family: Family| {
        gathered.families.of(family).map(|_| {
            let servers = gathered.servers.iter();
            let mut own = servers.filter(|server| Family::of(server.address.ip()) == family);
            figures(&gathered.tally[family], &mut own)
        })
    };
    let PerFamily { ipv6, ipv4 } = &gathered.tally;
    let mut both = ipv6.clone();
    both += ipv4;
    let total = figures(&both, &mut gathered.servers.iter());
    (Families { ipv6: of(Family::Ipv6), ipv4: of(Family::Ipv4) }, total)
}

/// The families over the seconds of the capture, where both had exchanges for a second at least.
fn mixed(gathered: &Gathered) -> Option<Comparison> {
    let both = Family::BOTH.into_iter().all(|family| gathered.tally[family].completed() > 0);
    let sliced = &gathered.sliced;
    (both && !sliced.pairs.is_empty()).then(|| {
        let settings = Settings::usual(0);
        judge::compare(Kind::Mixed, ("ipv6", "ipv4"), &sliced.pairs, sliced.left_out, &settings)
    })
}

/// RFC 3339; a time that no calendar has is the last one of it.
fn time(ns: u64) -> String {
    // A u64 of nanoseconds ends in the year 2554.
    humantime::format_rfc3339_millis(UNIX_EPOCH + Duration::from_nanos(ns)).to_string()
}
