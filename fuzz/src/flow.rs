//! Sequences of packets that hang together: bytes choose, step by step, among a few connections of both
//! families who sends how much from where in its stream, so that a fuzzer gets deep into streams that have
//! holes, repeat themselves or lie. Nothing panics, no more is followed than there is room for, and what is
//! told hangs together.

use sixmark_wire::flow::{
    ConnectionReport, FlowObserver, Follower, HttpExchange, InitialOpener, Settings,
};
use sixmark_wire::{Link, Span};

/// What streams are made of, by number; bytes of the fuzzer's own are among it.
const WORDS: [&[u8]; 20] = [
    b"GET / HTTP/1.1\r\n\r\n",
    b"POST /a HTTP/1.1\r\nContent-Length: 20\r\n\r\n",
    b"HEAD /h HTTP/1.1\r\nHost: x\r\n\r\n",
    b"PUT /c HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
    b"CONNECT a:1 HTTP/1.1\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
    b"HTTP/1.1 304 Not Modified\r\n\r\n",
    b"HTTP/1.1 100 Continue\r\n\r\n",
    b"HTTP/1.1 101 Switching Protocols\r\n\r\n",
    b"HTTP/1.0 200 OK\r\n\r\n",
    b"a\r\n0123456789\r\n",
    b"0\r\n\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"\x16\x03\x01\x00\x30\x01\x00\x00\x2c\x03\x03",
    b"\x17\x03\x03\x00\x05abcde",
    b"\x16\x03\x03\x00\x2c\x02\x00\x00\x28\x03\x03",
    b"\xc0\x00\x00\x00\x01\x04abcd\x00\x00\x40\x20",
    b"\x40abcdefgh",
    b"0123456789",
];

/// Connections at once.
const ENDS: usize = 6;
const MOST: usize = 4;
const BUFFER: usize = 4_096;

/// Reads an input. Panics where what this module says does not hold.
pub fn check(bytes: &[u8]) {
    let settings = Settings {
        ports: if bytes.first().is_some_and(|byte| byte & 1 > 0) { vec![80] } else { Vec::new() },
        max_flows: MOST,
        buffer_bytes: BUFFER,
        ..Settings::default()
    };
    let mut follower = Follower::new(settings, Checked::default()).with_opener(Box::new(Plain));
    let mut made = Made { streams: [[0xffff_ff00; 2]; ENDS], now_ns: 1 << 40 };
    let (mut rest, mut made_packets) = (bytes.get(1..).unwrap_or_default(), 0);
    while let Some((step, behind)) = rest.split_first_chunk::<6>() {
        let own = usize::from(step[5] >> 2).min(behind.len());
        let (own, behind) = behind.split_at(own);
        rest = behind;
        for frame in made.step(step, own) {
            made_packets += 1;
            let kept = if step[4] & 0x40 > 0 { frame.len().min(90) } else { frame.len() };
            follower.packet(Link::Ip, made.now_ns, Span::new(&frame[..kept], frame.len()));
        }
        assert!(follower.followed() <= MOST);
    }
    let _ = follower.is_settled();
    let (checked, counts) = follower.finish();
    assert_eq!(checked.connections, counts.connections);
    assert_eq!((checked.packets, counts.packets), (counts.followed, made_packets));
    assert_eq!(counts.packets, counts.followed + counts.unread.total(), "{counts:?}");
    assert_eq!(checked.exchanges, checked.claimed);
}

/// What is told, and whether it hangs together.
#[derive(Debug, Default)]
struct Checked {
    connections: u64,
    packets: u64,
    exchanges: u64,
    /// What connections say that there were.
    claimed: u64,
}

impl FlowObserver for Checked {
    fn connection(&mut self, connection: &ConnectionReport) {
        self.connections += 1;
        self.packets += connection.sent.from_client.packets + connection.sent.from_server.packets;
        self.claimed += connection.exchanges;
        for sent in [&connection.sent.from_client, &connection.sent.from_server] {
            assert!(sent.stream_bytes <= sent.payload_bytes && sent.fragments <= sent.packets);
            assert!(sent.retransmitted + sent.out_of_order + sent.probes <= sent.packets);
        }
        for trips in [&connection.round_trips.from_client, &connection.round_trips.from_server] {
            // Without a sample the median is the minimum, which is an upper bound then.
            let sampled = trips.count > 0;
            assert_eq!(
                (trips.min_ns.is_some(), trips.p99_ns.is_some()),
                (trips.p50_ns.is_some(), sampled)
            );
            assert!(trips.min_ns <= trips.p50_ns, "{trips:?}");
            assert!(
                if sampled { trips.p50_ns <= trips.p99_ns } else { trips.p50_ns == trips.min_ns },
                "{trips:?}"
            );
        }
    }

    fn exchange(&mut self, exchange: &HttpExchange) {
        self.exchanges += 1;
        assert_eq!(exchange.delay_ns.is_none(), exchange.unmeasured.is_some(), "{exchange:?}");
        assert_eq!(exchange.wait_ns.is_some(), exchange.first_byte_ns.is_some(), "{exchange:?}");
        assert!(exchange.first_byte_ns.is_none_or(|first| {
            exchange.wait_ns <= Some(first) || exchange.whole == Some(true)
        }));
    }
}

/// Takes what is said to be protected for what it protects.
#[derive(Debug)]
struct Plain;

impl InitialOpener for Plain {
    fn open<'a>(
        &mut self,
        _version: u32,
        _destination: &[u8],
        number: usize,
        packet: &'a mut [u8],
    ) -> Option<&'a [u8]> {
        packet.get(number..)
    }
}

/// Where streams stand.
struct Made {
    streams: [[u32; 2]; ENDS],
    now_ns: u64,
}

impl Made {
    /// A packet, or its fragments: who, what, where, when.
    fn step(&mut self, step: &[u8; 6], own: &[u8]) -> Vec<Vec<u8>> {
        let [who, what, place, flags, how, _] = *step;
        let connection = usize::from(who >> 1) % ENDS;
        let (by_client, side) = (who & 1 == 0, usize::from(who & 1));
        let word = WORDS[usize::from(what) % WORDS.len()];
        let payload = if what & 0x80 > 0 { own.to_vec() } else { [word, own].concat() };
        let payload = if what & 0x40 > 0 { Vec::new() } else { payload };
        let [mine, other] = [self.streams[connection][side], self.streams[connection][1 - side]];
        let (sequence, goes_on) = match place >> 6 {
            0 | 1 => (mine, true),
            2 => (mine.wrapping_add(u32::from(place & 63)).wrapping_sub(32), false),
            _ => (mine.wrapping_sub(u32::from(place & 63) * 4), false),
        };
        let flags = if flags & 0x80 > 0 { flags } else { 16 | (flags & 1) };
        if goes_on {
            let took = payload.len() as u32 + u32::from(flags & 3 > 0);
            self.streams[connection][side] = mine.wrapping_add(took);
        }
        self.now_ns = match how & 7 {
            0 => self.now_ns.saturating_sub(1 << 33),
            1 => self.now_ns.saturating_add(1 << 32),
            n => self.now_ns.saturating_add(1 << (3 * n)),
        };
        let acknowledgement = other.wrapping_sub(u32::from(place & 3) * 5);
        let ports = if by_client { [1_000, 80] } else { [80, 1_000] };
        let udp = connection == ENDS - 1;
        let window = if how & 8 > 0 { 0 } else { 500 };
        let transport = match udp {
            true => datagram(ports, &payload),
            false => segment(ports, [sequence, acknowledgement], [flags, window as u8], &payload),
        };
        let protocol = if udp { 17 } else { 6 };
        let packets = packets(connection as u8, by_client, protocol, &transport, how & 0x30);
        match how & 0x80 {
            0 => packets,
            _ => packets.iter().map(|packet| tunnelled(packet, place)).collect(),
        }
    }
}

fn datagram(ports: [u16; 2], payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u16 + 8).to_be_bytes();
    [&ports[0].to_be_bytes()[..], &ports[1].to_be_bytes(), &length, &[0, 0], payload].concat()
}

fn segment(
    ports: [u16; 2],
    numbers: [u32; 2],
    [flags, window]: [u8; 2],
    payload: &[u8],
) -> Vec<u8> {
    let mut head = [ports[0].to_be_bytes(), ports[1].to_be_bytes()].concat();
    numbers.iter().for_each(|number| head.extend(number.to_be_bytes()));
    let options: &[u8] = if flags & 2 > 0 { &[2, 4, 1, 0, 3, 3, 7, 0] } else { &[] };
    head.extend([80 + options.len() as u8 * 4, flags, 0, window, 0, 0, 0, 0]);
    [&head, options, payload].concat()
}

/// The packet within IPv4, in GRE with a key or in VXLAN; bits of `place` choose.
fn tunnelled(packet: &[u8], place: u8) -> Vec<u8> {
    let six = packet.first().is_some_and(|first| first >> 4 == 6);
    let kind: [u8; 2] = if six { [0x86, 0xdd] } else { [8, 0] };
    let (protocol, payload) = match place & 3 {
        0 => (if six { 41 } else { 4 }, packet.to_vec()),
        1 => (47, [&[0x20, 0][..], &kind, &[0, 0, 0, place >> 6], packet].concat()),
        2 => (47, [&[0, 0][..], &kind, packet].concat()),
        _ => {
            let frame = [&[8, 0, 0, 0, 0, 0, 1, 0][..], &[2; 12], &kind, packet].concat();
            (17, datagram([9, 4_789], &frame))
        }
    };
    let length = (payload.len() as u16 + 20).to_be_bytes();
    let head =
        [0x45, 0, length[0], length[1], 0, 1, 0, 0, 9, protocol, 0, 0, 7, 7, 7, 7, 8, 8, 8, 8];
    [&head[..], &payload].concat()
}

/// As one packet, or as fragments of eight bytes and the rest, which come in order, the other way round, or
/// without the last.
fn packets(
    connection: u8,
    by_client: bool,
    protocol: u8,
    transport: &[u8],
    how: u8,
) -> Vec<Vec<u8>> {
    let packet = |part: &[u8], at: usize, more: bool| {
        let pieces = how > 0;
        let (mut client, mut server) = ([0; 16], [0; 16]);
        (client[0], client[15], server[0], server[15]) = (0x20, connection, 0x20, 99);
        let (from, to) = if by_client { (client, server) } else { (server, client) };
        if connection.is_multiple_of(2) {
            let next = if pieces { 44 } else { protocol };
            let extra = if pieces { 8 } else { 0 };
            let length = (part.len() as u16 + extra).to_be_bytes();
            let head = [&[0x60, 0, 0, 0, length[0], length[1], next, 9], &from[..], &to].concat();
            let field = (at as u16 | u16::from(more)).to_be_bytes();
            let fragment = [protocol, 0, field[0], field[1], 0, 0, 0, 1];
            return [&head[..], if pieces { &fragment[..] } else { &[] }, part].concat();
        }
        let length = (part.len() as u16 + 20).to_be_bytes();
        let field = ((at as u16 / 8) | if more { 0x2000 } else { 0 }).to_be_bytes();
        let head = [0x45, 0, length[0], length[1], 0, 1, field[0], field[1], 9, protocol, 0, 0];
        [&head[..], &from[12..], &to[12..], part].concat()
    };
    let (first, last) = transport.split_at(8);
    match how {
        0 => vec![packet(transport, 0, false)],
        0x10 => vec![packet(first, 0, true), packet(last, 8, false)],
        0x20 => vec![packet(last, 8, false), packet(first, 0, true)],
        _ => vec![packet(first, 0, true)],
    }
}
