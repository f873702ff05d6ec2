use hickory_proto::op::{OpCode, Query};
use hickory_proto::rr::{Name, Record};

use super::*;

const OWN: &str = "2001:db8:1::50";
const SITE: &str = "2001:db8:2::50";
const NAMES: &str = "2001:db8:1::fe";

const SYN: u8 = 2;
const RST: u8 = 4;
const ACK: u8 = 16;

fn reader() -> WireReader {
    WireReader::new(ObservedHost {
        addresses: vec![OWN.parse().unwrap()],
        clat: Some(crate::scenario_lab::CLAT),
        nat64: crate::scenario_lab::NAT64,
        content_bytes: 3,
    })
}

/// Returns an Ethernet frame with a packet of IPv6.
fn frame(from: &str, to: &str, protocol: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![2; 12];
    frame.extend([0x86, 0xdd, 0x60, 0, 0, 0]);
    frame.extend((payload.len() as u16).to_be_bytes());
    frame.extend([protocol, 64]);
    for address in [from, to] {
        frame.extend(address.parse::<Ipv6Addr>().unwrap().octets());
    }
    frame.extend(payload);
    frame
}

fn tcp(from: u16, to: u16, flags: u8, data: &[u8]) -> Vec<u8> {
    let mut segment = [from.to_be_bytes(), to.to_be_bytes()].concat();
    segment.extend([0, 0, 0, 1, 0, 0, 0, 1, 0x50, flags, 0xff, 0xff, 0, 0, 0, 0]);
    segment.extend(data);
    segment
}

fn udp(from: u16, to: u16, data: &[u8]) -> Vec<u8> {
    let mut datagram = [from.to_be_bytes(), to.to_be_bytes()].concat();
    datagram.extend((8 + data.len() as u16).to_be_bytes());
    datagram.extend([0, 0]);
    datagram.extend(data);
    datagram
}

fn dns(kind: MessageType, answer: Option<&str>) -> Vec<u8> {
    let mut message = Message::new(7, kind, OpCode::Query);
    let name = Name::from_ascii("WWW.test.").unwrap();
    message.add_query(Query::query(name.clone(), RecordType::AAAA));
    let data = answer.map(|of| RData::AAAA(of.parse::<Ipv6Addr>().unwrap().into()));
    if let Some(data) = data {
        message.add_answer(Record::from_rdata(name.clone(), 0, data));
    }
    message.to_vec().unwrap()
}

/// A packet: its ends, its protocol and its payload.
type TestPacket<'a> = (&'a str, &'a str, u8, Vec<u8>);

fn read(packets: &[TestPacket<'_>]) -> AppWire {
    let mut reader = reader();
    for (at, (from, to, protocol, payload)) in packets.iter().enumerate() {
        let bytes = frame(from, to, *protocol, payload);
        reader.take(&bytes, bytes.len(), 1_000_000_000 + at as u64 * 1_000_000);
    }
    reader.wire().clone()
}

#[test]
fn reads_queries_over_udp_and_tcp_and_the_connection() {
    let long = [&[0, 40][..], &dns(MessageType::Query, None)].concat();
    let wire = read(&[
        (OWN, NAMES, 17, udp(999, 53, &dns(MessageType::Query, None))),
        (NAMES, OWN, 17, udp(53, 999, &dns(MessageType::Response, Some(SITE)))),
        (OWN, NAMES, 6, tcp(998, 53, SYN, &[])),
        (OWN, NAMES, 6, tcp(998, 53, ACK, &long)),
        (OWN, SITE, 6, tcp(1, 80, SYN, &[])),
        (SITE, OWN, 6, tcp(80, 1, SYN | ACK, &[])),
        (OWN, SITE, 6, tcp(1, 80, ACK, b"GET / HTTP/1.1\r\nHost: www.test\r\n\r\n")),
        (SITE, OWN, 6, tcp(80, 1, ACK, b"abc")),
    ]);
    assert_eq!(wire.packets, 8);
    assert_eq!((wire.queries.len(), wire.queries[0].times), (1, 2));
    assert_eq!(wire.queries[0].name, "www.test");
    assert!(wire.has_learned(SITE.parse().unwrap()));
    let [of] = &wire.attempts[..] else { panic!("{wire:?}") };
    assert_eq!((of.outcome(), of.host.as_deref()), ("answered", Some("www.test")));
    assert_eq!((of.begun_ms, of.content_ms), (4.0, Some(7.0)));
}

#[test]
fn a_reset_and_a_message_of_a_router_fail_the_attempt_that_they_are_about() {
    let inner = frame(OWN, SITE, 6, &tcp(2, 80, SYN, &[]));
    let unreachable = [&[1, 0, 0, 0, 0, 0, 0, 0][..], &inner[14..]].concat();
    let wire = read(&[
        (OWN, SITE, 6, tcp(1, 80, SYN, &[])),
        (OWN, SITE, 6, tcp(2, 80, SYN, &[])),
        (SITE, OWN, 6, tcp(80, 1, RST | ACK, &[])),
        (NAMES, OWN, 58, unreachable),
    ]);
    let failed: Vec<_> = wire.attempts.iter().map(|of| of.failed).collect();
    assert_eq!(failed, [Some(AttemptFailure::Refused), Some(AttemptFailure::Unreachable)]);
}

#[test]
fn packets_of_a_clat_are_those_of_ipv4() {
    let wire = read(&[
        ("fd46::c000:1", "fd64::cb00:7150", 6, tcp(1, 80, SYN, &[])),
        ("fd64::cb00:7150", "fd46::c000:1", 6, tcp(80, 1, SYN | ACK, &[])),
        (OWN, "fd64::cb00:7150", 6, tcp(2, 80, SYN, &[])),
    ]);
    assert_eq!(wire.attempts[0].address.to_string(), "203.0.113.80");
    assert_eq!(wire.attempts[0].outcome(), "connected");
    assert_eq!(wire.attempts[1].family, Family::Ipv6, "DNS64 gave it an address of IPv6");
}

#[test]
fn connections_of_others_and_packets_to_all_are_no_attempts() {
    let wire = read(&[
        (SITE, OWN, 6, tcp(1, 80, SYN, &[])),
        (OWN, "ff02::fb", 17, udp(5353, 5353, b"x")),
        (SITE, NAMES, 6, tcp(1, 80, SYN, &[])),
    ]);
    assert_eq!((wire.attempts.len(), wire.packets), (0, 3));
}

#[test]
fn what_is_sent_without_end_is_bounded_and_any_bytes_are_survived() {
    let mut reader = reader();
    for port in 1_001..=1_300 {
        let bytes = frame(OWN, SITE, 6, &tcp(port, 80, SYN, &[]));
        reader.take(&bytes, bytes.len(), port.into());
    }
    assert_eq!((reader.wire().attempts.len(), reader.wire().uncounted), (MOST, 100));
    let whole = frame(OWN, NAMES, 17, &udp(999, 53, &dns(MessageType::Query, None)));
    for length in 0..whole.len() {
        reader.take(&whole[..length], whole.len(), 0);
    }
}
