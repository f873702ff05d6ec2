use std::net::Ipv6Addr;

use hickory_proto::op::{OpCode, Query};
use hickory_proto::rr::Name;

use super::*;

const CLIENT: &str = "2001:db8:9:1::1";
const SITE: &str = "2001:db8:9:10::2";
const ROUTER: &str = "2001:db8:9:1::ff";

const SYN: u8 = 2;
const RST: u8 = 4;
const ACK: u8 = 16;
const FIN: u8 = 1;

fn reader() -> PacketReader {
    PacketReader::new(ObservedSite {
        name: "www.test".into(),
        addresses: vec![SITE.parse().unwrap()],
        ports: vec![443],
        content_bytes: 1,
        name_servers: vec![ROUTER.parse().unwrap()],
        client: vec![CLIENT.parse().unwrap()],
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

/// A packet: when, by which side, and its payload with its protocol.
type TestPacket<'a> = (u64, bool, (u8, Vec<u8>));

fn read(packets: &[TestPacket<'_>]) -> ClientTrace {
    let mut reader = reader();
    for (at_ms, by_client, (protocol, payload)) in packets {
        let (from, to) = if *by_client { (CLIENT, SITE) } else { (SITE, CLIENT) };
        let bytes = frame(from, to, *protocol, payload);
        reader.take(Link::Ethernet, &bytes, bytes.len(), 1_000_000_000 + at_ms * 1_000_000);
    }
    reader.trace().clone()
}

/// A record of TLS.
fn record(kind: u8, length: usize) -> Vec<u8> {
    let mut record = vec![kind, 3, 3];
    record.extend((length as u16).to_be_bytes());
    record.resize(5 + length, 7);
    record
}

#[test]
fn reads_a_connection_from_its_syn_to_the_content() {
    let hello = record(HANDSHAKE, 50);
    let request = [record(CHANGE_CIPHER, 1), record(APPLICATION_DATA, 40)].concat();
    let trace = read(&[
        (0, true, (6, tcp(4_000, 443, SYN, &[]))),
        (1_000, true, (6, tcp(4_000, 443, SYN, &[]))),
        (1_020, false, (6, tcp(443, 4_000, SYN | ACK, &[]))),
        (1_021, true, (6, tcp(4_000, 443, ACK, &hello))),
        (1_040, false, (6, tcp(443, 4_000, ACK, &record(HANDSHAKE, 90)))),
        (1_041, true, (6, tcp(4_000, 443, ACK, &request))),
        (1_060, false, (6, tcp(443, 4_000, ACK, &record(APPLICATION_DATA, 30)))),
        (1_061, true, (6, tcp(4_000, 443, FIN | ACK, &[]))),
    ]);
    let [of] = &trace.attempts[..] else { panic!("{trace:?}") };
    assert_eq!((of.begun_ms, of.tries, of.established_ms), (0.0, 2, Some(1_020.0)));
    assert_eq!((of.request_ms, of.content_ms), (Some(1_041.0), Some(1_060.0)));
    assert_eq!((of.failed_ms, of.closed_ms), (None, Some(1_061.0)));
    assert_eq!(trace.winner(), Some(of));
}

#[test]
fn a_reset_by_the_site_is_a_failure_and_one_by_the_client_is_not() {
    let trace = read(&[
        (0, true, (6, tcp(4_000, 443, SYN, &[]))),
        (5, false, (6, tcp(443, 4_000, RST | ACK, &[]))),
        (6, true, (6, tcp(4_001, 443, SYN, &[]))),
        (8, false, (6, tcp(443, 4_001, SYN | ACK, &[]))),
        (9, true, (6, tcp(4_001, 443, RST, &[]))),
        (10, false, (6, tcp(443, 4_001, RST, &[]))),
    ]);
    let found: Vec<_> = trace.attempts.iter().map(|of| (of.failed_ms, of.closed_ms)).collect();
    assert_eq!(found, [(Some(5.0), None), (None, Some(9.0))]);
}

#[test]
fn a_router_ends_an_attempt_that_is_not_established() {
    let mut reader = reader();
    let syn = tcp(4_000, 443, SYN, &[]);
    let sent = frame(CLIENT, SITE, 6, &syn);
    reader.take(Link::Ethernet, &sent, sent.len(), 0);
    // Destination unreachable, with the packet that it is about.
    let message = [&[1, 3, 0, 0, 0, 0, 0, 0], &sent[14..]].concat();
    let bytes = frame(ROUTER, CLIENT, 58, &message);
    reader.take(Link::Ethernet, &bytes, bytes.len(), 4_000_000);
    assert_eq!(reader.trace().attempts[0].failed_ms, Some(4.0));
}

#[test]
fn reads_queries_about_the_site_alone() {
    let query = |name: &str, kind: RecordType, is_answer: bool| {
        let of = if is_answer { MessageType::Response } else { MessageType::Query };
        let mut message = Message::new(7, of, OpCode::Query);
        message.add_query(Query::query(Name::from_ascii(name).unwrap(), kind));
        message.to_vec().unwrap()
    };
    let mut reader = reader();
    let mut take = |at_ms: u64, by_client: bool, message: &[u8]| {
        let (from, to) = if by_client { (CLIENT, ROUTER) } else { (ROUTER, CLIENT) };
        let datagram = if by_client { udp(5_000, 53, message) } else { udp(53, 5_000, message) };
        let bytes = frame(from, to, 17, &datagram);
        reader.take(Link::Ethernet, &bytes, bytes.len(), at_ms * 1_000_000);
    };
    take(0, true, &query("elsewhere.test.", RecordType::A, false));
    take(10, true, &query("WWW.test.", RecordType::AAAA, false));
    take(11, true, &query("www.test.", RecordType::A, false));
    take(15, false, &query("www.test.", RecordType::A, true));
    take(1_010, true, &query("www.test.", RecordType::AAAA, false));
    let queries = &reader.trace().queries;
    let found: Vec<_> =
        queries.iter().map(|of| (of.kind.as_str(), of.sent_ms, of.answered_ms, of.times)).collect();
    assert_eq!(found, [("AAAA", 0.0, None, 2), ("A", 1.0, Some(5.0), 1)]);
}

#[test]
fn what_is_not_a_packet_is_ignored() {
    let mut reader = reader();
    for length in 0..200 {
        let bytes = vec![length as u8; length];
        reader.take(Link::Ethernet, &bytes, length, length as u64);
    }
    assert_eq!(reader.trace(), &ClientTrace::default());
}

#[test]
fn notes_what_is_sent_elsewhere_but_not_to_all() {
    let mut reader = reader();
    for (to, payload) in [
        ("2001:db8::53", (17, udp(5_000, 53, &[0; 20]))),
        ("2001:db8::53", (17, udp(5_001, 53, &[0; 20]))),
        (SITE, (6, tcp(4_000, 8_443, SYN, &[]))),
        ("ff02::fb", (17, udp(5_353, 5_353, &[0; 20]))),
        (ROUTER, (6, tcp(4_001, 53, SYN, &[]))),
    ] {
        let bytes = frame(CLIENT, to, payload.0, &payload.1);
        reader.take(Link::Ethernet, &bytes, bytes.len(), 0);
    }
    let elsewhere = &reader.trace().elsewhere;
    let found: Vec<_> = elsewhere.iter().map(|of| (of.port, of.is_udp)).collect();
    // Queries over TCP are not answered.
    assert_eq!(found, [(53, true), (8_443, false), (53, false)]);
    assert!(reader.trace().queries.is_empty() && reader.trace().attempts.is_empty());
}

#[test]
fn a_router_ends_the_attempt_that_it_names() {
    let mut reader = reader();
    let mut messages = Vec::new();
    for port in [4_000, 4_001] {
        let sent = frame(CLIENT, SITE, 6, &tcp(port, 443, SYN, &[]));
        reader.take(Link::Ethernet, &sent, sent.len(), u64::from(port));
        messages.push([&[1, 3, 0, 0, 0, 0, 0, 0], &sent[14..]].concat());
    }
    let bytes = frame(ROUTER, CLIENT, 58, &messages[0]);
    reader.take(Link::Ethernet, &bytes, bytes.len(), 4_000_000);
    let failed: Vec<_> = reader.trace().attempts.iter().map(|of| of.failed_ms.is_some()).collect();
    assert_eq!(failed, [true, false]);
}

#[test]
fn counts_attempts_beyond_those_that_are_kept() {
    let mut reader = reader();
    for port in 0..300 {
        let bytes = frame(CLIENT, SITE, 6, &tcp(10_000 + port, 443, SYN, &[]));
        reader.take(Link::Ethernet, &bytes, bytes.len(), 0);
    }
    assert_eq!((reader.trace().attempts.len(), reader.trace().uncounted), (MOST, 100));
}
