use super::super::hello::made;
use super::*;
use crate::Span;

/// The unprotected headers of the protected Initial in RFC 9001, appendix A.2: version 1,
/// connection ID 0x8394c8f03e515708, no token, 1,182 bytes.
const SAMPLE: [u8; 18] =
    [0xc0, 0, 0, 0, 1, 8, 0x83, 0x94, 0xc8, 0xf0, 0x3e, 0x51, 0x57, 0x08, 0, 0, 0x44, 0x9e];

/// The beginning of that packet's payload: a CRYPTO frame with 241 bytes of a ClientHello.
const HELLO: &str = "010000ed0303ebf8fa56f12939b9584a3896472ec40bb863cfd3e86804fe3a47f06a2b69484c000004130113\
02010000c000000010000e00000b6578616d706c652e636f6dff01000100000a00080006001d001700180010000700050461\
6c706e000500050100000000003300260024001d00209370b2c9caa47fbabaf4559fedba753de171fa71f50f1ce15d43e994\
ec74d748002b0003020304000d0010000e0403050306030203080408050806002d00020101001c00024001003900320408ff\
ffffffffffffff05048000ffff07048000ffff0801100104800075300901100f088394c8f03e51570806048000ffff";

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    let byte = |two: &[u8]| u8::from_str_radix(std::str::from_utf8(two).unwrap(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

/// An opener for packets without protection: the frames are between a packet number of four bytes
/// and a tag of 16.
#[derive(Debug, Default)]
struct Unprotected {
    asked: Vec<(u32, Vec<u8>, usize, usize)>,
}

impl InitialOpener for Unprotected {
    fn open<'a>(
        &mut self,
        version: u32,
        destination: &[u8],
        number: usize,
        packet: &'a mut [u8],
    ) -> Option<&'a [u8]> {
        self.asked.push((version, destination.to_vec(), number, packet.len()));
        let end = packet.len().checked_sub(16)?;
        packet.get(number + 4..end)
    }
}

/// Returns a client's Initial packet with these frames.
fn initial(version: u32, frames: &[u8]) -> Vec<u8> {
    let first = if version == header::VERSION_1 { 0xc3 } else { 0xd3 };
    let length = ((frames.len() as u16 + 20) | 0x4000).to_be_bytes();
    let head = [&[first][..], &version.to_be_bytes(), &[4, 1, 2, 3, 4, 0, 2, 9, 9], &length];
    [&head.concat()[..], &[0; 4], frames, &[7; 16]].concat()
}

fn ends() -> [Ends; 2] {
    [["[2001:db8::1]:5000", "[2001:db8::2]:443"], ["192.0.2.1:5000", "192.0.2.2:443"]].map(
        |[client, server]| Ends {
            client: client.parse().unwrap(),
            server: server.parse().unwrap(),
        },
    )
}

fn datagram(at_ns: u64, payload: &[u8]) -> Datagram<'_> {
    let payload = Span::new(payload, payload.len());
    let udp = Udp { source: 5_000, destination: 443, payload };
    Datagram { at_ns, length: 100, packets: 1, fragments: 0, udp }
}

#[test]
fn the_sample_of_rfc_9001_is_recognised_and_its_hello_read() {
    let hello = bytes(HELLO);
    assert_eq!(hello.len(), 241);
    let mut packet = SAMPLE.to_vec();
    packet.extend([0, 0, 0, 2, 6, 0, 0x40, 0xf1]);
    packet.extend(&hello);
    packet.resize(1_200, 0);
    let first = datagram(7, &packet);
    assert_eq!(begins(&first), Some(true));
    for ends in ends() {
        let (mut opener, mut budget) = (Unprotected::default(), Budget::new(10_000));
        let mut quic = Quic::new(ends, 0, Via::default(), true, &first);
        quic.take(true, &first, Some(&mut opener), &mut budget);
        let id = bytes("8394c8f03e515708");
        assert_eq!(opener.asked, [(1, id, 18, 1_200)]);
        let found = quic.finish(Closure::Open, &mut budget);
        let PayloadProtocol::Quic(hello) = found.payload_protocol else { panic!("{found:?}") };
        assert_eq!(hello.server_name.as_deref(), Some("example.com"));
        assert_eq!((hello.version.as_deref(), &*hello.offered), (Some("1"), &["alpn".into()][..]));
        assert_eq!(budget.left(), 10_000);
    }
}

#[test]
fn a_handshake_lasts_until_the_clients_first_short_header() {
    for ends in ends() {
        for version in [header::VERSION_1, header::VERSION_2] {
            let all = made::client("example.org", &["h3"]);
            let parts = all.split_at(700);
            let frame = |offset: u16, part: &[u8]| {
                let length = (part.len() as u16 | 0x4000).to_be_bytes();
                [&[6][..], &(offset | 0x4000).to_be_bytes(), &length, part].concat()
            };
            // The second half first, each in a datagram of its own.
            let second = initial(version, &frame(700, parts.1));
            let first = initial(version, &frame(0, parts.0));
            let (mut opener, mut budget) = (Unprotected::default(), Budget::new(10_000));
            let mut quic = Quic::new(ends, 3, Via::default(), true, &datagram(10, &second));
            let mut take = |by_client, at_ns, payload: &[u8]| {
                quic.take(by_client, &datagram(at_ns, payload), Some(&mut opener), &mut budget);
            };
            take(true, 10, &second);
            take(true, 11, &first);
            take(false, 15, &initial(version, &[0; 20]));
            take(true, 18, &[0x45; 30]);
            take(true, 19, &[0x45; 30]);
            let found = quic.finish(Closure::Timeout, &mut budget);
            assert_eq!((found.before, found.closure, found.lasted_ns), (3, Closure::Timeout, 9));
            assert_eq!((found.opening.seen, found.opening.answered_ns), (true, Some(5)));
            assert_eq!((found.sent.from_client.packets, found.sent.from_server.packets), (4, 1));
            let PayloadProtocol::Quic(hello) = found.payload_protocol else {
                panic!("{:?}", found.payload_protocol)
            };
            assert_eq!((hello.handshake_ns, hello.first_flight_ns), (Some(8), Some(5)));
            assert_eq!((hello.completed, found.opening.round_trip_ns()), (true, Some(8)));
            assert_eq!(hello.server_name.as_deref(), Some("example.org"));
            let name = if version == 1 { "1" } else { "0x6b3343cf" };
            assert_eq!(hello.version.as_deref(), Some(name));
            assert_eq!(budget.left(), 10_000);
        }
    }
}

/// Returns early data (0-RTT) in a packet of a client.
fn early(version: u32) -> Vec<u8> {
    let first = if version == header::VERSION_1 { 0xd3 } else { 0xe3 };
    [&[first][..], &version.to_be_bytes(), &[4, 1, 2, 3, 4, 0, 0x40, 40], &[7; 40]].concat()
}

#[test]
fn early_data_may_come_before_the_hello() {
    for ends in ends() {
        for version in [header::VERSION_1, header::VERSION_2] {
            let hello = made::client("example.org", &["h3"]);
            let length = (hello.len() as u16 | 0x4000).to_be_bytes();
            let hello = initial(version, &[&[6, 0][..], &length, &hello].concat());
            let early = early(version);
            // In a datagram of its own, or before the Initial in the same one.
            let together = [&early[..], &hello].concat();
            for datagrams in [vec![&early, &hello], vec![&together], vec![&hello, &early]] {
                let (mut opener, mut budget) = (Unprotected::default(), Budget::new(10_000));
                let first = datagram(10, datagrams[0]);
                assert_eq!(begins(&first), Some(true));
                let mut quic = Quic::new(ends, 0, Via::default(), true, &first);
                for (at_ns, payload) in (10..).zip(&datagrams) {
                    quic.take(true, &datagram(at_ns, payload), Some(&mut opener), &mut budget);
                }
                quic.take(false, &datagram(15, &[0xe0; 40]), None, &mut budget);
                quic.take(true, &datagram(18, &[0x45; 30]), None, &mut budget);
                let found = quic.finish(Closure::Open, &mut budget);
                assert!(found.opening.seen && !found.doubts.begun_before);
                let PayloadProtocol::Quic(hello) = found.payload_protocol else {
                    panic!("{:?}", found.payload_protocol)
                };
                assert_eq!(hello.server_name.as_deref(), Some("example.org"));
                assert_eq!(hello.handshake_ns, Some(8));
            }
        }
    }
}

#[test]
fn other_udp_payloads_do_not_begin_a_connection() {
    let dns = [0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    let negotiation = [0xc0, 0, 0, 0, 0, 1, 1, 1, 1];
    let other_version = [0xc0, 0, 0, 0, 9, 0, 0, 0, 0];
    let long_id = [0xc0, 0, 0, 0, 1, 21, 0, 0, 0];
    for none in [&dns[..], &negotiation, &other_version, &long_id, &[], &[0x45; 40]] {
        assert_eq!(begins(&datagram(0, none)), None, "{none:?}");
    }
    assert_eq!(begins(&datagram(0, &[0xe0, 0, 0, 0, 1, 0, 0, 0])), Some(false));
}
