//! Findings about packets that are too large for the path: whether they get lost over one family.

use sixmark_stats::{Count, fisher};
use sixmark_units::family::Family;

use super::sides::{MOST_P, SitePair, quoted};
use crate::observed::CheckedAddress;
use crate::path_probe::ProbeKind;
use crate::site_fetch::{FetchPhase, SiteFetch};
use crate::site_finding::{FindingWeight, SiteCheck, SiteFinding, WhoMends};

/// The header of IPv6 and that of TCP without options, in bytes.
const HEADERS_IPV6: u32 = 60;
/// The header of IPv4 and that of TCP without options, in bytes.
const HEADERS_IPV4: u32 = 40;
/// The timestamps in each segment, in bytes, if both sides have them.
const TIMESTAMPS: u32 = 12;
/// The MTU of Ethernet, in bytes: a smaller one of the route may have been learned.
const USUAL_MTU: u32 = 1_500;
/// The largest MTU of a network, in bytes: segments on loopback are limited by the window.
const LARGEST_FRAME: u32 = 9_216;
/// The fewest connections with small segments that stand for all of them.
const FEWEST_SMALL: usize = 4;

/// An address to or from which large packets get lost.
pub(super) struct LostLarge<'a> {
    pub(super) of: &'a CheckedAddress,
    how: LostHow,
}

/// Which packets get lost.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LostHow {
    /// All that TLS handshakes need.
    Handshakes,
    /// Those of responses.
    Responses,
    /// Those of requests.
    Requests,
    /// Those of some connections.
    SomeConnections { stalled: usize, all: usize, small: usize },
}

/// Returns the addresses to or from which large packets get lost.
pub(super) fn find_lost_large<'a>(pair: &SitePair<'a>) -> Vec<LostLarge<'a>> {
    let lost = |of: &'a CheckedAddress| {
        let how = lost_how(of).or_else(|| lost_partly(pair, of))?;
        Some(LostLarge { of, how })
    };
    pair.observed.addresses.iter().filter_map(lost).collect()
}

/// Returns what gets lost on all connections. The same fetch with small segments is the control.
fn lost_how(of: &CheckedAddress) -> Option<LostHow> {
    let completes = |kind: ProbeKind| of.probes_of(kind).any(SiteFetch::is_complete);
    let all_stalled =
        of.usual_fetches().count() > 1 && of.usual_fetches().all(SiteFetch::is_stalled);
    if all_stalled && completes(ProbeKind::SmallSegments) {
        let in_handshake = of.usual_fetches().all(|fetch| fetch.reached == FetchPhase::Tls);
        return Some(if in_handshake { LostHow::Handshakes } else { LostHow::Responses });
    }
    let requests: Vec<&SiteFetch> = of.probes_of(ProbeKind::LargeRequest).collect();
    let stalled = requests.len() > 1 && requests.iter().all(|fetch| fetch.is_stalled());
    let is_control = completes(ProbeKind::LargeRequestInSmallSegments);
    (stalled && is_control).then_some(LostHow::Requests)
}

/// Returns how many connections stall if that is neither chance nor so with small segments or over the
/// other family.
fn lost_partly(pair: &SitePair<'_>, of: &CheckedAddress) -> Option<LostHow> {
    let stalled = of.usual_fetches().filter(|fetch| fetch.is_stalled()).count();
    let all = of.usual_fetches().count();
    let small = of.probes_of(ProbeKind::SmallSegments).count();
    let small_complete = of.probes_of(ProbeKind::SmallSegments).filter(|of| of.is_complete());
    if stalled == 0 || small < FEWEST_SMALL || small_complete.count() < small {
        return None;
    }
    let others = &pair.sides[of.family.other()].addresses;
    let other_all: usize = others.iter().map(|of| of.usual_fetches().count()).sum();
    let is_stalled = |fetch: &&SiteFetch| fetch.is_stalled();
    let other_stalled: usize =
        others.iter().map(|of| of.usual_fetches().filter(is_stalled).count()).sum();
    let count = |part: usize, whole: usize| Count { part: part as u64, whole: whole as u64 };
    let mine = count(stalled, all);
    let is_apart = |other: Count| fisher(mine, other).is_ok_and(|p| p <= MOST_P);
    (is_apart(count(0, small)) && is_apart(count(other_stalled, other_all)))
        .then_some(LostHow::SomeConnections { stalled, all, small })
}

pub(super) fn judge_large_packets(pair: &SitePair<'_>) -> SiteFinding {
    let check = SiteCheck::LargePackets;
    let mut lost = find_lost_large(pair);
    let without: Vec<Family> =
        Family::BOTH.into_iter().filter(|family| !pair.sides[*family].is_served()).collect();
    if let [family] = without[..]
        && lost.iter().any(|of| of.of.family == family)
    {
        // What the other family loses beside that is less.
        lost.retain(|of| of.of.family == family);
    }
    let Some(first) = lost.first() else { return judge_unlost(pair) };
    let said: Vec<String> = lost.iter().map(describe).collect();
    let said = said.join("; ");
    let families = Family::BOTH.map(|family| lost.iter().any(|of| of.of.family == family));
    if families == [true; 2] {
        return SiteFinding::cant_tell(check, format!("{said}: so over both families"));
    }
    let weight = if without.contains(&first.of.family) {
        FindingWeight::Broken
    } else {
        FindingWeight::Worse
    };
    SiteFinding::differs(check, weight, WhoMends::Network, said).shown_by(command(pair, first))
}

fn describe(lost: &LostLarge<'_>) -> String {
    let address = lost.of.address;
    match lost.how {
        LostHow::Handshakes => format!(
            "{address}: TLS handshakes stall, with segments of 1,200 bytes they do not: a path-MTU black hole"
        ),
        LostHow::Responses => format!(
            "{address}: responses stall, with segments of 1,200 bytes they do not: a path-MTU black hole \
             from the server"
        ),
        LostHow::Requests => format!(
            "{address}: requests of 3,000 bytes stall, with segments of 1,200 bytes they do not: a path-MTU \
             black hole towards the server"
        ),
        LostHow::SomeConnections { stalled, all, small } => format!(
            "{address}: {stalled} of {all} connections stall, with segments of 1,200 bytes none of {small}: \
             Packet Too Big reaches the server for some connections only, as behind a balancer (RFC 7690)"
        ),
    }
}

fn command(pair: &SitePair<'_>, lost: &LostLarge<'_>) -> String {
    match lost.of.family {
        Family::Ipv6 => format!("tracepath -6 {}", quoted(pair.url.server_name())),
        Family::Ipv4 => format!("tracepath -4 {}", quoted(pair.url.server_name())),
    }
}

/// Judges paths on which no large packet got lost.
fn judge_unlost(pair: &SitePair<'_>) -> SiteFinding {
    let check = SiteCheck::LargePackets;
    let arrived = |family: Family| {
        let of = pair.sides[family].addresses.iter();
        of.flat_map(|of| of.probes_of(ProbeKind::LargeRequest)).any(SiteFetch::is_complete)
    };
    let [ipv6, ipv4] = Family::BOTH.map(arrived);
    if !pair.has_both() || !ipv6 && !ipv4 {
        let why = "both families need a complete response";
        return match pair.has_both() {
            false => SiteFinding::not_tried(check, why),
            true => SiteFinding::cant_tell(
                check,
                "requests of 3,000 bytes are not answered over either family",
            ),
        };
    }
    let limited = describe_limits(pair);
    match (ipv6, ipv4) {
        (true, true) => {
            SiteFinding::same(check, format!("requests of 3,000 bytes arrive over both{limited}"))
        }
        _ => {
            let over = if ipv6 { Family::Ipv6 } else { Family::Ipv4 };
            let said = format!("requests of 3,000 bytes arrive over {over} alone{limited}");
            SiteFinding::cant_tell(check, said)
        }
    }
}

/// Returns a clause about families whose segments are smaller than those of Ethernet or than this machine's
/// route allows, or nothing.
fn describe_limits(pair: &SitePair<'_>) -> String {
    let limit = |family: Family| {
        let (of, tcp) = pair.sides[family]
            .addresses
            .iter()
            .find_map(|of| Some((of, of.fetches.iter().find_map(|fetch| fetch.tcp)?)))?;
        let headers = if family == Family::Ipv6 { HEADERS_IPV6 } else { HEADERS_IPV4 };
        let timestamps = if tcp.timestamps { TIMESTAMPS } else { 0 };
        let (mss, mtu) = (tcp.mss, of.route_mtu.filter(|mtu| *mtu <= LARGEST_FRAME)?);
        (mss + headers + timestamps < mtu || mtu < USUAL_MTU).then(|| {
            format!(
                "; segments over {family} have at most {mss} bytes, so that TCP would not show every path-MTU \
                 black hole, and QUIC would"
            )
        })
    };
    Family::BOTH.into_iter().filter_map(limit).collect()
}
