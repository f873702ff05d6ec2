//! Every protocol over both families at once, in a closed and in an open loop, over both drivers:
//! what sixmark counts and what the server's log says.

use std::collections::BTreeMap;
use std::path::Path;

use sixmark_result::result::RunResult;
use sixmark_tally::family_result::FamilyResult;
use sixmark_testkit::client::Protocol;
use sixmark_testkit::figures::{assert_normal, of, run};
use sixmark_testkit::nginx::NGINX;
use sixmark_testkit::web_server::{LogLine, SIZE, ServerKind, ServerSettings, WebServer};
use sixmark_testkit::{Origin, skipped};
use sixmark_units::family::Family;

use super::apache::APACHE;
use super::caddy::CADDY;
use super::nghttpd::NGHTTPD;

/// Requests of each family in a run, and connections over both.
const EACH: u64 = 20;
const CONNECTIONS: u64 = 4;

/// What is spoken.
struct Row {
    protocol: Protocol,
    secure: bool,
    options: &'static [&'static str],
    /// As servers log it.
    version: &'static str,
}

const ROWS: [Row; 5] = [
    Row { protocol: Protocol::Http1, secure: false, options: &[], version: "HTTP/1.1" },
    Row { protocol: Protocol::Http1, secure: true, options: &[], version: "HTTP/1.1" },
    Row { protocol: Protocol::Http2, secure: true, options: &["--http2"], version: "HTTP/2.0" },
    Row {
        protocol: Protocol::Http2,
        secure: false,
        options: &["--http2-prior-knowledge"],
        version: "HTTP/2.0",
    },
    Row { protocol: Protocol::Http3, secure: true, options: &["--http3"], version: "HTTP/3.0" },
];

/// How requests follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RequestPacing {
    Closed,
    Open,
    /// A connection for each.
    Alone,
    /// Several at once on a connection, where the protocol can.
    Streams,
}

const PACINGS: [RequestPacing; 4] =
    [RequestPacing::Closed, RequestPacing::Open, RequestPacing::Alone, RequestPacing::Streams];

impl RequestPacing {
    fn options(self) -> &'static [&'static str] {
        match self {
            RequestPacing::Closed => &[],
            RequestPacing::Open => &["--rate", "2000/s"],
            RequestPacing::Alone => &["--no-keep-alive"],
            RequestPacing::Streams => &["--streams", "3"],
        }
    }
}

/// Where to find a server, and what to trust.
struct Place<'a> {
    urls: [String; 2],
    authority: &'a Path,
}

/// Loads a server in each way that a row can go: how many connections of each family there were,
/// and how many requests.
fn load(row: &Row, place: &Place<'_>) -> [[u64; 2]; 2] {
    let mut sums = [[0; 2]; 2];
    for pacing in PACINGS {
        if pacing == RequestPacing::Streams && row.protocol == Protocol::Http1 {
            continue;
        }
        for driver in ["uring", "epoll"] {
            let result = load_once(row, place, pacing, driver);
            for (sum, family) in sums.iter_mut().zip(Family::BOTH) {
                let figures = of(&result, family);
                check(row, pacing, figures);
                *sum = [sum[0] + figures.connections.opened, sum[1] + EACH];
            }
        }
    }
    sums
}

fn load_once(row: &Row, place: &Place<'_>, pacing: RequestPacing, driver: &str) -> RunResult {
    let (requests, connections) = ((2 * EACH).to_string(), CONNECTIONS.to_string());
    let load = ["-n", &requests, "-c", &connections, "--timeout", "60s", "--driver", driver];
    let authority = ["--cacert", place.authority.to_str().unwrap()];
    let trust = if row.secure { &authority[..] } else { &[] };
    let urls = place.urls.each_ref().map(String::as_str);
    let result = run(&[&load, row.options, pacing.options(), trust, &urls].concat());
    assert_eq!(result.generator.driver, driver);
    result
}

/// What is the same of every protocol, and what differs.
fn check(row: &Row, pacing: RequestPacing, figures: &FamilyResult) {
    let what = format!("{} {pacing:?} {:?}", row.version, figures.connections);
    assert_normal(figures, EACH);
    assert_eq!(figures.status, [(200, EACH)].into(), "{what}");
    assert_eq!(figures.bytes.body, EACH * SIZE, "{what}");
    assert!(figures.bytes.received > EACH * SIZE && figures.bytes.sent > 0, "{what}");
    let opened = figures.connections.opened;
    let expected = if pacing == RequestPacing::Alone { EACH..=EACH } else { 1..=CONNECTIONS };
    assert!(expected.contains(&opened), "{what}");
    let ended = [figures.connections.closed, figures.connections.reset_sent];
    assert_eq!(ended, [opened, 0], "{what}");
    let counts = [&figures.connect_us, &figures.lifetime_us].map(|summary| summary.count);
    // QUIC connects by its handshake, which is counted as such.
    let connects = if row.protocol == Protocol::Http3 { 0 } else { opened };
    assert_eq!(counts, [connects, opened], "{what}");
    let counts = [&figures.wait_us, &figures.transfer_us, &figures.response_us].map(|s| s.count);
    assert_eq!(counts, [EACH; 3], "{what}");
    let of_clock = [&figures.slip_us, &figures.service_us].map(|s| s.as_ref().map(|s| s.count));
    assert_eq!(of_clock, [(pacing == RequestPacing::Open).then_some(EACH); 2], "{what}");
    check_tls(row, figures);
    check_quic(row, figures);
    check_server_fields(&what, figures);
}

/// A server that names itself does so in every response.
fn check_server_fields(what: &str, figures: &FamilyResult) {
    let fields = figures.server_fields.as_ref().unwrap_or_else(|| panic!("{what}"));
    assert!((1..=EACH).contains(&fields.sampled), "{what} {fields:?}");
    if let Some(names) = fields.values.get("server") {
        let counts: Vec<u64> = names.values().copied().collect();
        assert_eq!(counts, [fields.sampled], "{what} {fields:?}");
    }
}

/// A full handshake for each connection, or none at all.
fn check_tls(row: &Row, figures: &FamilyResult) {
    assert_eq!(figures.tls.is_some(), row.secure);
    let Some(tls) = &figures.tls else { return };
    let opened = figures.connections.opened;
    let times = [tls.tls_us.count, tls.full_us.count, tls.resumed_us.count];
    assert_eq!(times, [opened, opened, 0]);
    let handshakes = tls.handshakes;
    let counts = [handshakes.full, handshakes.resumed, handshakes.offered, handshakes.failed];
    assert_eq!(counts, [opened, 0, 0, 0]);
    assert_eq!(tls.alpn, [(row.protocol.alpn().to_owned(), opened)].into());
    assert_eq!(tls.versions, [("TLSv1.3".to_owned(), opened)].into());
    assert_eq!(tls.certificates.len(), 1, "{:?}", tls.certificates);
    assert_eq!(tls.certificates[0].count, opened);
}

/// What carried it: QUIC or TCP, and never both.
fn check_quic(row: &Row, figures: &FamilyResult) {
    let opened = figures.connections.opened;
    let Some(quic) = &figures.quic else { return assert_ne!(row.protocol, Protocol::Http3) };
    assert_eq!((row.protocol, figures.tcp.read), (Protocol::Http3, 0));
    let counts = [quic.connections, quic.retried, quic.rtt_us.count, quic.dropped];
    assert_eq!(counts, [opened, 0, opened, 0]);
    // Each connection takes more than one packet, and each request is in one.
    assert!(quic.packets_sent > 2 * opened && quic.packets_sent > quic.packets_lost);
    // The least that QUIC needs (RFC 9000, 14), and no more than goes through Ethernet.
    assert!(quic.mtu.keys().all(|mtu| (1_200..=1_500).contains(mtu)), "{:?}", quic.mtu);
    assert_eq!(quic.mtu.values().sum::<u64>(), opened);
}

/// Requests and connections by version, TLS and family.
type Account = BTreeMap<(String, bool, Family), [u64; 2]>;

/// Whether a server's log tells when a connection carried its first request.
fn served(kind: &ServerKind, knows_connections: bool, keeps_log: bool) {
    if skipped(kind.skip) {
        return;
    }
    let server = WebServer::start(kind, &ServerSettings::default());
    let authority = server.authority();
    let mut expected = Account::new();
    for row in &ROWS {
        let offered = if row.secure { kind.secure } else { kind.plain };
        if !offered.contains(&row.protocol) {
            continue;
        }
        let urls = if row.secure { server.secure_urls("/4k") } else { server.urls("/4k") };
        let sums = load(row, &Place { urls, authority: &authority });
        for (family, [opened, sent]) in Family::BOTH.into_iter().zip(sums) {
            let opened = if knows_connections { opened } else { 0 };
            expected.insert((row.version.to_owned(), row.secure, family), [sent, opened]);
        }
    }
    if keeps_log {
        assert_eq!(logged(&server.into_log(), knows_connections), expected);
    }
}

fn logged(log: &[LogLine], knows_connections: bool) -> Account {
    let mut account = Account::new();
    for line in log {
        assert_eq!(line.status, 200);
        let of = account.entry((line.version.clone(), line.secure, line.family)).or_default();
        *of = [of[0] + 1, of[1] + u64::from(knows_connections && line.first)];
    }
    account
}

#[test]
fn nginx_serves_every_protocol() {
    served(&NGINX, true, true);
}

#[test]
fn apache_serves_every_protocol() {
    // Its streams of HTTP/2 are connections to themselves.
    served(&APACHE, false, true);
}

#[test]
fn nghttpd_serves_every_protocol() {
    served(&NGHTTPD, false, false);
}

#[test]
fn caddy_serves_every_protocol() {
    served(&CADDY, false, false);
}

#[test]
fn the_origin_serves_every_protocol() {
    let [plain, secure] = [Origin::start(), Origin::secure()];
    let path = format!("/bytes/{SIZE}");
    for row in &ROWS {
        let urls = if row.secure { &secure } else { &plain }.urls(&path);
        load(row, &Place { urls, authority: Path::new(secure.authority()) });
    }
}
