//! Findings about what TCP shows of the path.

use std::collections::BTreeMap;

use sixmark_units::family::Family;

use super::sides::{SitePair, are_apart, list_values};
use crate::site_fetch::FetchTcp;
use crate::site_finding::{FindingWeight, SiteCheck, SiteFinding, WhoMends};

/// Fewer fetches with a retransmission may be chance.
const FEWEST_AGAIN: u32 = 3;
/// IPv6's header is so much longer than IPv4's, in bytes, so that its segments are shorter.
const HEADER_BYTES: u32 = 20;

pub(super) fn judge_path(pair: &SitePair<'_>) -> Vec<SiteFinding> {
    let checks = [
        (SiteCheck::TcpOptions, judge_options as fn(&SitePair<'_>) -> SiteFinding),
        (SiteCheck::SegmentSize, judge_segments),
        (SiteCheck::Retransmissions, judge_retransmissions),
    ];
    let judge = |(check, judge): (SiteCheck, fn(&SitePair<'_>) -> SiteFinding)| {
        if pair.has_both() {
            judge(pair)
        } else {
            SiteFinding::not_tried(check, "both families need a complete response")
        }
    };
    checks.into_iter().map(judge).collect()
}

/// Whether TCP agreed on an option.
type HasOption = fn(&FetchTcp) -> bool;

const OPTIONS: [(&str, HasOption); 5] = [
    ("SACK", |tcp| tcp.sack),
    ("timestamps", |tcp| tcp.timestamps),
    ("window scaling", |tcp| tcp.window_scaling),
    ("ECN", |tcp| tcp.ecn),
    ("ECN marks of packets", |tcp| tcp.ecn && tcp.ecn_seen),
];

/// Returns true if the first SYN may have been answered: a later one does not ask for ECN (RFC 3168,
/// 6.1.1.1).
fn is_first_syn(tcp: &FetchTcp) -> bool {
    tcp.retransmitted == 0
}

fn judge_options(pair: &SitePair<'_>) -> SiteFinding {
    let check = SiteCheck::TcpOptions;
    let mut apart = Vec::new();
    let mut agreed = Vec::new();
    for (name, of) in OPTIONS {
        let values = |family: Family| {
            pair.sides[family].values(|fetch| fetch.tcp.filter(is_first_syn).map(|tcp| of(&tcp)))
        };
        let [ipv6, ipv4] = Family::BOTH.map(values);
        if are_apart(&ipv6, &ipv4) {
            let with = if ipv6.contains_key(&true) { "IPv6" } else { "IPv4" };
            apart.push(format!("{name} over {with} only"));
        } else if ipv6.contains_key(&true) {
            agreed.push(name);
        }
    }
    if apart.is_empty() {
        let agreed = if agreed.is_empty() { "none".to_owned() } else { agreed.join(", ") };
        return SiteFinding::same(check, agreed);
    }
    // Without SACK or scaling a connection is slow as soon as segments are lost or the path is long.
    let weight = if apart.iter().all(|of| of.starts_with("ECN") || of.starts_with("timestamps")) {
        FindingWeight::Notice
    } else {
        FindingWeight::Worse
    };
    SiteFinding::differs(check, weight, WhoMends::Network, apart.join("; "))
        .shown_by("tcpdump -ni any 'tcp[tcpflags] & tcp-syn != 0 or ip6'")
}

/// Compares how many fetches needed a retransmission. Where most over one family do and none over the
/// other, that is not chance.
fn judge_retransmissions(pair: &SitePair<'_>) -> SiteFinding {
    let check = SiteCheck::Retransmissions;
    let counts = Family::BOTH.map(|family| {
        let fetches = pair.sides[family].complete().filter_map(|fetch| fetch.tcp);
        fetches
            .fold([0, 0], |[again, all], tcp| [again + u32::from(tcp.retransmitted > 0), all + 1])
    });
    let [[again6, all6], [again4, all4]] = counts;
    let said = format!("{again6} of {all6} fetches over IPv6, {again4} of {all4} over IPv4");
    let is_most = |[again, all]: [u32; 2]| again >= FEWEST_AGAIN && 2 * again > all;
    if !(is_most(counts[0]) && again4 == 0 || is_most(counts[1]) && again6 == 0) {
        return SiteFinding::same(check, said);
    }
    SiteFinding::differs(check, FindingWeight::Worse, WhoMends::Network, said)
        .shown_by(format!("tcpdump -ni any host {}", pair.url.server_name()))
}

fn judge_segments(pair: &SitePair<'_>) -> SiteFinding {
    let check = SiteCheck::SegmentSize;
    let sizes = |family: Family| pair.sides[family].values(|fetch| Some(fetch.tcp.as_ref()?.mss));
    let [ipv6, ipv4] = Family::BOTH.map(sizes);
    let said = format!("{} bytes over IPv6, {} over IPv4", list_values(&ipv6), list_values(&ipv4));
    let least = |of: &BTreeMap<u32, usize>| of.keys().next().copied().unwrap_or(0);
    let apart = least(&ipv6).abs_diff(least(&ipv4));
    // A window smaller than two segments bounds them too: they then vary within a family.
    let varies = ipv6.len() > 1 || ipv4.len() > 1;
    if varies || apart == 0 || apart == HEADER_BYTES {
        return SiteFinding::same(check, said);
    }
    SiteFinding::differs(check, FindingWeight::Notice, WhoMends::Network, said)
        .shown_by(format!("tracepath {}", pair.url.server_name()))
}
