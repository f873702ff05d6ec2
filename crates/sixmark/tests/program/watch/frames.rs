//! Packets of connections, made byte by byte, and files of them.

use std::net::IpAddr;

use sixmark_units::family::Family;
use sixmark_wire::Link;
use sixmark_wire::pcap::{self, Record};

/// When the first packet is seen.
pub(super) const BEGIN: u64 = 1_700_000_000_000_000_000;
const MS: u64 = 1_000_000;

const FIN: u8 = 1;
const SYN: u8 = 2;
const ACK: u8 = 16;

const REQUEST: &[u8] = b"GET /one HTTP/1.1\r\nHost: www.example.net\r\n\r\n";
const RESPONSE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

/// A packet: when it is seen, and its bytes.
pub(super) type Packet = (u64, Vec<u8>);

/// A connection of each family with one exchange, a packet a millisecond: the SYN-ACK after 1, the ACK
/// after 2, the request after 3, the response after 5 (or 4 and 5: half of it each).
pub(super) fn exchanges(pairs: u16) -> Vec<Packet> {
    spoken(pairs, |_| [REQUEST.to_vec(), RESPONSE.to_vec()])
}

/// The same in TLS over some families: a ClientHello and a ServerHello stand for all that is hidden.
pub(super) fn encrypted(pairs: u16, families: &[Family]) -> Vec<Packet> {
    spoken(pairs, |family| {
        if families.contains(&family) {
            [hello(1), hello(2)]
        } else {
            [REQUEST.to_vec(), RESPONSE.to_vec()]
        }
    })
}

/// A handshake's first message (RFC 8446, 4.1.2 and 4.1.3) without extensions, in a record.
fn hello(kind: u8) -> Vec<u8> {
    let cipher: &[u8] = if kind == 1 { &[0, 2, 0x13, 1, 1, 0] } else { &[0x13, 1, 0] };
    let body = [&[3, 3][..], &[7; 32], &[0], cipher].concat();
    let message = [&[kind, 0, 0, body.len() as u8][..], &body].concat();
    [&[0x16, 3, 1, 0, message.len() as u8][..], &message].concat()
}

/// What is said on each connection, by its client and its server.
fn spoken(pairs: u16, said: impl Fn(Family) -> [Vec<u8>; 2]) -> Vec<Packet> {
    let both = |number: u16| Family::BOTH.map(|family| exchange(family, number, said(family)));
    let mut all: Vec<Packet> = (0..pairs).flat_map(both).flatten().collect();
    all.sort_by_key(|(at, _)| *at);
    all
}

fn exchange(family: Family, number: u16, [request, response]: [Vec<u8>; 2]) -> Vec<Packet> {
    let begin = BEGIN + u64::from(number) * 20 * MS;
    let one = |after: u64, from_client: bool, flags, seq, ack, payload: &[u8]| {
        let packet = segment(family, number, from_client, flags, [seq, ack], payload);
        (begin + after * MS, packet)
    };
    let (asked, answered) = (request.len() as u32, response.len() as u32);
    let (half, rest) = response.split_at(20);
    vec![
        one(0, true, SYN, 0, 0, b""),
        one(1, false, SYN | ACK, 0, 1, b""),
        one(2, true, ACK, 1, 1, b""),
        one(3, true, ACK, 1, 1, &request),
        one(5, false, ACK, 1, 1 + asked, half),
        one(6, false, ACK, 21, 1 + asked, rest),
        one(7, true, ACK, 1 + asked, 1 + answered, b""),
        one(8, true, FIN | ACK, 1 + asked, 1 + answered, b""),
        one(9, false, FIN | ACK, 1 + answered, 2 + asked, b""),
        one(10, true, ACK, 2 + asked, 2 + answered, b""),
    ]
}

/// Numbers count from 1,000,000.
fn segment(
    family: Family,
    number: u16,
    from_client: bool,
    flags: u8,
    numbers: [u32; 2],
    payload: &[u8],
) -> Vec<u8> {
    let ports = [10_000 + number, 80];
    let ports = if from_client { ports } else { [ports[1], ports[0]] };
    let mut tcp: Vec<u8> = ports.into_iter().flat_map(u16::to_be_bytes).collect();
    tcp.extend(numbers.into_iter().flat_map(|n| (1_000_000 + n).to_be_bytes()));
    tcp.extend([5 << 4, flags, 0xff, 0xff, 0, 0, 0, 0]);
    tcp.extend(payload);
    let mut frame = vec![2; 12];
    frame.extend(match family {
        Family::Ipv6 => [0x86, 0xdd],
        Family::Ipv4 => [0x08, 0x00],
    });
    frame.extend(header(family, from_client, tcp.len() as u16));
    frame.extend(tcp);
    frame
}

fn header(family: Family, from_client: bool, length: u16) -> Vec<u8> {
    let ends: [IpAddr; 2] = match family {
        Family::Ipv6 => ["2001:db8::1".parse().unwrap(), "2001:db8::2".parse().unwrap()],
        Family::Ipv4 => ["192.0.2.1".parse().unwrap(), "192.0.2.2".parse().unwrap()],
    };
    let [from, to] = if from_client { ends } else { [ends[1], ends[0]] };
    let bytes = |address: IpAddr| match address {
        IpAddr::V6(v6) => v6.octets().to_vec(),
        IpAddr::V4(v4) => v4.octets().to_vec(),
    };
    let begin = match family {
        Family::Ipv6 => {
            let [high, low] = length.to_be_bytes();
            vec![0x60, 0, 0, 0, high, low, 6, 64]
        }
        Family::Ipv4 => {
            let [high, low] = (length + 20).to_be_bytes();
            vec![0x45, 0, high, low, 0, 0, 0, 0, 64, 6, 0, 0]
        }
    };
    [begin, bytes(from), bytes(to)].concat()
}

/// The file that has them.
pub(super) fn pcap(packets: &[Packet]) -> Vec<u8> {
    let mut file = pcap::header(65_535, Link::Ethernet).to_vec();
    for (at_ns, bytes) in packets {
        let length = bytes.len() as u32;
        pcap::write_record(&Record { at_ns: *at_ns, length, bytes }, &mut file);
    }
    file
}

/// The same of the newer kind, in either byte order, with nanoseconds, and a block that nobody knows.
pub(super) fn pcapng(packets: &[Packet], big_endian: bool) -> Vec<u8> {
    let word = |value: u32| if big_endian { value.to_be_bytes() } else { value.to_le_bytes() };
    let half = |value: u16| if big_endian { value.to_be_bytes() } else { value.to_le_bytes() };
    let block = |kind: u32, body: Vec<u8>| {
        let mut body = body;
        body.resize(body.len().next_multiple_of(4), 0);
        let length = word(body.len() as u32 + 12);
        [&word(kind)[..], &length, &body, &length].concat()
    };
    let version = [half(1), half(0)].concat();
    let section = [&word(0x1a2b_3c4d)[..], &version, &[0xff; 8]].concat();
    let resolution = [&half(9)[..], &half(1), &[9, 0, 0, 0]].concat();
    let interface = [&half(1)[..], &half(0), &word(65_535), &resolution].concat();
    let mut file = [block(0x0a0d_0d0a, section), block(1, interface)].concat();
    file.extend(block(0x0bad, vec![7; 9]));
    for (at_ns, bytes) in packets {
        let length = word(bytes.len() as u32);
        let time = [word((at_ns >> 32) as u32), word(*at_ns as u32)].concat();
        let body = [&word(0)[..], &time, &length, &length, bytes].concat();
        file.extend(block(6, body));
    }
    file
}
