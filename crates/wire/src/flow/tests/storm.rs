//! Tests with random connections whose segments are cut anywhere, reordered, duplicated and
//! interleaved. The expected results are recorded when the connections are generated.

use super::super::budget::Budget;
use super::*;
use sixmark_units::random::Random;

/// A connection under construction.
struct GeneratedConnection {
    made_port: u16,
    /// The segments to capture, in order: sent by the client, position, ACK, bytes.
    segments: Vec<(bool, u32, u32, Vec<u8>)>,
    told: Vec<(String, u16, u64)>,
    bytes: PerDirection<u64>,
    /// The numbers of duplicated segments and of segments that follow a later one.
    again: PerDirection<u64>,
    late: PerDirection<u64>,
}

fn request(random: &mut Random, n: usize) -> (String, Vec<u8>) {
    let method = ["GET", "POST", "HEAD", "PUT"][random.below(4) as usize];
    let path = format!("/{n}/{}", "p".repeat(random.below(60) as usize));
    let body = if ["POST", "PUT"].contains(&method) { random.below(5_000) as usize } else { 0 };
    let head = format!("{method} {path} HTTP/1.1\r\nHost: h\r\nContent-Length: {body}\r\n\r\n");
    (format!("{method} {path}"), [head.into_bytes(), vec![b'G'; body]].concat())
}

fn response(random: &mut Random, asked: &str) -> (u16, u64, Vec<u8>) {
    let content = random.below(9_000);
    let bytes = vec![b'H'; content as usize];
    let interim = if random.below(5) == 0 { "HTTP/1.1 103 Early\r\nLink: x\r\n\r\n" } else { "" };
    if asked.starts_with("HEAD") {
        let head = format!("{interim}HTTP/1.1 200 OK\r\nContent-Length: {content}\r\n\r\n");
        return (200, 0, head.into_bytes());
    }
    match random.below(3) {
        0 => (304, 0, format!("{interim}HTTP/1.1 304 No\r\nETag: \"x\"\r\n\r\n").into_bytes()),
        1 => {
            let head = format!("{interim}HTTP/1.1 200 OK\r\nContent-Length: {content}\r\n\r\n");
            (200, content, [head.into_bytes(), bytes].concat())
        }
        _ => {
            let mut all = format!("{interim}HTTP/1.1 500 Oh\r\nTransfer-Encoding: chunked\r\n\r\n")
                .into_bytes();
            for chunk in bytes.chunks(1 + random.below(4_000) as usize) {
                all.extend(format!("{:x};a=b\r\n", chunk.len()).bytes());
                all.extend(chunk);
                all.extend(b"\r\n");
            }
            all.extend(b"0\r\n\r\n");
            (500, content, all)
        }
    }
}

impl GeneratedConnection {
    fn new(random: &mut Random, port: u16) -> GeneratedConnection {
        let (segments, told) = (Vec::new(), Vec::new());
        let (bytes, again, late) = Default::default();
        let mut generated =
            GeneratedConnection { made_port: port, segments, told, bytes, again, late };
        for _ in 0..1 + random.below(5) {
            generated.group(random);
        }
        generated
    }

    /// Adds some requests, pipelined if there are several, and their responses.
    fn group(&mut self, random: &mut Random) {
        let (mut asked, mut answered) = (Vec::new(), Vec::new());
        let count = if random.below(4) == 0 { 3 } else { 1 };
        for n in 0..count {
            let (what, bytes) = request(random, self.told.len() + n);
            let (status, content, response) = response(random, &what);
            asked.extend(bytes);
            answered.extend(response);
            self.told.push((what, status, content));
        }
        self.send(random, true, &asked);
        self.send(random, false, &answered);
    }

    /// Cuts a part of a stream into segments, and delays or duplicates some of them.
    fn send(&mut self, random: &mut Random, by_client: bool, bytes: &[u8]) {
        let (begin, ack) =
            (*self.bytes.of(by_client) as u32 + 1, *self.bytes.of(!by_client) as u32 + 1);
        let (mut pieces, mut at) = (Vec::new(), 0);
        while at < bytes.len() {
            let mut end = (at + 2 + random.below(990) as usize).min(bytes.len());
            if bytes.len() - end < 2 {
                end = bytes.len();
            }
            pieces.push((begin + at as u32, bytes[at..end].to_vec()));
            at = end;
        }
        *self.bytes.of(by_client) += bytes.len() as u64;
        for n in 0..pieces.len() {
            if random.below(5) == 0 {
                let other = (n + random.below(8) as usize).min(pieces.len() - 1);
                pieces.swap(n, other);
            }
        }
        let (mut highest, mut known): (u32, Vec<(u32, Vec<u8>)>) = (begin, Vec::new());
        for (start, piece) in pieces {
            *self.late.of(by_client) += u64::from(start < highest);
            highest = highest.max(start + piece.len() as u32);
            self.segments.push((by_client, start, ack, piece.clone()));
            known.push((start, piece));
            if random.below(6) == 0 {
                let (start, piece) = known[random.below(known.len() as u64) as usize].clone();
                *self.again.of(by_client) += 1;
                self.segments.push((by_client, start, ack, piece));
            }
        }
    }
}

#[test]
fn reads_interleaved_exchanges_despite_splits_reordering_and_repeats() {
    for seed in 0..150 {
        for family in Family::BOTH {
            let mut random = Random::new(seed, 0);
            let mut made = Made::new(family, 1);
            let mut all: Vec<GeneratedConnection> =
                (1..6).map(|port| GeneratedConnection::new(&mut random, port)).collect();
            let room = made.follower.flows.settings.buffer_bytes;
            for generated in &all {
                made.ends.client.set_port(generated.made_port);
                // Makes the round-trip time long: what arrives within it counts as reordered, not
                // retransmitted.
                made.client(SYN, 0, 0, b"");
                made.now_ns += 1_000_000_000;
                made.server(SYN | ACK, 0, 1, b"");
                made.client(ACK, 1, 1, b"");
            }
            let mut next = [0; 5];
            loop {
                let open: Vec<usize> =
                    (0..5).filter(|n| next[*n] < all[*n].segments.len()).collect();
                let Some(n) = open.get(random.below(open.len().max(1) as u64) as usize) else {
                    break;
                };
                let generated = &mut all[*n];
                made.ends.client.set_port(generated.made_port);
                let (by_client, at, ack, bytes) = &generated.segments[next[*n]];
                made.send(*by_client, ACK, *at, *ack, bytes);
                next[*n] += 1;
            }
            for generated in &all {
                made.ends.client.set_port(generated.made_port);
                let [client, server] = [
                    generated.bytes.from_client as u32 + 1,
                    generated.bytes.from_server as u32 + 1,
                ];
                made.client(ACK, client, server, b"");
                made.server(ACK | FIN, server, client, b"");
                made.client(ACK | FIN, client, server + 1, b"");
            }
            // All buffered data was returned to the budget.
            let budget = std::mem::replace(&mut made.follower.flows.budget, Budget::new(0));
            assert_eq!(budget.left(), room, "seed {seed}");
            check(made, &all, seed);
        }
    }
}

fn check(made: Made, all: &[GeneratedConnection], seed: u64) {
    let (kept, _) = made.follower.finish();
    let exchanges = kept.exchanges.finish(0);
    for generated in all {
        let port = generated.made_port;
        let mut own: Vec<_> = exchanges.iter().filter(|t| t.ends.client.port() == port).collect();
        // A later request may have been seen before the rest of an earlier one.
        own.sort_by_key(|t| t.number);
        let found: Vec<_> = own
            .iter()
            .map(|t| {
                assert_eq!(t.whole, Some(true), "seed {seed} port {port} {t:?}");
                (format!("{} {}", t.method, t.path), t.status.unwrap(), t.content_bytes)
            })
            .collect();
        assert_eq!(found, generated.told, "seed {seed} port {port}");
        let connection = kept.connections.iter().find(|c| c.ends.client.port() == port).unwrap();
        assert_eq!(connection.closure, Closure::Normal);
        assert_eq!(connection.doubts, Doubts::default(), "seed {seed}");
        let ways = [
            (
                connection.sent.from_client,
                generated.bytes.from_client,
                generated.again.from_client,
                generated.late.from_client,
            ),
            (
                connection.sent.from_server,
                generated.bytes.from_server,
                generated.again.from_server,
                generated.late.from_server,
            ),
        ];
        for (sent, bytes, again, late) in ways {
            assert_eq!(
                (sent.stream_bytes, sent.retransmitted),
                (bytes, again),
                "seed {seed} {port}"
            );
            assert_eq!((sent.out_of_order, sent.probes, sent.fins), (late, 0, 1), "seed {seed}");
        }
    }
}
