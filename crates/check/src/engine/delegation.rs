//! Which name servers the zones on the way to a name have, and whether these answer over each family.
//!
//! A resolver that has IPv6 alone needs, for each zone, a server that answers over IPv6 (RFC 3901).

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::thread;

use hickory_proto::op::{Message, ResponseCode};
use hickory_proto::rr::{Name, RData, RecordType};
use sixmark_names::ask::PORT;
use sixmark_sys::route::way_to;
use sixmark_units::family::Family;

use super::resolver::{exchange_with_resolver, exchange_with_server};
use crate::observed::ResolverRecords;
use crate::zone_servers::{ServerAddress, ZoneAnswer, ZoneServer, ZoneServers};

/// The most names above a site's that are asked for name servers.
const MOST_ZONES: usize = 8;
/// The most name servers of a zone that are looked up. The root and large zones have 13.
const MOST_SERVERS: usize = 13;
/// The most addresses of each family and zone that are asked.
const MOST_ASKED: usize = 3;
/// The most queries at the same time.
const AT_ONCE: usize = 16;

/// Finds the zones on the way to a name through a resolver, and asks their servers. Empty if the
/// resolver does not answer such queries.
pub(super) fn find_zones(
    resolver: SocketAddr,
    name: &str,
    of: &ResolverRecords,
) -> Vec<ZoneServers> {
    let found = each_at_once(&names_above(name, of), |name| name_servers(resolver, name));
    let mut zones: Vec<ZoneServers> = found.into_iter().flatten().collect();
    let names: Vec<String> =
        zones.iter().flat_map(|of| of.servers.iter().map(|of| of.name.clone())).collect();
    let looked_up = each_at_once(&names, |name| addresses_of(resolver, name));
    let known: BTreeMap<String, ZoneServer> =
        looked_up.into_iter().map(|of| (of.name.clone(), of)).collect();
    for server in zones.iter_mut().flat_map(|of| &mut of.servers) {
        if let Some(known) = known.get(&server.name) {
            *server = known.clone();
        }
    }
    ask_servers(&mut zones);
    zones
}

/// Returns the results of `work` for each item, in order, a few at a time.
fn each_at_once<I: Sync, T: Send>(items: &[I], work: impl Fn(&I) -> T + Sync) -> Vec<T> {
    let mut all = Vec::with_capacity(items.len());
    for some in items.chunks(AT_ONCE) {
        thread::scope(|scope| {
            let work = &work;
            let begun: Vec<_> = some.iter().map(|item| scope.spawn(move || work(item))).collect();
            all.extend(begun.into_iter().filter_map(|of| of.join().ok()));
        });
    }
    all
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

/// Looks a name server up.
fn addresses_of(resolver: SocketAddr, name: &str) -> ZoneServer {
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
                server.addresses.extend(known.take(MOST_ASKED));
            }
            _ => server.unknown.push(family),
        }
    }
    server
}

/// Asks a few servers of each zone, over each family, for the zone's SOA record.
fn ask_servers(zones: &mut [ZoneServers]) {
    let mut asked: Vec<(usize, String, IpAddr)> = Vec::new();
    for (at, of) in zones.iter().enumerate() {
        for family in Family::BOTH {
            // What this machine has no route to is not the server's fault.
            let has_route =
                |known: &&ServerAddress| way_to(SocketAddr::new(known.address, PORT)).is_ok();
            let some = of.addresses(family).filter(has_route).take(MOST_ASKED);
            asked.extend(some.map(|known| (at, of.zone.clone(), known.address)));
        }
    }
    let ends = each_at_once(&asked, |(_, zone, address)| ask_server(*address, zone));
    for ((at, _, address), end) in asked.into_iter().zip(ends) {
        let all = zones[at].servers.iter_mut().flat_map(|of| &mut of.addresses);
        all.filter(|of| of.address == address).for_each(|of| of.end = Some(end));
    }
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
