//! Tests of the follower with generated connections, and with handwritten ones for special cases.

mod beginnings;
mod connections;
mod fast_open;
mod http;
mod one_way;
mod random;
mod storm;
mod tunnels;

use std::net::SocketAddr;

use super::*;
use crate::made::{self, ACK, FIN, RST, SYN};
use crate::tests::wraps::Wrap;
use crate::{self as wire, Flags, Link, Span, Unread};
use sixmark_units::family::Family;

const MICROSECOND: u64 = 1_000;
const PORT: u16 = 80;
/// The option that announces a maximum segment size of 1,000 bytes.
const MSS: [u8; 4] = [2, 4, 3, 0xe8];

/// Returns the settings that follow connections to the port.
fn settings() -> Settings {
    Settings { ports: vec![PORT], ..Settings::default() }
}

/// A sink that keeps everything it receives.
#[derive(Debug, Default)]
struct Kept {
    connections: Vec<ConnectionReport>,
    exchanges: HttpExchanges,
    round_trips: Vec<(bool, u64)>,
}

impl FlowObserver for Kept {
    fn connection(&mut self, connection: &ConnectionReport) {
        self.connections.push(connection.clone());
        self.exchanges.connection(connection);
    }

    fn exchange(&mut self, exchange: &HttpExchange) {
        self.exchanges.exchange(exchange);
    }

    fn round_trip(&mut self, _ends: &Ends, by_client: bool, ns: u64) {
        self.round_trips.push((by_client, ns));
    }
}

/// A capture under construction, with one packet per microsecond.
struct Made {
    ends: Ends,
    /// The sequence numbers of the client's and the server's SYN.
    first: PerDirection<u32>,
    now_ns: u64,
    follower: Follower<Kept>,
    /// The window and options of segments. A SYN has options of its own if these are empty.
    window: u16,
    options: Vec<u8>,
    /// The tags or the tunnel that frames are in.
    wrap: Option<Wrap>,
}

impl Made {
    fn new(family: Family, client_port: u16) -> Made {
        let end = |address: &str, port| SocketAddr::new(address.parse().unwrap(), port);
        let (client, server) = match family {
            Family::Ipv6 => ("2001:db8::1", "2001:db8::2"),
            Family::Ipv4 => ("192.0.2.1", "192.0.2.2"),
        };
        Made {
            ends: Ends { client: end(client, client_port), server: end(server, PORT) },
            first: PerDirection { from_client: u32::MAX - 20, from_server: u32::MAX - 500 },
            now_ns: 0,
            follower: Follower::new(settings(), Kept::default()),
            window: 0xffff,
            options: Vec::new(),
            wrap: None,
        }
    }

    /// Adds a segment at these positions in its own stream and the other one, where that of the SYN
    /// is 0. Returns the length of its frame in bytes.
    fn send(&mut self, by_client: bool, flags: u8, at: u32, ack: u32, payload: &[u8]) -> u64 {
        let mut frame = self.segment(by_client, flags, at, ack, payload).frame();
        let tcp = if self.ends.client.is_ipv6() { 54 } else { 34 };
        frame[tcp + 14..tcp + 16].copy_from_slice(&self.window.to_be_bytes());
        self.give(&frame)
    }

    fn segment(
        &mut self,
        by_client: bool,
        flags: u8,
        at: u32,
        ack: u32,
        payload: &[u8],
    ) -> made::MadeSegment {
        let Ends { client, server } = self.ends;
        let (from, to) = if by_client { (client, server) } else { (server, client) };
        let [own, other] = [*self.first.of(by_client), *self.first.of(!by_client)];
        let plain = flags & SYN > 0 && self.options.is_empty();
        made::MadeSegment {
            from,
            to,
            sequence: own.wrapping_add(at),
            acknowledgement: other.wrapping_add(ack),
            flags: Flags(flags),
            options: if plain { MSS.to_vec() } else { self.options.clone() },
            payload: payload.to_vec(),
        }
    }

    fn give(&mut self, frame: &[u8]) -> u64 {
        self.now_ns += MICROSECOND;
        let frame = self.wrap.map_or_else(|| frame.to_vec(), |wrap| wrap.frame(frame));
        let span = Span::new(&frame, frame.len());
        self.follower.packet(Link::Ethernet, self.now_ns, span);
        frame.len() as u64
    }

    fn client(&mut self, flags: u8, at: u32, ack: u32, payload: &[u8]) -> u64 {
        self.send(true, flags, at, ack, payload)
    }

    fn server(&mut self, flags: u8, at: u32, ack: u32, payload: &[u8]) -> u64 {
        self.send(false, flags, at, ack, payload)
    }

    fn handshake(&mut self) {
        self.client(SYN, 0, 0, b"");
        self.server(SYN | ACK, 0, 1, b"");
        self.client(ACK, 1, 1, b"");
    }

    /// Returns all exchanges.
    fn finish(self) -> Vec<HttpExchange> {
        self.follower.finish().0.exchanges.finish(0)
    }

    /// Returns all connections.
    fn connections(self) -> Vec<ConnectionReport> {
        self.follower.finish().0.connections
    }

    /// Returns the only exchange.
    fn only(self) -> HttpExchange {
        let all = self.finish();
        assert_eq!(all.len(), 1, "{all:?}");
        all.into_iter().next().unwrap()
    }
}

/// Returns a capture of each family.
fn both() -> [Made; 2] {
    Family::BOTH.map(|family| Made::new(family, 1_000))
}

/// Returns the length of a frame without payload and options.
fn headers(family: Family) -> u64 {
    14 + 20 + if family == Family::Ipv6 { 40 } else { 20 }
}

#[test]
fn measures_an_exchange_from_its_get_to_the_last_ack_before_the_fin() {
    for mut made in both() {
        made.handshake();
        made.client(ACK, 1, 1, b"GET /file HTTP/1.1\r\n\r\n");
        made.server(ACK, 1, 23, &[b'x'; 1_000]);
        made.server(ACK, 1_001, 23, &[b'x'; 500]);
        made.client(ACK, 23, 1_001, b"");
        assert!(!made.follower.is_settled());
        made.client(ACK, 23, 1_501, b"");
        assert!(made.follower.is_settled());
        // A window update, and the server's FIN, acknowledged on its own.
        made.client(ACK, 23, 1_501, b"");
        made.server(ACK | FIN, 1_501, 23, b"");
        made.client(ACK, 23, 1_502, b"");
        made.client(ACK | FIN, 23, 1_502, b"");
        made.server(ACK, 1_502, 24, b"");
        let found = made.only();
        let headers = headers(found.family());
        assert_eq!((found.number, found.path.as_str()), (1, "/file"));
        assert_eq!(found.began_ns, 4 * MICROSECOND);
        assert_eq!(found.wait_ns, Some(MICROSECOND));
        assert_eq!(found.delay_ns, Some(4 * MICROSECOND));
        assert_eq!(found.acknowledged_ns, found.delay_ns);
        let (from_client, from_server) = (3 * headers + 22, 2 * headers + 1_500);
        assert_eq!(found.bytes, PerDirection { from_client, from_server });
        let bits = 8.0 * (from_client + from_server) as f64;
        let rate = found.throughput_bits_per_s().unwrap();
        assert!((rate - bits / 4e-6).abs() < 1.0, "{rate}");
        assert_eq!((found.response_bytes, found.left_to_fin, found.unmeasured), (1_500, 0, None));
        assert_eq!(found.answered_ns, Some(MICROSECOND));
        assert_eq!(found.established_ns, Some(2 * MICROSECOND));
        assert_eq!((found.coalesced, found.repeated), (0, PerDirection::default()));
    }
}

#[test]
fn reports_data_acknowledged_with_the_fin_separately() {
    for mut made in both() {
        made.handshake();
        made.client(ACK, 1, 1, b"GET / HTTP/1.0\r\n\r\n");
        made.server(ACK, 1, 19, &[b'x'; 900]);
        made.client(ACK, 19, 901, b"");
        made.server(ACK, 901, 19, &[b'x'; 100]);
        made.client(ACK | FIN, 19, 1_001, b"");
        let found = made.only();
        assert_eq!(found.delay_ns, Some(2 * MICROSECOND));
        assert_eq!(found.acknowledged_ns, Some(4 * MICROSECOND));
        assert_eq!(found.left_to_fin, 100);
        assert_eq!(found.bytes.from_server, headers(found.family()) + 900);
    }
}

#[test]
fn counts_retransmitted_bytes_separately() {
    for mut made in both() {
        made.handshake();
        let request = b"GET / HTTP/1.1\r\n\r\n";
        let get = made.client(ACK, 1, 1, request);
        made.client(ACK, 1, 1, request);
        let first = made.server(ACK, 1, 19, &[b'x'; 600]);
        made.server(ACK, 1, 19, &[b'x'; 600]);
        // Half of it is new.
        let second = made.server(ACK, 301, 19, &[b'x'; 600]);
        let ack = made.client(ACK, 19, 901, b"");
        let found = made.only();
        let expected = PerDirection { from_client: get + ack, from_server: first + second - 300 };
        assert_eq!(found.bytes, expected);
        let repeated = PerDirection {
            from_client: Repeated { segments: 1, bytes: get },
            from_server: Repeated { segments: 1, bytes: first + 300 },
        };
        assert_eq!(found.repeated, repeated);
        assert_eq!(found.delay_ns, Some(5 * MICROSECOND));
    }
}

#[test]
fn reports_a_connection_without_a_get_but_none_without_payload() {
    for mut made in both() {
        made.handshake();
        made.client(ACK, 1, 1, b"\x16\x03\x01");
        made.server(ACK, 1, 4, b"\x16\x03\x03");
        made.client(ACK, 4, 4, b"");
        let found = made.only();
        assert_eq!((found.number, found.unmeasured), (0, Some(Unmeasured::NoGet)));
        assert_eq!(found.throughput_bits_per_s(), None);
    }
    for mut made in both() {
        made.handshake();
        made.client(ACK | RST, 1, 1, b"");
        assert_eq!(made.finish(), []);
    }
}

#[test]
fn a_response_that_is_not_acknowledged_has_no_delay() {
    for mut made in both() {
        made.handshake();
        made.client(ACK, 1, 1, b"GET / HTTP/1.1\r\n\r\n");
        assert!(!made.follower.is_settled(), "nothing has come yet");
        made.server(ACK, 1, 19, &[b'x'; 600]);
        made.client(ACK, 19, 1, b"");
        made.client(RST, 19, 0, b"");
        assert!(made.follower.is_settled());
        let found = made.only();
        assert_eq!((found.delay_ns, found.unmeasured), (None, Some(Unmeasured::NoAck)));
        assert_eq!(found.resets, PerDirection { from_client: 1, from_server: 0 });
    }
}

#[test]
fn reports_gaps_and_drops_of_the_capture_as_unmeasured() {
    let lossy = |which: &str| {
        both().map(|mut made| {
            made.handshake();
            made.client(ACK, 1, 1, b"GET / HTTP/1.1\r\n\r\n");
            if which != "hole" {
                made.server(ACK, 1, 19, &[b'x'; 600]);
            }
            if which != "end" {
                made.server(ACK, 601, 19, &[b'x'; 600]);
            }
            made.client(ACK, 19, 1_201, b"");
            made.follower
        })
    };
    for which in ["hole", "end"] {
        for follower in lossy(which) {
            let found = &follower.finish().0.exchanges.finish(0)[0];
            assert_eq!(
                (found.delay_ns, found.unmeasured),
                (None, Some(Unmeasured::Gap)),
                "{which}"
            );
        }
    }
    for follower in lossy("none") {
        let found = &follower.finish().0.exchanges.finish(1)[0];
        assert_eq!((found.delay_ns, found.unmeasured), (None, Some(Unmeasured::Dropped)));
    }
}

#[test]
fn does_not_measure_transfers_with_unassembled_fragments() {
    let mut made = Made::new(Family::Ipv4, 1_000);
    made.handshake();
    made.client(ACK, 1, 1, b"GET / HTTP/1.1\r\n\r\n");
    let segment = made::MadeSegment {
        from: made.ends.server,
        to: made.ends.client,
        sequence: made.first.from_server.wrapping_add(1),
        acknowledgement: 0,
        flags: Flags(ACK),
        options: Vec::new(),
        payload: vec![0; 600],
    };
    let mut frame = segment.frame();
    frame[14 + 6] = 0x20;
    made.give(&frame);
    (frame[14 + 6], frame[14 + 7]) = (0, 75);
    made.give(&frame);
    made.client(ACK, 19, 601, b"");
    assert_eq!(made.follower.counts().fragments, 2);
    assert_eq!(made.only().unmeasured, Some(Unmeasured::Fragmented));
}

#[test]
fn a_port_that_is_used_again_is_another_connection() {
    for mut made in both() {
        for n in 0..3 {
            made.first = PerDirection { from_client: n * 1_000_000, from_server: n * 7_000_000 };
            made.handshake();
            made.client(ACK, 1, 1, b"GET / HTTP/1.1\r\n\r\n");
            made.server(ACK, 1, 19, b"abc");
            made.client(ACK | RST, 19, 4, b"");
        }
        let found = made.finish();
        assert_eq!(found.iter().map(|f| f.number).collect::<Vec<_>>(), [1, 1, 1]);
        assert!(found.is_sorted_by_key(|found| found.began_ns));
    }
}

#[test]
fn measures_complete_exchanges_of_a_capture_that_begins_midway() {
    for mut made in both() {
        made.server(ACK, 5_000, 100, &[b'x'; 600]);
        made.client(ACK, 100, 5_600, b"");
        made.client(ACK, 100, 5_600, b"GET / HTTP/1.1\r\n\r\n");
        made.server(ACK, 5_600, 118, &[b'x'; 600]);
        made.client(ACK, 118, 6_200, b"");
        let found = made.only();
        assert_eq!((found.delay_ns, found.response_bytes), (Some(2 * MICROSECOND), 600));
        assert_eq!((found.answered_ns, found.established_ns), (None, None));
    }
}

#[test]
fn counts_segments_larger_than_the_mss() {
    for mut made in both() {
        made.handshake();
        made.client(ACK, 1, 1, b"GET / HTTP/1.1\r\n\r\n");
        made.server(ACK, 1, 19, &[b'x'; 1_001]);
        made.server(ACK, 1_002, 19, &[b'x'; 1_000]);
        made.client(ACK, 19, 2_002, b"");
        assert_eq!(made.only().coalesced, 1);
    }
}

#[test]
fn evicts_closed_connections_first_and_then_the_longest_idle() {
    let mut made = Made::new(Family::Ipv6, 1);
    made.follower.flows.settings.max_flows = 2;
    for port in 1..=4 {
        made.ends.client.set_port(port);
        made.handshake();
        made.client(ACK, 1, 1, b"GET / HTTP/1.1\r\n\r\n");
        if port == 2 {
            made.server(RST, 1, 0, b"");
        }
    }
    let counts = made.follower.counts();
    assert_eq!((counts.segments, counts.connections, counts.evicted), (17, 4, 1));
    assert_eq!(made.follower.followed(), 2);
    let found = made.connections();
    let found: Vec<_> = found.iter().map(|c| (c.ends.client.port(), c.closure)).collect();
    let reset = Closure::Reset { by_client: false };
    let expected = [(2, reset), (1, Closure::Evicted), (3, Closure::Open), (4, Closure::Open)];
    assert_eq!(found, expected);
}
