//! Assembles the result of a watch.

use std::collections::BTreeMap;
use std::time::{Duration, UNIX_EPOCH};

use crate::watch_result::{SCHEMA, WatchResult};
use crate::{CollectedTraffic, PacketSource, Watched, WatchedServer};
use sixmark_document::provenance::{Ended, Tool};
use sixmark_tally::counted::family_result;
use sixmark_tally::family_result::{Families, FamilyResult};
use sixmark_tally::tally::FamilyTally;
use sixmark_units::family::{Family, PerFamily};
use sixmark_wire::Unread;
use sixmark_wire::flow::Counts;

use super::capture_state::CaptureState;
use crate::warnings::of_watched;
use sixmark_document::environment;
use sixmark_document::provenance::file_incomplete;

/// What is known about a capture besides its packets.
pub(super) struct CaptureFacts {
    pub(super) ended: Ended,
    /// The time at which it ended, by its clock.
    pub(super) end_ns: u64,
    pub(super) clock_went_back: u64,
    /// Packets without a timestamp.
    pub(super) untimed: u64,
    pub(super) sources: Vec<PacketSource>,
    /// Interfaces that disappeared, and why.
    pub(super) lost: Vec<String>,
    /// Files that could not be written to their end, and why.
    pub(super) lost_files: Vec<String>,
}

/// Assembles the result.
pub(super) fn assemble(state: CaptureState, facts: CaptureFacts) -> WatchResult {
    let end_ns = facts.end_ns.max(state.last_ns);
    let begin_ns = state.begin_ns.unwrap_or(end_ns);
    let begun = before(&state, &facts);
    let (ended, untimed, lost) = (facts.ended, facts.untimed, facts.lost);
    let (collector, counts, last) = state.finish();
    let lost_files = [facts.lost_files, last].concat();
    let collected = collector.finish(end_ns, &counts);
    let elapsed_s = end_ns.saturating_sub(begin_ns) as f64 / 1e9;
    let (families, total) = figures_of_families(&collected, elapsed_s);
    let mut result = WatchResult {
        schema: SCHEMA.to_owned(),
        tool: Tool::of_this_program(),
        started: rfc3339(begin_ns),
        elapsed_s,
        ended,
        environment: environment::environment(Vec::new()),
        warnings: Vec::new(),
        families,
        total,
        intervals: collected.intervals,
        watched: Watched {
            followed: counts.followed,
            not_followed: not_followed(&counts, begun.unreadable),
            cut: counts.unread.of(Unread::Cut),
            malformed: counts.unread.of(Unread::Malformed),
            evicted: counts.evicted,
            families: collected.families,
            servers: collected.servers,
            servers_left_out: collected.servers_left_out,
            ..begun
        },
        gates: Vec::new(),
    };
    let files = lost_files.iter().map(|why| file_incomplete(why));
    result.warnings = files.chain(of_watched(&result, untimed, &lost)).collect();
    result
}

/// Returns what is known before the remaining connections are reported.
fn before(state: &CaptureState, facts: &CaptureFacts) -> Watched {
    let dropped = facts.sources.iter().filter_map(|source| source.dropped);
    Watched {
        sources: facts.sources.clone(),
        ports: state.ports.clone(),
        packets: state.packets,
        frame_bytes: state.frame_bytes,
        followed: 0,
        not_followed: BTreeMap::new(),
        dropped: dropped.reduce(u64::saturating_add),
        cut: 0,
        malformed: 0,
        unreadable: state.unreadable,
        clock_went_back: facts.clock_went_back,
        first: state.first_ns.map(rfc3339),
        last: state.first_ns.map(|_| rfc3339(state.last_ns)),
        evicted: 0,
        families: Families { ipv6: None, ipv4: None },
        servers: Vec::new(),
        servers_left_out: 0,
    }
}

/// Returns the packets of no followed connection by the names of their kinds. `unreadable` packets
/// are of an unsupported link type.
fn not_followed(counts: &Counts, unreadable: u64) -> BTreeMap<String, u64> {
    let kinds = counts.unread.iter().chain([(Unread::Link, unreadable)]);
    let kinds = kinds.filter(|(_, packets)| *packets > 0);
    kinds.map(|(kind, packets)| (kind.to_string(), packets)).collect()
}

/// Returns the figures of each observed family, and of both together.
fn figures_of_families(collected: &CollectedTraffic, elapsed_s: f64) -> (Families, FamilyResult) {
    let figures = |tally: &FamilyTally, servers: &mut dyn Iterator<Item = &WatchedServer>| {
        let addresses = servers.map(|server| server.address).collect();
        family_result(tally, addresses, elapsed_s, false)
    };
    let of = |family: Family| {
        collected.families.of(family).map(|_| {
            let servers = collected.servers.iter();
            let mut own = servers.filter(|server| Family::of(server.address.ip()) == family);
            figures(&collected.tally[family], &mut own)
        })
    };
    let PerFamily { ipv6, ipv4 } = &collected.tally;
    let mut both = ipv6.clone();
    both += ipv4;
    let total = figures(&both, &mut collected.servers.iter());
    (Families { ipv6: of(Family::Ipv6), ipv4: of(Family::Ipv4) }, total)
}

/// Formats a time as RFC 3339.
fn rfc3339(ns: u64) -> String {
    // Nanoseconds in a u64 reach to the year 2554, so every value has a date.
    humantime::format_rfc3339_millis(UNIX_EPOCH + Duration::from_nanos(ns)).to_string()
}
