//! Findings about the zones on the way to the name: can a resolver that has one family alone follow them?

use sixmark_units::family::Family;

use super::sides::SitePair;
use crate::site_finding::{FindingWeight, SiteCheck, SiteFinding, WhoMends};
use crate::zone_servers::{ServerAddress, ZoneAnswer, ZoneServers};

/// What was found of a zone over one family.
enum ZoneFault {
    /// No server has an address of the family.
    NoAddress,
    /// No server that was asked over the family answers, and one does over the other.
    NoAnswer(String),
    /// A server does not answer over the family, and another one does.
    SomeSilent(String),
}

pub(super) fn judge_delegation(pair: &SitePair<'_>) -> SiteFinding {
    let check = SiteCheck::Delegation;
    let zones = &pair.observed.zones;
    if zones.is_empty() {
        let why = if pair.observed.resolvers.is_empty() {
            "the address does not come from DNS"
        } else {
            "the resolver names no name servers"
        };
        return SiteFinding::not_tried(check, why);
    }
    let mut faults: Vec<(&ZoneServers, Family, ZoneFault)> = Vec::new();
    for zone in zones {
        for family in Family::BOTH {
            faults.extend(fault_of(zone, family, zones).map(|fault| (zone, family, fault)));
        }
    }
    let is_total = |of: &ZoneFault| !matches!(of, ZoneFault::SomeSilent(_));
    let weight = if faults.iter().any(|(_, _, fault)| is_total(fault)) {
        FindingWeight::Worse
    } else {
        FindingWeight::Notice
    };
    match faults.first() {
        Some((zone, family, fault)) => {
            let said: Vec<String> =
                faults.iter().map(|(zone, family, fault)| describe(zone, *family, fault)).collect();
            SiteFinding::differs(check, weight, WhoMends::Dns, said.join("; "))
                .shown_by(command(zone, *family, fault))
        }
        None => judge_unasked(check, zones),
    }
}

/// Returns what is wrong with a zone over a family, if it is not with the other; `None` if nothing is.
fn fault_of(zone: &ZoneServers, family: Family, zones: &[ZoneServers]) -> Option<ZoneFault> {
    let other = family.other();
    if zone.addresses(family).next().is_none() {
        let differs = zone.is_known(family) && zone.addresses(other).next().is_some();
        return differs.then_some(ZoneFault::NoAddress);
    }
    let answers = |of: &&ServerAddress| of.end == Some(ZoneAnswer::Answered);
    let fails = |of: &&ServerAddress| of.end.is_some_and(|end| end != ZoneAnswer::Answered);
    let failing: Vec<&ServerAddress> = zone.addresses(family).filter(fails).collect();
    let of_other = zone.addresses(other).any(|of| answers(&of));
    // If no server of any zone answers over a family, that is more likely the path from here.
    if failing.is_empty() || !of_other || !is_any_answered(zones, family) {
        return None;
    }
    if zone.addresses(family).any(|of| answers(&of)) {
        // A server that fails over both families is no difference between them.
        let apart = failing.into_iter().filter(|of| answers_over(zone, of, other));
        let apart: Vec<String> = apart.map(describe_server).collect();
        return (!apart.is_empty()).then(|| ZoneFault::SomeSilent(apart.join(", ")));
    }
    let said: Vec<String> = failing.into_iter().map(describe_server).collect();
    let said = said.join(", ");
    // Others that were not asked may answer.
    let is_all = zone.addresses(family).all(|of| of.end.is_some());
    Some(if is_all { ZoneFault::NoAnswer(said) } else { ZoneFault::SomeSilent(said) })
}

/// Returns true if a name server of any zone answered over a family.
pub(super) fn is_any_answered(zones: &[ZoneServers], family: Family) -> bool {
    let mut all = zones.iter().flat_map(|of| of.addresses(family));
    all.any(|of| of.end == Some(ZoneAnswer::Answered))
}

/// Returns true if name servers were asked over a family, and none answered, as if the network from here did
/// not carry it.
pub(super) fn is_cut_off(zones: &[ZoneServers], family: Family) -> bool {
    let is_asked = zones.iter().flat_map(|of| of.addresses(family)).any(|of| of.end.is_some());
    is_asked && !is_any_answered(zones, family) && is_any_answered(zones, family.other())
}

/// Returns true if the server that has an address answers over another family.
fn answers_over(zone: &ZoneServers, of: &ServerAddress, other: Family) -> bool {
    let servers = zone.servers.iter().filter(|server| server.addresses.contains(of));
    servers.flat_map(|server| &server.addresses).any(|address| {
        Family::of(address.address) == other && address.end == Some(ZoneAnswer::Answered)
    })
}

fn describe_server(of: &ServerAddress) -> String {
    format!("{}: {}", of.address, of.end.map_or("not asked", ZoneAnswer::phrase))
}

fn describe(zone: &ZoneServers, family: Family, fault: &ZoneFault) -> String {
    let name = &zone.zone;
    match fault {
        ZoneFault::NoAddress => format!(
            "no name server of {name} has an address of {family}, so that resolvers of {family} alone \
             can't look the name up"
        ),
        ZoneFault::NoAnswer(said) => format!(
            "no name server of {name} answers over {family} ({said}), so that resolvers \
             of {family} alone can't look the name up"
        ),
        ZoneFault::SomeSilent(said) => {
            format!("name servers of {name} that fail over {family}: {said}")
        }
    }
}

fn command(zone: &ZoneServers, family: Family, fault: &ZoneFault) -> String {
    let name = &zone.zone;
    match fault {
        ZoneFault::NoAddress => format!("dig NS {name}"),
        _ => {
            let fails = |of: &&ServerAddress| of.end.is_some_and(|end| end != ZoneAnswer::Answered);
            let apart = |of: &&ServerAddress| fails(of) && answers_over(zone, of, family.other());
            let failing = zone.addresses(family).find(apart);
            let failing = failing.or_else(|| zone.addresses(family).find(fails));
            let at = failing.map_or(String::new(), |of| of.address.to_string());
            format!("dig +norecurse @{at} SOA {name}")
        }
    }
}

/// Judges zones without a fault: they are alike if each is known to be served over both families.
fn judge_unasked(check: SiteCheck, zones: &[ZoneServers]) -> SiteFinding {
    let answers = |zone: &ZoneServers, family: Family| {
        zone.addresses(family).any(|of| of.end == Some(ZoneAnswer::Answered))
    };
    let is_served = |zone: &&ZoneServers| Family::BOTH.into_iter().all(|of| answers(zone, of));
    let names = |zones: Vec<&ZoneServers>| {
        zones.into_iter().map(|of| of.zone.as_str()).collect::<Vec<_>>().join(", ")
    };
    let (served, others): (Vec<_>, Vec<_>) = zones.iter().partition(is_served);
    if others.is_empty() {
        return SiteFinding::same(check, format!("served over both families: {}", names(served)));
    }
    SiteFinding::cant_tell(
        check,
        format!(
            "zones of which no server gave an answer over one of the families: {}",
            names(others)
        ),
    )
}
