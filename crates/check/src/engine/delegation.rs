//! Which name servers the zones on the way to a name have, and whether these answer over each family.
//!
//! A resolver that has IPv6 alone needs, for each zone, a server that answers over IPv6 (RFC 3901).

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::thread;
use std::time::{Duration, Instant};

use hickory_proto::op::{Message, ResponseCode};
use hickory_proto::rr::{Name, RData, RecordType};
use sixmark_names::ask::PORT;
use sixmark_sys::route::way_to;
use sixmark_units::family::Family;

use super::resolver::{exchange_with_resolver, exchange_with_server};
use crate::observed::ResolverRecords;
use crate::special_address::{WELL_KNOWN_NAT64, describe_special, embeds};
use crate::zone_servers::{ServerAddress, ZoneAnswer, ZoneServer, ZoneServers};

/// The most names above a site's that are asked for name servers.
const MOST_ZONES: usize = 16;
/// The most name servers of a zone that are looked up. The root and large zones have 13.
const MOST_SERVERS: usize = 13;
/// The most addresses of a name server and family that are kept.
const MOST_OF_SERVER: usize = 3;
/// The most name servers of each zone that are asked over each family.
const MOST_ASKED: usize = 4;
/// How long everything may take: what is not known then stays unknown.
const LIMIT: Duration = Duration::from_secs(5);
/// The most queries at the same time.
const AT_ONCE: usize = 16;

/// Finds the zones on the way to a name through a resolver, and asks their servers. Empty if the
/// resolver does not answer such queries.
pub(super) fn find_zones(
    resolver: SocketAddr,
    name: &str,
    of: &ResolverRecords,
) -> Vec<ZoneServers> {
    let until = Instant::now() + LIMIT;
    let found = each_at_once(&names_above(name, of), until, |name| name_servers(resolver, name));
    let mut zones: Vec<ZoneServers> = found.into_iter().flatten().flatten().collect();
    let names: BTreeSet<String> =
        zones.iter().flat_map(|of| of.servers.iter().map(|of| of.name.clone())).collect();
    let names: Vec<String> = names.into_iter().collect();
    let looked_up = each_at_once(&names, until, |name| addresses_of(resolver, name, of));
    let known: BTreeMap<String, ZoneServer> =
        looked_up.into_iter().flatten().map(|of| (of.name.clone(), of)).collect();
    for server in zones.iter_mut().flat_map(|of| &mut of.servers) {
        if let Some(known) = known.get(&server.name) {
            *server = known.clone();
        }
    }
    ask_servers(&mut zones, is_private(of), until);
    zones
}

/// Returns the results of `work` for each item, in order, a few at a time; `None` for those for which no
/// time is left.
fn each_at_once<I: Sync, T: Send>(
    items: &[I],
    until: Instant,
    work: impl Fn(&I) -> T + Sync,
) -> Vec<Option<T>> {
    let mut all = Vec::with_capacity(items.len());
    for some in items.chunks(AT_ONCE) {
        if Instant::now() >= until {
            break;
        }
        thread::scope(|scope| {
            let work = &work;
            let begun: Vec<_> = some.iter().map(|item| scope.spawn(move || work(item))).collect();
            all.extend(begun.into_iter().map(|of| of.join().ok()));
        });
    }
    all.resize_with(items.len(), || None);
    all
}

/// Returns true if all addresses of the site are of private networks. Only then are name servers with such
/// addresses asked: a zone's owner chooses them.
fn is_private(of: &ResolverRecords) -> bool {
    let records = of.queries.iter().flat_map(|query| &query.records);
    let mut addresses = records.filter_map(|text| text.parse::<IpAddr>().ok()).peekable();
    addresses.peek().is_some() && addresses.all(|address| describe_special(address).is_some())
}

/// Returns a name, that to which its aliases lead, and all names above them but the root.
fn names_above(name: &str, of: &ResolverRecords) -> Vec<String> {
    let aliases = of.queries.iter().flat_map(|query| &query.aliases).map(String::as_str);
    let mut names: Vec<String> = Vec::new();
    for from in aliases.chain([name]) {
        let from = from.trim_end_matches('.').to_ascii_lowercase();
        let starts = [0].into_iter().chain(from.match_indices('.').map(|(at, _)| at + 1));
        for above in starts.map(|at| &from[at..]).filter(|above| !above.is_empty()) {
            if !names.iter().any(|of| of == above) {
                names.push(above.to_owned());
            }
        }
    }
    // Those nearest to the root are of the most names.
    names.sort_by_key(|name| name.matches('.').count());
    names.truncate(MOST_ZONES);
    names
}

/// Returns the zone of a name with the names of its servers; `None` if it is no zone.
fn name_servers(resolver: SocketAddr, name: &str) -> Option<ZoneServers> {
    let answer = exchange_with_resolver(resolver, &format!("{name}."), RecordType::NS).ok()??;
    let mut names: Vec<String> = answer
        .answers
        .iter()
        .filter(|record| is_name(&record.name, name))
        .filter_map(|record| match &record.data {
            RData::NS(server) => Some(shown(&server.0)),
            _ => None,
        })
        .collect();
    names.sort();
    names.dedup();
    names.truncate(MOST_SERVERS);
    let server = |name| ZoneServer { name, addresses: Vec::new(), unknown: Family::BOTH.to_vec() };
    let servers: Vec<ZoneServer> = names.into_iter().map(server).collect();
    (!servers.is_empty()).then(|| ZoneServers { zone: name.to_owned(), servers })
}

fn is_name(found: &Name, name: &str) -> bool {
    shown(found) == name
}

/// Returns a name in lower case, without the final dot.
fn shown(name: &Name) -> String {
    name.to_ascii().trim_end_matches('.').to_ascii_lowercase()
}

/// Looks a name server up. Addresses that the resolver makes (DNS64) are not its own.
fn addresses_of(resolver: SocketAddr, name: &str, of: &ResolverRecords) -> ZoneServer {
    let mut server =
        ZoneServer { name: name.to_owned(), addresses: Vec::new(), unknown: Vec::new() };
    for (family, kind) in [(Family::Ipv6, RecordType::AAAA), (Family::Ipv4, RecordType::A)] {
        match exchange_with_resolver(resolver, &format!("{name}."), kind) {
            Ok(Some(answer)) if answer.metadata.response_code == ResponseCode::NoError => {
                let addresses = answer.answers.iter().filter_map(|record| match &record.data {
                    RData::A(address) => Some(IpAddr::V4(address.0)),
                    RData::AAAA(address) => Some(IpAddr::V6(address.0)),
                    _ => None,
                });
                let known = addresses.map(|address| ServerAddress { address, end: None });
                server.addresses.extend(known.take(MOST_OF_SERVER));
            }
            _ => server.unknown.push(family),
        }
    }
    let of_resolver = of.dns64_prefix.as_ref().and_then(|prefix| prefix.parse().ok());
    let prefixes: Vec<Ipv6Addr> = of_resolver.into_iter().chain([WELL_KNOWN_NAT64]).collect();
    let ipv4: Vec<Ipv4Addr> = server
        .addresses
        .iter()
        .filter_map(|of| match of.address {
            IpAddr::V4(address) => Some(address),
            IpAddr::V6(_) => None,
        })
        .collect();
    server.addresses.retain(|of| match of.address {
        IpAddr::V6(address) => {
            !prefixes.iter().any(|prefix| ipv4.iter().any(|inner| embeds(*prefix, address, *inner)))
        }
        IpAddr::V4(_) => true,
    });
    server
}

/// Asks a few servers of each zone, over each family, for the zone's SOA record: first one address of each
/// server.
fn ask_servers(zones: &mut [ZoneServers], is_private: bool, until: Instant) {
    // What this machine has no route to is not the server's fault.
    let may_ask = |address: IpAddr| {
        (is_private || describe_special(address).is_none())
            && way_to(SocketAddr::new(address, PORT)).is_ok()
    };
    let mut asked: Vec<(usize, String, IpAddr)> = Vec::new();
    for (at, of) in zones.iter().enumerate() {
        for family in Family::BOTH {
            let some = in_turn(of, family).into_iter().filter(|address| may_ask(*address));
            asked.extend(some.take(MOST_ASKED).map(|address| (at, of.zone.clone(), address)));
        }
    }
    let ends = each_at_once(&asked, until, |(_, zone, address)| ask_server(*address, zone));
    for ((at, _, address), end) in asked.into_iter().zip(ends) {
        let all = zones[at].servers.iter_mut().flat_map(|of| &mut of.addresses);
        all.filter(|of| of.address == address).for_each(|of| of.end = end);
    }
}

/// Returns the addresses of a zone's servers of a family, each once: the first of each server, then the
/// second.
fn in_turn(of: &ZoneServers, family: Family) -> Vec<IpAddr> {
    let mut addresses: Vec<IpAddr> = Vec::new();
    for turn in 0..MOST_OF_SERVER {
        for server in &of.servers {
            let mut of_family =
                server.addresses.iter().map(|of| of.address).filter(|of| Family::of(*of) == family);
            if let Some(address) = of_family.nth(turn)
                && !addresses.contains(&address)
            {
                addresses.push(address);
            }
        }
    }
    addresses
}

fn ask_server(address: IpAddr, zone: &str) -> ZoneAnswer {
    let at = SocketAddr::new(address, PORT);
    match exchange_with_server(at, &format!("{zone}."), RecordType::SOA) {
        Ok(Some(answer)) if is_served(&answer) => ZoneAnswer::Answered,
        Ok(Some(_)) => ZoneAnswer::Lame,
        Ok(None) => ZoneAnswer::Silent,
        Err(_) => ZoneAnswer::Unreachable,
    }
}

/// Returns true if a server answered with authority.
fn is_served(answer: &Message) -> bool {
    answer.metadata.authoritative && answer.metadata.response_code == ResponseCode::NoError
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observed::{QueryEnd, QueryRecords};

    #[test]
    fn walks_up_from_a_name_and_from_its_alias() {
        let query = QueryRecords {
            kind: "A".into(),
            end: QueryEnd::Answered,
            rcode: Some("NOERROR".into()),
            records: Vec::new(),
            aliases: vec!["edge.cdn.example.".into()],
            hints: Vec::new(),
            ttl_s: None,
            took_ms: 1.0,
        };
        let of =
            ResolverRecords { resolver: "::1".into(), queries: vec![query], dns64_prefix: None };
        let names = names_above("WWW.example.net", &of);
        assert_eq!(
            names,
            ["example", "net", "cdn.example", "example.net", "edge.cdn.example", "www.example.net"]
        );
    }
}
