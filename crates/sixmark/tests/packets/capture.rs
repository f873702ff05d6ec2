//! What a run counted beside what was on the wire. How close its times come depends on how long the
//! machine's calls take, so that the order of the two alone is asked for here.

use std::collections::HashMap;
use std::net::SocketAddr;

use sixmark_tally::family_result::FamilyResult;
use sixmark_testkit::figures::{of, outcome, run, take_turn};
use sixmark_testkit::nginx::NGINX;
use sixmark_testkit::web_server::{ServerSettings, WebServer};
use sixmark_testkit::{Origin, skipped};
use sixmark_units::family::{Family, PerFamily};

use super::segments::Segment;
use super::tcpdump::Tcpdump;

/// Requests of each family; every other one is answered with a reset.
const EACH: u64 = 2_000;
/// By how much a time may be short for want of digits: both clocks tell microseconds, and a
/// histogram keeps three digits.
const RESOLUTION_US: f64 = 2.0;
const RESOLUTION_SHARE: f64 = 0.002;

/// What the wire saw of one family.
#[derive(Debug, Default)]
struct Seen {
    /// SYNs of clients, each connection's first alone and repeated ones.
    syns: u64,
    repeated: u64,
    /// From a connection's SYN to the SYN-ACK, in nanoseconds.
    handshakes: Vec<u64>,
    /// Segments that begin a request.
    requests: u64,
    /// Connections that the server, or the client, cut off with a RST.
    server_resets: u64,
    client_resets: u64,
}

/// A connection: from client to server.
type Ends = (SocketAddr, SocketAddr);

#[derive(Debug)]
struct Connection {
    sequence: u32,
    at: u64,
    answered: bool,
    /// The client has said its last word, or one side has cut it off.
    over: bool,
}

fn look_at(segments: &[Segment], servers: &[SocketAddr]) -> PerFamily<Seen> {
    let mut seen: PerFamily<Seen> = PerFamily::default();
    let mut open: HashMap<Ends, Connection> = HashMap::new();
    for segment in segments {
        let seen = &mut seen[Family::of(segment.to.ip())];
        if servers.contains(&segment.to) {
            seen.client_sent(segment, &mut open);
        } else if let Some(connection) = open.get_mut(&(segment.to, segment.from)) {
            seen.server_sent(segment, connection);
        }
    }
    seen
}

impl Seen {
    fn client_sent(&mut self, segment: &Segment, open: &mut HashMap<Ends, Connection>) {
        let ends = (segment.from, segment.to);
        let (sequence, at) = (segment.sequence, segment.at);
        if segment.syn() && open.get(&ends).is_some_and(|known| known.sequence == sequence) {
            self.repeated += 1;
        } else if segment.syn() {
            self.syns += 1;
            open.insert(ends, Connection { sequence, at, answered: false, over: false });
        }
        self.requests += u64::from(segment.payload.starts_with(b"GET "));
        let Some(connection) = open.get_mut(&ends) else { return };
        self.client_resets += u64::from(segment.rst() && !connection.over);
        connection.over |= segment.rst() || segment.fin();
    }

    /// A RST after the client's FIN cuts nothing off: it is what a host answers that has no room
    /// left for connections in TIME-WAIT (`nstat TcpExtTCPTimeWaitOverflow`).
    fn server_sent(&mut self, segment: &Segment, connection: &mut Connection) {
        if segment.syn() && segment.ack() && !connection.answered {
            connection.answered = true;
            self.handshakes.push(segment.at.saturating_sub(connection.at));
        }
        self.server_resets += u64::from(segment.rst() && !connection.over);
        connection.over |= segment.rst();
    }

    /// The median handshake in microseconds.
    fn median(&mut self) -> f64 {
        self.handshakes.sort_unstable();
        self.handshakes[self.handshakes.len() / 2] as f64 / 1e3
    }
}

/// The counts are the same. A handshake on the wire lies between the client's call and the moment
/// at which the client learns of its success, and so do the medians: the wire's is never longer.
fn agree(family: Family, figures: &FamilyResult, seen: &mut Seen, connections: &str) {
    let reset = EACH / 2;
    let counted = ["NORMAL", "RESET"].map(|name| outcome(figures, name));
    assert_eq!(counted, [EACH - reset, reset], "{:?}", figures.failures);
    let opened = figures.connections.opened;
    assert_eq!([seen.syns, seen.repeated, seen.handshakes.len() as u64], [opened, 0, opened]);
    assert_eq!(seen.requests, figures.requests.sent);
    assert_eq!([seen.server_resets, seen.client_resets], [reset, 0]);
    let (ours, wire) = (figures.connect_us.p50.unwrap(), seen.median());
    println!("-c {connections}, {family}: connect p50 {ours:.1} us, SYN to SYN-ACK {wire:.1} us");
    assert!(wire <= ours * (1.0 + RESOLUTION_SHARE) + RESOLUTION_US, "{family}: {wire} > {ours}");
}

fn run_beside_tcpdump(connections: &str) {
    if skipped("nginx") || skipped("tcpdump") {
        return;
    }
    let _turn = take_turn();
    let (nginx, origin) = (WebServer::start(&NGINX, &ServerSettings::default()), Origin::start());
    let urls = [nginx.urls("/4k"), origin.urls("/reset")].concat();
    let servers: Vec<SocketAddr> = urls.iter().map(|url| address(url)).collect();
    let ports: Vec<u16> = servers.iter().map(SocketAddr::port).collect();
    let tcpdump = Tcpdump::start(&ports);
    let load = ["-n", "4000", "--no-keep-alive", "--timeout", "60s", "-c", connections];
    let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
    let result = run(&[&load, &urls[..]].concat());
    let mut seen = look_at(&tcpdump.finish(servers[0]), &servers);
    for family in Family::BOTH {
        agree(family, of(&result, family), &mut seen[family], connections);
    }
}

/// The address in a URL.
fn address(url: &str) -> SocketAddr {
    url.split('/').nth(2).unwrap().parse().unwrap()
}

#[test]
fn run_counts_agree_with_the_captured_packets() {
    run_beside_tcpdump("8");
}

#[test]
fn counts_of_a_thousand_connections_agree_with_the_captured_packets() {
    run_beside_tcpdump("1000");
}
