//! What a follower says of captures beside what tshark says of the same files, connection by connection.
//!
//! docs/watch.md, "Beside tshark", tells where the two differ by their rules; each such rule is one here.

mod big;
mod live_tunnels;
mod made;
mod syns;
mod truth;
mod tshark;
mod wrapped;

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::Path;

use sixmark_testkit::skipped;
use sixmark_testkit::wraps::WRAPS;
use sixmark_wire::flow::{
    Closure, ConnectionReport, Counts, Ends, FlowObserver, Follower, HttpExchange, PayloadProtocol,
    Sent, Settings,
};
use sixmark_wire::{Link as LinkType, Span};

use self::made::{Link, Made, Origin, Recording, ask, large_datagrams, load, secure};
use self::tshark::{ACK, FIN, RST, SYN, Shown, streams};

/// What a follower found.
#[derive(Debug, Default)]
struct Found {
    connections: Vec<ConnectionReport>,
    statuses: BTreeMap<Ends, Vec<u16>>,
    requests: BTreeMap<Ends, u64>,
}

impl FlowObserver for Found {
    fn connection(&mut self, connection: &ConnectionReport) {
        self.connections.push(connection.clone());
    }

    fn exchange(&mut self, exchange: &HttpExchange) {
        if exchange.number > 0 {
            *self.requests.entry(exchange.ends).or_default() += 1;
        }
        // tshark shows the head of a response once the whole of it is there.
        let whole = exchange.status.filter(|_| exchange.whole == Some(true));
        self.statuses.entry(exchange.ends).or_default().extend(whole);
    }
}

/// What a follower finds in a capture. No packet vanishes: each is one of a connection, or counted
/// by what it is.
fn follow(made: &Made) -> (Found, Counts) {
    let settings = Settings { ports: made.ports.clone(), ..Settings::default() };
    let mut follower = Follower::new(settings, Found::default());
    let frames = made.frames();
    for (at_ns, frame) in &frames {
        follower.packet(LinkType::Ethernet, *at_ns, Span::new(frame, frame.len()));
    }
    let (found, counts) = follower.finish();
    assert_eq!(counts.packets, frames.len() as u64);
    assert_eq!(counts.packets, counts.followed + counts.unread.total(), "{counts:?}");
    let sent = |of: &ConnectionReport| of.sent.from_client.packets + of.sent.from_server.packets;
    assert_eq!(counts.followed, found.connections.iter().map(sent).sum::<u64>(), "{counts:?}");
    (found, counts)
}

/// tshark's segments of one connection, those of a way each.
struct Stream<'a> {
    all: &'a [Shown],
    client: SocketAddr,
}

impl<'a> Stream<'a> {
    fn by(&self, client: bool) -> impl Iterator<Item = &'a Shown> + Clone + use<'a> {
        let from = self.client;
        self.all.iter().filter(move |shown| (shown.from == from) == client)
    }

    /// From the first SYN to the first answer to it, and to the client's first ACK of that.
    fn opening(&self) -> (Option<u64>, Option<u64>) {
        let Some(syn) = self.by(true).find(|s| s.has(SYN)) else { return (None, None) };
        let answer = self.by(false).find(|s| s.has(SYN) && s.has(ACK));
        let ack = answer.and_then(|answer| {
            self.by(true).find(|s| s.has(ACK) && !s.has(RST) && s.at_ns >= answer.at_ns)
        });
        let after = |shown: &Shown| shown.at_ns - syn.at_ns;
        (answer.map(after), ack.map(after))
    }
}

/// Fails where figures differ.
fn beside_tshark(name: &str, made: &Made) {
    let (found, _) = follow(made);
    let theirs = streams(&made.file);
    let of_ports =
        |s: &Shown| made.ports.contains(&s.to.port()) || made.ports.contains(&s.from.port());
    let theirs: Vec<&Vec<Shown>> = theirs.values().filter(|all| of_ports(&all[0])).collect();
    assert_eq!(found.connections.len(), theirs.len(), "{name}: connections");
    // In the order in which they began, as tshark numbers them.
    let mut ours: Vec<&ConnectionReport> = found.connections.iter().collect();
    ours.sort_by_key(|connection| connection.began_ns);
    for (connection, all) in ours.into_iter().zip(theirs) {
        let name = format!("{name}: {:?}", connection.ends);
        let stream = Stream { all, client: connection.ends.client };
        let ends = [all[0].from, all[0].to];
        assert!(
            ends.contains(&connection.ends.client) && ends.contains(&connection.ends.server),
            "{name}"
        );
        assert_eq!(connection.began_ns, all[0].at_ns, "{name}");
        let last = all.iter().map(|s| s.at_ns).max().unwrap();
        assert_eq!(connection.lasted_ns, last - all[0].at_ns, "{name}: lasted");
        let opening = (connection.opening.answered_ns, connection.opening.established_ns);
        assert_eq!(opening, stream.opening(), "{name}: opening");
        for (by_client, sent) in
            [(true, &connection.sent.from_client), (false, &connection.sent.from_server)]
        {
            sides(&format!("{name}, by client: {by_client}"), sent, stream.by(by_client));
        }
        payload_protocol(&name, connection, all);
    }
    exchanges(name, &found, &made.file);
}

/// One way of a connection.
fn sides<'a>(name: &str, sent: &Sent, theirs: impl Iterator<Item = &'a Shown> + Clone) {
    let sum = |of: fn(&Shown) -> u64| theirs.clone().map(of).sum::<u64>();
    // Fragments: tshark shows a segment with its last fragment, and counts that alone.
    if sent.fragments == 0 {
        assert_eq!(sent.packets, sum(|_| 1), "{name}: packets");
        assert_eq!(sent.frame_bytes, sum(|s| s.frame), "{name}: frames");
    } else {
        assert!(sent.frame_bytes > sum(|s| s.frame), "{name}: frames");
    }
    assert_eq!(sent.payload_bytes, sum(|s| s.payload), "{name}: payload");
    assert_eq!(sent.resets, sum(|s| s.has(RST).into()), "{name}: resets");
    let finished: BTreeSet<u32> = theirs
        .clone()
        .filter(|s| s.has(FIN))
        .map(|s| s.sequence.wrapping_add(s.payload as u32))
        .collect();
    assert_eq!(sent.fins, finished.len() as u64, "{name}: FINs");
    assert_eq!(sent.probes, sum(|s| s.keep_alive.into()), "{name}: keep-alives");
    let again = [sent.retransmitted, sent.out_of_order];
    // What comes again within a round trip is out of order to tshark, though all of it was seen before.
    let seen_before = repeated_soon(theirs.clone());
    let [sent_again, late] = [sum(|s| s.again.into()), sum(|s| s.out_of_order.into())];
    assert_eq!(
        again,
        [sent_again + seen_before, late - seen_before],
        "{name}: retransmitted and out of order"
    );
}

/// How many segments tshark has for out of order of which every byte was seen before.
fn repeated_soon<'a>(theirs: impl Iterator<Item = &'a Shown>) -> u64 {
    let mut seen: BTreeSet<u32> = BTreeSet::new();
    let mut repeated = 0;
    for shown in theirs {
        let bytes = (0..shown.payload as u32).map(|n| shown.begin().wrapping_add(n));
        let new = bytes.filter(|byte| seen.insert(*byte)).count();
        repeated += u64::from(shown.out_of_order && new == 0);
    }
    repeated
}

/// The name that is asked for.
fn payload_protocol(name: &str, connection: &ConnectionReport, all: &[Shown]) {
    let theirs = all.iter().find_map(|s| s.server_name.clone());
    let ours = match &connection.payload_protocol {
        PayloadProtocol::Tls(hello) => hello.server_name.clone(),
        _ => None,
    };
    assert_eq!(ours, theirs, "{name}: SNI");
}

/// Statuses and requests by the two ends. Of a segment that was sent again tshark dissects HTTP once.
fn exchanges(name: &str, found: &Found, file: &Path) {
    let mut statuses: BTreeMap<Ends, Vec<u16>> = BTreeMap::new();
    let mut requests: BTreeMap<Ends, u64> = BTreeMap::new();
    let mut disordered = BTreeSet::new();
    for shown in streams(file).values().flatten() {
        if shown.again || shown.out_of_order {
            disordered.extend([(shown.from, shown.to), (shown.to, shown.from)]);
        }
        let answered = Ends { client: shown.to, server: shown.from };
        statuses.entry(answered).or_default().extend(&shown.status);
        let asked = Ends { client: shown.from, server: shown.to };
        *requests.entry(asked).or_default() += shown.requests;
    }
    // tshark puts nothing together that is out of order, unless told to, nor what was sent again in part.
    let in_order = |ends: &Ends| !disordered.contains(&(ends.client, ends.server));
    statuses.retain(|ends, codes| !codes.is_empty() && in_order(ends));
    requests.retain(|ends, count| *count > 0 && in_order(ends));
    let (mut ours, mut asked) = (found.statuses.clone(), found.requests.clone());
    ours.retain(|ends, codes| !codes.is_empty() && in_order(ends));
    asked.retain(|ends, _| in_order(ends));
    // Where the capture began between a request and its response, tshark shows the latter alone.
    for connection in found.connections.iter().filter(|c| c.doubts.begun_before) {
        let (ours, theirs) = (ours.get(&connection.ends), statuses.get_mut(&connection.ends));
        if let Some(theirs) = theirs.filter(|t| t.len() == ours.map_or(0, Vec::len) + 1) {
            theirs.remove(0);
        }
    }
    statuses.retain(|_, codes| !codes.is_empty());
    assert_eq!(ours, statuses, "{name}: statuses");
    assert_eq!(asked, requests, "{name}: requests");
}

fn left_out() -> bool {
    ["netns", "tcpdump", "tshark"].into_iter().any(skipped)
}

/// Loads over a link, and captures that.
fn loaded(link: &Link, words: &[&str], path: &str) -> Made {
    let origin = Origin::start(link, &[]);
    let recording = Recording::start(link);
    load(link, words, &origin.urls(path));
    recording.finish(origin.ports())
}

#[test]
fn agrees_with_tshark_on_single_and_multi_exchange_connections() {
    if left_out() {
        return;
    }
    for (name, link) in [("plain", Link::plain()), ("offloads", Link::cable())] {
        let made = loaded(&link, &["-n", "60", "-c", "4", "--no-keep-alive"], "/bytes/20000");
        beside_tshark(name, &made);
        let made = loaded(&link, &["-n", "400", "-c", "4"], "/bytes/20000");
        beside_tshark(&format!("{name}, kept"), &made);
        let made = made.without_first(50);
        beside_tshark(&format!("{name}, from its middle"), &made);
        beside_tshark(&format!("{name}, tagged"), &made.wrapped(&WRAPS[0]));
    }
}

#[test]
fn agrees_with_tshark_on_retransmission_and_reordering() {
    if left_out() {
        return;
    }
    let link = Link::bad(0.03, 0.0);
    let made =
        loaded(&link, &["-n", "60", "-c", "4", "--requests-per-connection", "3"], "/bytes/100000");
    let again = |made: &Made| {
        let (found, _) = follow(made);
        found.connections.iter().map(|c| c.sent.from_server.retransmitted).sum::<u64>()
    };
    assert!(again(&made) > 20, "{}", again(&made));
    beside_tshark("loss", &made);
    let link = Link::bad(0.0, 0.05);
    let upload = "x".repeat(60_000);
    let made = loaded(&link, &["-n", "60", "-c", "4", "--body", &upload, "-X", "POST"], "/sink");
    beside_tshark("reordering", &made);
}

#[test]
fn agrees_with_tshark_on_reset_refused_and_open_connections() {
    if left_out() {
        return;
    }
    let link = Link::plain();
    let origin = Origin::start(&link, &[]);
    let recording = Recording::start(&link);
    load(&link, &["-n", "20", "-c", "2"], &origin.urls("/reset"));
    load(
        &link,
        &["-n", "20", "-c", "2", "--no-keep-alive", "--close", "rst"],
        &origin.urls("/bytes/10"),
    );
    let mut ports = origin.ports();
    // Nobody listens there.
    let nobody = 9_999;
    ports.push(nobody);
    let refused = link.addresses().map(|address| SocketAddr::new(address.parse().unwrap(), nobody));
    load(&link, &["-n", "4", "-c", "1"], &refused.map(|to| format!("http://{to}/")));
    let _open: Vec<_> =
        origin.addresses.iter().map(|to| ask(&link, *to, "/bytes/70000", false)).collect();
    origin.addresses.iter().for_each(|to| drop(ask(&link, *to, "/bytes/10", true)));
    let made = recording.finish(ports);
    beside_tshark("ends", &made);
    let found = follow(&made).0.connections;
    let closed = |closure: Closure| found.iter().filter(|c| c.closure == closure).count();
    assert_eq!(closed(Closure::Open), 2, "those that are left open");
    assert!(closed(Closure::Refused) >= 2 && closed(Closure::Normal) >= 2);
    let reset = |by_client| closed(Closure::Reset { by_client });
    assert!(reset(true) >= 20 && reset(false) >= 20, "{} {}", reset(true), reset(false));
}

#[test]
fn agrees_with_tshark_on_tls_server_names() {
    if left_out() || skipped("curl") {
        return;
    }
    let link = Link::plain();
    let origin = Origin::start(&link, &["--tls"]);
    let recording = Recording::start(&link);
    for (to, name) in origin.addresses.iter().zip(["six.sixmark.test", "four.sixmark.test"]) {
        secure(&link, name, *to);
    }
    let made = recording.finish(origin.ports());
    for of in &follow(&made).0.connections {
        let PayloadProtocol::Tls(hello) = &of.payload_protocol else { panic!("{of:?}") };
        let times = (hello.first_flight_ns, hello.handshake_ns);
        assert!(hello.completed && times.0.is_some() && times.0 < times.1, "{hello:?}");
        assert!(of.opening.round_trip_ns().is_some(), "{of:?}");
    }
    beside_tshark("TLS", &made);
}

#[test]
fn agrees_with_tshark_on_ip_fragments() {
    if left_out() {
        return;
    }
    let link = Link::routed();
    let origin = Origin::start(&link, &[]);
    let recording = Recording::start(&link);
    load(&link, &["-n", "20", "-c", "2"], &origin.urls("/bytes/50000"));
    large_datagrams(&link);
    let made = recording.finish(origin.ports());
    let found = follow(&made).0.connections;
    let fragments: u64 = found.iter().map(|c| c.sent.from_server.fragments).sum();
    assert!(fragments > 20, "{fragments}");
    beside_tshark("fragments", &made);
}
