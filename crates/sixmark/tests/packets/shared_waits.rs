//! How long responses were waited for on connections that exchanges share, by sixmark's clock and on
//! the wire. How close they come in microseconds depends on the machine, so that their order and
//! their ratio are asked for here.

use std::collections::HashMap;
use std::net::SocketAddr;

use sixmark_testkit::figures::{assert_normal, of, run, take_turn};
use sixmark_testkit::nginx::NGINX_CLEAR_HTTP2;
use sixmark_testkit::skipped;
use sixmark_testkit::web_server::{ServerSettings, WebServer};
use sixmark_units::family::{Family, PerFamily};

use super::segments::Segment;
use super::tcpdump::Tcpdump;

/// Requests of each family. They take some tenths of a second, after the first of which completions
/// are batched.
const EACH: u64 = 20_000;
/// What a client sends before its first frame (RFC 9113, 3.4).
const PREFACE: usize = 24;
/// Bytes of a frame's header (RFC 9113, 4.1), and the type of a frame with headers (6.2).
const FRAME_HEADER: usize = 9;
const HEADERS: u8 = 1;

/// The bytes of one direction of a connection that were not parsed yet.
#[derive(Default)]
struct Direction {
    bytes: Vec<u8>,
    begun: bool,
}

impl Direction {
    /// Adds a segment. Returns the streams of the frames with headers that are complete with it.
    fn add(&mut self, payload: &[u8], preface: usize) -> Vec<u32> {
        self.bytes.extend(payload);
        let mut streams = Vec::new();
        if !self.begun && self.bytes.len() >= preface {
            self.bytes.drain(..preface);
            self.begun = true;
        }
        while self.begun && self.bytes.len() >= FRAME_HEADER {
            let length = u32::from_be_bytes([0, self.bytes[0], self.bytes[1], self.bytes[2]]);
            let end = FRAME_HEADER + length as usize;
            if self.bytes.len() < end {
                break;
            }
            if self.bytes[3] == HEADERS {
                streams.push(u32::from_be_bytes(self.bytes[5..FRAME_HEADER].try_into().unwrap()));
            }
            self.bytes.drain(..end);
        }
        streams
    }
}

/// From the end of each request's headers to that of its response's, nanoseconds.
fn waits(segments: &[Segment], servers: &[SocketAddr]) -> PerFamily<Vec<u64>> {
    let mut waits: PerFamily<Vec<u64>> = PerFamily::default();
    let mut directions: HashMap<(SocketAddr, SocketAddr), Direction> = HashMap::new();
    let mut asked: HashMap<(SocketAddr, u32), u64> = HashMap::new();
    for segment in segments.iter().filter(|segment| segment.carries > 0) {
        assert_eq!(segment.payload.len(), segment.carries, "a segment was captured in part");
        let direction = directions.entry((segment.from, segment.to)).or_default();
        let request = servers.contains(&segment.to);
        for stream in direction.add(&segment.payload, if request { PREFACE } else { 0 }) {
            if request {
                asked.insert((segment.from, stream), segment.at);
            } else if let Some(at) = asked.remove(&(segment.to, stream)) {
                waits[Family::of(segment.to.ip())].push(segment.at.saturating_sub(at));
            }
        }
    }
    waits
}

/// A wait in microseconds: sixmark's, and the wire's.
struct Compared {
    ours: f64,
    wire: f64,
}

/// The median wait and its 99th percentile.
fn quantiles(more: &[&str]) -> PerFamily<[Compared; 2]> {
    let nginx = WebServer::start(&NGINX_CLEAR_HTTP2, &ServerSettings::default());
    let [v6, v4] = nginx.urls("/name");
    let servers = Family::BOTH.map(|family| nginx.address(family));
    let tcpdump = Tcpdump::start_whole(&servers.map(|server| server.port()));
    let load = ["-n", "40000", "--timeout", "60s", "--http2-prior-knowledge"];
    let result = run(&[&load[..], more, &[&v6, &v4]].concat());
    let mut waits = waits(&tcpdump.finish(servers[0]), &servers);
    PerFamily::from_fn(|family| {
        let (figures, waits) = (of(&result, family), &mut waits[family]);
        assert_normal(figures, EACH);
        assert_eq!(waits.len() as u64, EACH, "{family}: responses on the wire");
        waits.sort_unstable();
        [(0.5, figures.wait_us.p50), (0.99, figures.wait_us.p99)].map(|(q, ours)| {
            let wire = waits[(waits.len() as f64 * q) as usize] as f64 / 1e3;
            let ours = ours.unwrap();
            println!("{more:?}, {family}: wait p{:.0} {ours:.1} us, wire {wire:.1} us", q * 100.0);
            Compared { ours, wire }
        })
    })
}

/// Runs with few and with many exchanges in flight, over one driver.
fn agree(driver: &str) {
    if skipped("nginx") || skipped("tcpdump") {
        return;
    }
    let _turn = take_turn();
    for [connections, streams] in [["4", "10"], ["8", "32"]] {
        let more = ["--driver", driver, "-c", connections, "--streams", streams];
        for (family, compared) in quantiles(&more).iter() {
            for Compared { ours, wire } in compared {
                assert!(ours > wire, "{family}: {ours} is not above {wire}");
            }
            // The 99th percentile is late as well where other tests take the client's CPU away.
            let [Compared { ours, wire }, _] = compared;
            assert!(*ours < wire * 1.5, "{family}: {ours} is not {wire}");
        }
    }
}

#[test]
fn waits_on_shared_connections_agree_with_the_wire_with_epoll() {
    agree("epoll");
}

#[test]
fn waits_on_shared_connections_agree_with_the_wire_with_io_uring() {
    agree("uring");
}
