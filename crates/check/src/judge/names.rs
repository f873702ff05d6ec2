//! Findings about the name and its records.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use sixmark_names::message::name_record_type;
use sixmark_units::family::Family;

use super::delegation::judge_delegation;
use super::sides::{SitePair, list_once};
use crate::observed::{QueryEnd, QueryRecords, ResolverRecords};
use crate::site_finding::{FindingWeight, SiteCheck, SiteFinding, WhoMends};
use crate::special_address::{WELL_KNOWN_NAT64, embeds};

pub(super) fn judge_names(pair: &SitePair<'_>) -> Vec<SiteFinding> {
    let mut all = vec![
        judge_records(pair),
        judge_resolvers(pair),
        judge_delegation(pair),
        judge_kinds(pair),
        judge_dns64(pair),
        judge_hints(pair),
    ];
    all.push(judge_page_hosts(pair));
    all
}

fn dig(pair: &SitePair<'_>, kind: &str) -> String {
    let name = pair.observed.name.as_deref().unwrap_or_default();
    match pair.observed.resolvers.first() {
        Some(first) => format!("dig @{} {kind} {name}", first.resolver),
        None => format!("getent ahosts {name}"),
    }
}

fn judge_records(pair: &SitePair<'_>) -> SiteFinding {
    let check = SiteCheck::Records;
    if pair.observed.name.is_none() {
        return SiteFinding::not_tried(check, "the URL has an address, not a name");
    }
    let count = |family: Family| pair.sides[family].addresses.len();
    let counts = format!("{} of IPv6, {} of IPv4", count(Family::Ipv6), count(Family::Ipv4));
    let missing = Family::BOTH.into_iter().filter(|family| count(*family) == 0);
    match missing.collect::<Vec<_>>()[..] {
        [] => SiteFinding::same(check, counts),
        [family] => {
            let why = pair.observed.no_address.get(&family).map_or("no address", String::as_str);
            let kind = name_record_type(family);
            SiteFinding::differs(
                check,
                FindingWeight::Broken,
                WhoMends::Dns,
                format!("the name has no {kind} record: {why}"),
            )
            .shown_by(dig(pair, kind))
        }
        _ => {
            let why = list_once(pair.observed.no_address.values().cloned());
            SiteFinding::cant_tell(check, format!("the name has no address: {why}"))
                .shown_by(dig(pair, "AAAA"))
        }
    }
}

/// Compares what each resolver answers to the queries for both families.
fn judge_resolvers(pair: &SitePair<'_>) -> SiteFinding {
    let check = SiteCheck::Resolvers;
    let resolvers = &pair.observed.resolvers;
    if resolvers.is_empty() {
        return SiteFinding::not_tried(check, "the address does not come from DNS");
    }
    let wrong: Vec<String> = resolvers.iter().filter_map(describe_wrong_answer).collect();
    if !wrong.is_empty() {
        return SiteFinding::differs(check, FindingWeight::Worse, WhoMends::Dns, wrong.join("; "))
            .shown_by(dig(pair, "AAAA"));
    }
    let answered =
        |of: &&ResolverRecords| of.queries.iter().any(|query| query.end == QueryEnd::Answered);
    let asked: Vec<&ResolverRecords> = resolvers.iter().filter(answered).collect();
    if asked.is_empty() {
        let said = list_once(resolvers.iter().map(|of| of.resolver.clone()));
        return SiteFinding::cant_tell(check, format!("no resolver answered: {said}"));
    }
    let known = |of: &ResolverRecords, kind: &str| of.query(kind).is_some_and(has_records);
    for kind in ["AAAA", "A"] {
        let (with, without): (Vec<&ResolverRecords>, Vec<_>) =
            asked.iter().copied().partition(|of| known(of, kind));
        if let (Some(with), Some(without)) = (with.first(), without.first()) {
            let said =
                format!("{} has {kind} records, {} has none", with.resolver, without.resolver);
            let weight = FindingWeight::Worse;
            return SiteFinding::differs(check, weight, WhoMends::Dns, said).shown_by(format!(
                "dig @{} {kind} {}",
                without.resolver,
                name_of(pair)
            ));
        }
    }
    let silent = resolvers.len() - asked.len();
    let silent = if silent > 0 { format!(", {silent} did not answer") } else { String::new() };
    SiteFinding::same(check, format!("{} of {} answer alike{silent}", asked.len(), resolvers.len()))
}

fn name_of<'a>(pair: &SitePair<'a>) -> &'a str {
    pair.observed.name.as_deref().unwrap_or_default()
}

fn has_records(query: &QueryRecords) -> bool {
    !query.records.is_empty()
}

/// Describes a resolver that fails in the query for AAAA although it answers that for A, or the other
/// way round; `None` if it does not.
fn describe_wrong_answer(of: &ResolverRecords) -> Option<String> {
    let (aaaa, a) = (of.query("AAAA")?, of.query("A")?);
    let fails = QueryRecords::is_failure;
    let (wrong, right) = match (fails(aaaa) && has_records(a), fails(a) && has_records(aaaa)) {
        (true, _) => (aaaa, a),
        (_, true) => (a, aaaa),
        _ => return None,
    };
    Some(format!(
        "{}: {} for {}, although the name has {} records",
        of.resolver,
        wrong.describe(),
        wrong.kind,
        right.kind
    ))
}

/// Names addresses that are not of the public internet. A site that has no others is private, as one in a
/// laboratory: then both families are.
fn judge_kinds(pair: &SitePair<'_>) -> SiteFinding {
    let check = SiteCheck::AddressKinds;
    let addresses = &pair.observed.addresses;
    let special: Vec<String> = addresses
        .iter()
        .filter(|of| !is_synthesised(pair, of.address))
        .filter_map(|of| Some(format!("{} is {}", of.address, of.special.as_ref()?)))
        .collect();
    if addresses.is_empty() {
        return SiteFinding::not_tried(check, "no address is known");
    }
    let public = addresses.iter().filter(|of| of.special.is_none()).count();
    if special.is_empty() {
        return SiteFinding::same(check, "all are of the public internet");
    }
    if public == 0 {
        return SiteFinding::same(
            check,
            format!("none is of the public internet: {}", special.join(", ")),
        );
    }
    SiteFinding::differs(
        check,
        FindingWeight::Worse,
        WhoMends::Dns,
        format!("{}: most clients can't use it", special.join(", ")),
    )
    .shown_by(dig(pair, "AAAA"))
}

/// Returns true if an address was synthesised by DNS64.
fn is_synthesised(pair: &SitePair<'_>, address: IpAddr) -> bool {
    let IpAddr::V6(address) = address else { return false };
    let resolvers = pair.observed.resolvers.iter();
    let mut prefixes: Vec<Ipv6Addr> =
        resolvers.filter_map(|of| of.dns64_prefix.as_ref()?.parse().ok()).collect();
    prefixes.push(WELL_KNOWN_NAT64);
    let ipv4: Vec<Ipv4Addr> = pair
        .observed
        .resolvers
        .iter()
        .filter_map(|of| of.query("A"))
        .flat_map(|query| &query.records)
        .filter_map(|text| text.parse().ok())
        .chain(pair.sides[Family::Ipv4].addresses.iter().filter_map(|of| match of.address {
            IpAddr::V4(address) => Some(address),
            IpAddr::V6(_) => None,
        }))
        .collect();
    prefixes.iter().any(|prefix| ipv4.iter().any(|inner| embeds(*prefix, address, *inner)))
}

fn judge_dns64(pair: &SitePair<'_>) -> SiteFinding {
    let check = SiteCheck::Dns64;
    let of_ipv6 = &pair.sides[Family::Ipv6].addresses;
    let synthesised: Vec<String> = of_ipv6
        .iter()
        .filter(|of| is_synthesised(pair, of.address))
        .map(|of| of.address.to_string())
        .collect();
    if of_ipv6.is_empty() {
        return SiteFinding::not_tried(check, "no address of IPv6 is known");
    }
    if synthesised.is_empty() {
        return SiteFinding::same(check, "the addresses of IPv6 are the site’s own");
    }
    SiteFinding::differs(
        check,
        FindingWeight::Broken,
        WhoMends::Server,
        format!(
            "{}: this network’s resolver made it from the IPv4 address (DNS64); the site itself has no IPv6",
            synthesised.join(", ")
        ),
    )
    .shown_by("dig AAAA ipv4only.arpa")
}

fn judge_hints(pair: &SitePair<'_>) -> SiteFinding {
    let check = SiteCheck::HttpsHints;
    let resolvers = &pair.observed.resolvers;
    let records: Vec<&QueryRecords> =
        resolvers.iter().filter_map(|of| of.query("HTTPS")).filter(|q| has_records(q)).collect();
    if records.is_empty() {
        return SiteFinding::not_tried(check, "the name has no HTTPS record");
    }
    let hints: BTreeSet<IpAddr> = records.iter().flat_map(|of| of.hints.iter().copied()).collect();
    let answers = resolvers.iter().flat_map(|of| &of.queries).flat_map(|query| &query.records);
    let mut known: BTreeSet<IpAddr> = answers.filter_map(|text| text.parse().ok()).collect();
    known.extend(pair.observed.addresses.iter().map(|of| of.address));
    let stale: Vec<String> = hints.difference(&known).map(IpAddr::to_string).collect();
    if stale.is_empty() {
        return SiteFinding::same(check, format!("{} hints, all among the addresses", hints.len()));
    }
    SiteFinding::differs(
        check,
        FindingWeight::Worse,
        WhoMends::Dns,
        format!("hints that are not among the addresses: {}", stale.join(", ")),
    )
    .shown_by(dig(pair, "HTTPS"))
}

fn judge_page_hosts(pair: &SitePair<'_>) -> SiteFinding {
    let check = SiteCheck::PageHosts;
    let hosts = &pair.observed.page_hosts;
    if hosts.is_empty() {
        return SiteFinding::not_tried(check, "the page names no other host");
    }
    let lacking: Vec<String> = hosts
        .iter()
        .filter_map(|of| match of.families.as_deref() {
            Some([family]) => Some(format!("{} ({family} only)", of.host)),
            _ => None,
        })
        .collect();
    if lacking.is_empty() {
        return SiteFinding::same(check, format!("{} hosts", hosts.len()));
    }
    let first = lacking[0].split(' ').next().unwrap_or_default().to_owned();
    SiteFinding::differs(check, FindingWeight::Notice, WhoMends::Server, lacking.join(", "))
        .shown_by(format!("getent ahosts {first}"))
}
