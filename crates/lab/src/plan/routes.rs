//! Static routes along the shortest paths.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::IpAddr;

use super::link::LabNode;
use super::segment::segments;
use super::{Lab, LabHost, tayga};
use sixmark_units::family::Family;
use sixmark_units::net::Net;

/// A route of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostRoute {
    /// The destination network.
    pub to: Net,
    /// The address of the next router.
    pub via: IpAddr,
    /// The index of the next router.
    pub router: usize,
}

/// Returns the shortest routes from a host to all networks of a family that it is not in, in the
/// order of networks.
pub fn ways(lab: &Lab, from: usize, family: Family) -> Vec<HostRoute> {
    let map = RouteMap::of(lab, family);
    let first = map.first_hops(lab, from);
    let own: BTreeSet<Net> = map.at.get(&from).into_iter().flatten().copied().collect();
    let mut found = BTreeMap::new();
    // Hosts are sorted by distance, so the first host with a network is the nearest.
    for (host, hop) in &first {
        for net in map.at.get(host).into_iter().flatten().filter(|net| !own.contains(net)) {
            found.entry(*net).or_insert(*hop);
        }
    }
    found.into_iter().map(|(to, (via, router))| HostRoute { to, via, router }).collect()
}

/// Returns the static routes of a host. A host that does not forward gets a single default route if
/// all routes have the same next router. A BGP speaker gets only the routes through routers without
/// BGP.
pub fn routes(lab: &Lab, host: usize, family: Family) -> Vec<HostRoute> {
    let mut ways = ways(lab, host, family);
    let Some(of) = lab.hosts.get(host) else { return Vec::new() };
    if of.bgp.is_some() {
        ways.retain(|way| lab.hosts.get(way.router).is_none_or(|next| next.bgp.is_none()));
        return ways;
    }
    match ways.first().copied() {
        Some(first) if !of.forwards && ways.iter().all(|way| way.via == first.via) => {
            vec![HostRoute { to: Net::default_of(family), ..first }]
        }
        _ => ways,
    }
}

/// The neighbours and networks of all hosts, for one family.
struct RouteMap {
    /// The neighbours of each host, with their addresses.
    next: BTreeMap<usize, Vec<(usize, IpAddr)>>,
    /// The networks that a host is in, and those that it translates.
    at: BTreeMap<usize, Vec<Net>>,
}

impl RouteMap {
    fn of(lab: &Lab, family: Family) -> RouteMap {
        let mut map = RouteMap { next: BTreeMap::new(), at: BTreeMap::new() };
        for segment in segments(&lab.links) {
            let ends = segment.ends.iter().filter_map(|&(link, end)| {
                let end = &lab.links.get(link)?.ends[end];
                let LabNode::Host(host) = end.node else { return None };
                let net = end.addresses.iter().find(|net| net.family() == family)?;
                Some((host, *net))
            });
            let ends: Vec<(usize, Net)> = ends.collect();
            for &(host, net) in &ends {
                map.at.entry(host).or_default().push(net.prefix());
                let others = ends.iter().filter(|(other, _)| *other != host);
                let others = others.filter(|(_, other)| net.holds(other.address));
                let others = others.map(|&(other, net)| (other, net.address));
                map.next.entry(host).or_default().extend(others);
            }
        }
        for (number, host) in lab.hosts.iter().enumerate() {
            map.at.entry(number).or_default().extend(translated(host, family));
        }
        map
    }

    /// Returns the routers that can be reached, the nearest first, with the first router on the
    /// path to each.
    fn first_hops(&self, lab: &Lab, from: usize) -> Vec<(usize, (IpAddr, usize))> {
        let mut seen = BTreeSet::from([from]);
        let mut left: VecDeque<(usize, Option<(IpAddr, usize)>)> = VecDeque::from([(from, None)]);
        let mut found = Vec::new();
        while let Some((host, hop)) = left.pop_front() {
            if let Some(hop) = hop {
                // A host that does not forward is not on any path.
                if !lab.hosts.get(host).is_some_and(|host| host.forwards) {
                    continue;
                }
                found.push((host, hop));
            }
            for &(next, address) in self.next.get(&host).into_iter().flatten() {
                if seen.insert(next) {
                    left.push_back((next, Some(hop.unwrap_or((address, next)))));
                }
            }
        }
        found
    }
}

/// Returns the networks that a host represents as a translator.
pub(super) fn translated(host: &LabHost, family: Family) -> Vec<Net> {
    let of_nat64 = host.nat64.iter().flat_map(tayga::networks);
    let of_clat = host.clat.iter().map(|clat| clat.own);
    // All of IPv4 is behind the CLAT of a router.
    let of_others = host.is_clat_of_others().then(|| Net::default_of(Family::Ipv4));
    of_nat64.chain(of_clat).chain(of_others).filter(|net| net.family() == family).collect()
}
