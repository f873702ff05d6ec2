//! A single connection: its endpoints, its streams, and its packets in order.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use sixmark_units::random::Random;

use crate::frame::{self, DirectionEnds, Packet};
use crate::script::Script;
use crate::stream::{self, Stream};

const NAMES: [&str; 3] = ["www.example.org", "static.example.org", "api.example.net"];
/// The maximum number of exchanges on a connection, and the maximum number of bytes in a response.
const EXCHANGES: u64 = 100;
const LARGEST: f64 = 4e6;
const SMALLEST: f64 = 200.0;

/// A connection whose packets are being written.
pub(crate) struct Connection {
    packets: std::vec::IntoIter<Packet>,
    directions: [DirectionEnds; 2],
    streams: [Stream; 2],
    frame: Vec<u8>,
}

impl Connection {
    pub(crate) fn new(random: &mut Random, number: u64, now_ns: u64) -> Connection {
        let secure = random.below(5) == 0;
        let (client, server) = ends(random, number, if secure { 443 } else { 80 });
        let mss: u16 = if server.is_ipv6() { 1_440 } else { 1_460 };
        let rtt_ns = (random.exponential() * 20e6) as u64 + 1_000_000;
        // Timestamps, which are in every segment, reduce the payload that fits in one.
        let mut both =
            ConnectionStreams::new(Script::new(now_ns, rtt_ns, u64::from(mss) - 12), secure);
        both.all(random);
        let [first, other] = [random.bits() as u32, random.bits() as u32];
        let directions = [
            DirectionEnds { from: server, to: client, first: other, other: first, mss },
            DirectionEnds { from: client, to: server, first, other, mss },
        ];
        let mut packets = both.script.packets;
        packets.sort_by_key(|packet| packet.at_ns);
        let (packets, streams) = (packets.into_iter(), [both.server, both.client]);
        Connection { packets, directions, streams, frame: Vec::new() }
    }

    /// Returns the time of the next packet.
    pub(crate) fn next_ns(&self) -> Option<u64> {
        self.packets.as_slice().first().map(|packet| packet.at_ns)
    }

    /// Returns the frame of the next packet.
    pub(crate) fn frame(&mut self) -> &[u8] {
        let packet = self.packets.next().expect("there is one that is due");
        let side = usize::from(packet.by_client);
        frame::write(&packet, &self.directions[side], &self.streams[side], &mut self.frame);
        &self.frame
    }
}

/// Returns the endpoints of a connection. Clients are many, servers are few. No two connections
/// within a minute have the same endpoints.
fn ends(random: &mut Random, number: u64, port: u16) -> (SocketAddr, SocketAddr) {
    let host = (number % 997) as u16;
    let from = 10_000 + (number / 997 % 50_000) as u16;
    let (client, server): (IpAddr, IpAddr) = match random.below(2) {
        0 => (
            Ipv6Addr::new(0x2001, 0xdb8, 0xc, host, 0, 0, 0, 1).into(),
            Ipv6Addr::new(0x2001, 0xdb8, 0x5, 0, 0, 0, 0, 1).into(),
        ),
        _ => (
            Ipv4Addr::new(198, 18, (host >> 8) as u8, host as u8).into(),
            Ipv4Addr::new(192, 0, 2, 1).into(),
        ),
    };
    ((client, from).into(), (server, port).into())
}

/// The streams and packets of both sides.
struct ConnectionStreams {
    script: Script,
    client: Stream,
    server: Stream,
    secure: bool,
}

impl ConnectionStreams {
    fn new(script: Script, secure: bool) -> ConnectionStreams {
        ConnectionStreams { script, client: Stream::default(), server: Stream::default(), secure }
    }

    /// Generates the connection from its SYN to its end.
    fn all(&mut self, random: &mut Random) {
        let mut one_in = |many| random.below(many) == 0;
        let (repeated, refused, before) = (one_in(200), one_in(200), one_in(200));
        if !self.script.open(repeated, refused) {
            return;
        }
        if before {
            // The beginning was not captured.
            self.script.packets.clear();
        }
        let name = NAMES[random.below(NAMES.len() as u64) as usize];
        if self.secure {
            self.shake_hands(name, random);
        }
        let exchanges = match random.below(10) {
            0..4 => 1,
            _ => 1 + ((random.exponential() * 8.0) as u64).min(EXCHANGES),
        };
        for _ in 0..exchanges {
            self.exchange(name, random);
        }
        match random.below(100) {
            0..3 => self.script.reset(true),
            3..5 => self.script.reset(false),
            5..7 => {}
            end => self.script.close(end % 2 == 0),
        }
    }

    fn shake_hands(&mut self, name: &str, random: &mut Random) {
        self.client.say(stream::client_hello(name));
        self.script.ask(self.client.length(), random);
        self.script.pause(400_000);
        self.server.say(stream::server_hello(2_800));
        self.script.answer(self.server.length(), random);
        let finished = stream::client_finished();
        let length = finished.len() as u64;
        self.client.say(finished);
        self.script.ask(length, random);
    }

    fn exchange(&mut self, name: &str, random: &mut Random) {
        let upload = if random.below(20) == 0 { 2_000 + random.below(60_000) } else { 0 };
        let status = [200, 200, 200, 200, 200, 200, 200, 304, 404, 503][random.below(10) as usize];
        let content = if status == 304 { 0 } else { size(random) };
        let request = stream::request(name, random.below(1_000_000), upload);
        let response = stream::response(status, content);
        let asked = put(&mut self.client, self.secure, request, upload);
        self.script.ask(asked, random);
        self.script.pause(60_000 + (random.exponential() * 2e6) as u64);
        let answered = put(&mut self.server, self.secure, response, content);
        self.script.answer(answered, random);
        self.script.pause((random.exponential() * 30e6) as u64);
    }
}

/// Adds a head and `content` bytes to a stream, in TLS records if it is secure. Returns the number
/// of bytes added.
fn put(stream: &mut Stream, secure: bool, head: Vec<u8>, content: u64) -> u64 {
    let before = stream.length();
    if !secure {
        stream.say(head);
        stream.fill(content);
        return stream.length() - before;
    }
    let mut rest = head.len() as u64 + content;
    while rest > 0 {
        let length = rest.min(16_000);
        rest -= length;
        stream.say(stream::application(length as usize + 17));
    }
    stream.length() - before
}

/// Returns a random content length in bytes. Half of them are below 6,000, and some are megabytes.
fn size(random: &mut Random) -> u64 {
    // The sum of twelve uniform numbers approximates a normal distribution.
    let normal =
        (0..12).map(|_| random.below(1 << 20) as f64 / f64::from(1 << 20)).sum::<f64>() - 6.0;
    (6_000.0 * (normal * 1.6).exp()).clamp(SMALLEST, LARGEST) as u64
}
