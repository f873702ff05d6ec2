//! What each resolver answers about a name.

use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::thread;
use std::time::{Duration, Instant};

use hickory_proto::op::{Edns, Message, MessageType, OpCode, Query};
use hickory_proto::rr::rdata::svcb::SvcParamValue;
use hickory_proto::rr::{Name, RData, Record, RecordType};
use sixmark_names::message::describe_rcode;
use sixmark_names::transport::{exchange_datagrams, exchange_over_tcp};

use crate::observed::{QueryEnd, QueryRecords, ResolverRecords};

/// The name whose IPv6 addresses a DNS64 resolver synthesises (RFC 7050).
const IPV4_ONLY: &str = "ipv4only.arpa.";
/// How long a resolver has to answer.
const PATIENCE: Duration = Duration::from_secs(3);
/// The largest datagram that is asked for, in bytes: larger ones are fragmented (DNS flag day 2020).
const DATAGRAM: u16 = 1_232;
/// The most records of a response that are kept.
const MOST_RECORDS: usize = 50;

/// The queries about a name.
const KINDS: [(RecordType, &str); 3] =
    [(RecordType::A, "A"), (RecordType::AAAA, "AAAA"), (RecordType::HTTPS, "HTTPS")];

/// Asks a resolver about a name, all queries at the same time.
pub(super) fn ask_resolver(resolver: SocketAddr, name: &str) -> ResolverRecords {
    let absolute = format!("{}.", name.trim_end_matches('.'));
    let (queries, dns64) = thread::scope(|scope| {
        let absolute = &absolute;
        let asked = KINDS.map(|kind| scope.spawn(move || ask(resolver, absolute, kind)));
        let dns64 = scope.spawn(move || ask(resolver, IPV4_ONLY, KINDS[1]));
        let queries = asked.into_iter().filter_map(|asked| asked.join().ok()).collect();
        (queries, dns64.join().ok())
    });
    let shown = if resolver.port() == sixmark_names::ask::PORT {
        resolver.ip().to_string()
    } else {
        resolver.to_string()
    };
    ResolverRecords { resolver: shown, queries, dns64_prefix: dns64.and_then(|of| prefix_of(&of)) }
}

/// Returns the prefix of synthesised addresses: what precedes 192.0.0.170 or 192.0.0.171.
fn prefix_of(answer: &QueryRecords) -> Option<String> {
    let address = answer.records.iter().find_map(|text| text.parse::<Ipv6Addr>().ok())?;
    let mut octets = address.octets();
    octets[12..].fill(0);
    Some(Ipv6Addr::from(octets).to_string())
}

fn ask(resolver: SocketAddr, name: &str, (kind, kind_name): (RecordType, &str)) -> QueryRecords {
    let begin = Instant::now();
    let answer = exchange_with_resolver(resolver, name, kind);
    let took_ms = begin.elapsed().as_secs_f64() * 1e3;
    let none = |end| QueryRecords {
        kind: kind_name.to_owned(),
        end,
        rcode: None,
        records: Vec::new(),
        aliases: Vec::new(),
        hints: Vec::new(),
        ttl_s: None,
        took_ms,
    };
    match answer {
        Ok(Some(message)) => read_records(&message, kind, none(QueryEnd::Answered)),
        Ok(None) => none(QueryEnd::Silent),
        Err(_) => none(QueryEnd::Unreachable),
    }
}

/// Asks a resolver, which is to ask others. `None` if it does not answer in time.
///
/// # Errors
/// The name is none; the kernel's.
pub(super) fn exchange_with_resolver(
    resolver: SocketAddr,
    name: &str,
    kind: RecordType,
) -> io::Result<Option<Message>> {
    exchange(resolver, name, kind, true)
}

/// Asks a name server what it knows itself. `None` if it does not answer in time.
///
/// # Errors
/// The name is none; the kernel's.
pub(super) fn exchange_with_server(
    server: SocketAddr,
    name: &str,
    kind: RecordType,
) -> io::Result<Option<Message>> {
    exchange(server, name, kind, false)
}

fn exchange(
    at: SocketAddr,
    name: &str,
    kind: RecordType,
    is_recursive: bool,
) -> io::Result<Option<Message>> {
    let name = Name::from_ascii(name).map_err(io::Error::other)?;
    let id = RandomState::new().hash_one((&name, kind)) as u16;
    let mut query = Message::new(id, MessageType::Query, OpCode::Query);
    query.metadata.recursion_desired = is_recursive;
    query.add_query(Query::query(name.clone(), kind));
    let mut edns = Edns::new();
    edns.set_max_payload(DATAGRAM);
    query.edns = Some(edns);
    let bytes = query.to_vec().map_err(io::Error::other)?;
    let read = |message: &[u8]| {
        let found = Message::from_vec(message).ok()?;
        let is_answer = found.metadata.id == id
            && found.metadata.message_type == MessageType::Response
            && found.queries.iter().all(|of| *of.name() == name && of.query_type() == kind);
        is_answer.then_some(found)
    };
    match exchange_datagrams(at, &bytes, PATIENCE, read)? {
        Some(found) if found.metadata.truncation => {
            exchange_over_tcp(at, &bytes, PATIENCE, read).map(Some)
        }
        found => Ok(found),
    }
}

fn read_records(message: &Message, kind: RecordType, empty: QueryRecords) -> QueryRecords {
    let mut found = empty;
    found.rcode = Some(describe_rcode(u16::from(message.metadata.response_code) as u8));
    let answers = message.answers.iter().take(MOST_RECORDS);
    let is_of_kind = |record: &&Record| record.record_type() == kind;
    found.ttl_s = answers.clone().filter(is_of_kind).map(|record| record.ttl).min();
    for record in answers {
        match &record.data {
            RData::A(address) => found.records.push(address.0.to_string()),
            RData::AAAA(address) => found.records.push(address.0.to_string()),
            RData::CNAME(name) => found.aliases.push(name.0.to_string()),
            RData::HTTPS(service) => {
                found.records.push(service.0.to_string());
                // Hints of another target are addresses of that.
                let is_own =
                    service.0.target_name.is_root() || service.0.target_name == record.name;
                for (_, value) in &service.0.svc_params {
                    match value {
                        SvcParamValue::Ipv4Hint(hints) if is_own => {
                            found.hints.extend(hints.0.iter().map(|hint| IpAddr::V4(hint.0)));
                        }
                        SvcParamValue::Ipv6Hint(hints) if is_own => {
                            found.hints.extend(hints.0.iter().map(|hint| IpAddr::V6(hint.0)));
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    found
}
