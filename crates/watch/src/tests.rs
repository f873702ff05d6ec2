use std::net::SocketAddr;

use super::lines::{LineForm, WatchLines};
use super::*;
use sixmark_tally::outcome::Outcome;
use sixmark_units::family::{Family, PerFamily};
use sixmark_wire::flow::{
    Closure, ConnectionReport, Counts, Doubts, Ends, FamilyCounts, FlowObserver, Hello,
    HttpExchange, Opening, PayloadProtocol, PerDirection, RoundTrips, Sent, Unmeasured,
};

const MS: u64 = 1_000_000;
const BEGIN: u64 = 1_700_000_000_000 * MS;

fn ends(family: Family, port: u16) -> Ends {
    let (client, server) = match family {
        Family::Ipv6 => ("2001:db8::1", "[2001:db8::2]:80"),
        Family::Ipv4 => ("192.0.2.1", "192.0.2.2:80"),
    };
    let client = SocketAddr::new(client.parse().unwrap(), port);
    Ends { client, server: server.parse().unwrap() }
}

fn connection(ends: Ends, closure: Closure) -> ConnectionReport {
    let sent = Sent { packets: 5, stream_bytes: 100, mss: Some(1_440), ..Sent::default() };
    let trips =
        RoundTrips { count: 2, min_ns: Some(MS), p50_ns: Some(2 * MS), p99_ns: Some(3 * MS) };
    ConnectionReport {
        ends,
        before: 0,
        via: sixmark_wire::Via::default(),
        began_ns: BEGIN,
        lasted_ns: 50 * MS,
        opening: Opening {
            seen: true,
            syns: 2,
            answered_ns: Some(MS),
            established_ns: Some(2 * MS),
            replied_ns: None,
        },
        closure,
        sent: PerDirection { from_client: sent, from_server: Sent { stream_bytes: 900, ..sent } },
        round_trips: PerDirection { from_client: trips.clone(), from_server: trips },
        payload_protocol: PayloadProtocol::Http1,
        exchanges: 1,
        missing: None,
        statuses: Default::default(),
        doubts: Doubts::default(),
    }
}

/// An exchange that began `after_ms` milliseconds after the capture and took 10 ms.
fn exchange(ends: Ends, after_ms: u64, whole: bool) -> HttpExchange {
    HttpExchange {
        ends,
        number: 1,
        method: "GET".into(),
        path: "/a,\"b\"\n".into(),
        host: Some("example.net".into()),
        status: whole.then_some(200),
        began_ns: BEGIN + after_ms * MS,
        request_ns: Some(MS),
        interims: 1,
        interim_ns: Some(2 * MS),
        wait_ns: Some(3 * MS),
        first_byte_ns: whole.then_some(4 * MS),
        transfer_ns: whole.then_some(6 * MS),
        whole: Some(whole),
        content_bytes: if whole { 1_000 } else { 0 },
        delay_ns: Some(8 * MS),
        acknowledged_ns: None,
        left_to_fin: 0,
        unmeasured: (!whole).then_some(Unmeasured::NoAck),
        bytes: PerDirection { from_client: 100, from_server: 900 },
        response_bytes: 900,
        repeated: PerDirection::default(),
        resets: PerDirection::default(),
        coalesced: 0,
        answered_ns: None,
        established_ns: None,
    }
}

fn counts() -> Counts {
    let families =
        PerFamily::from_fn(|_| FamilyCounts { packets: 9, too_big: 3, ..Default::default() });
    Counts { families, ..Counts::default() }
}

#[test]
fn counts_exchanges_and_connections_as_a_run_does() {
    for family in Family::BOTH {
        let mut collector = WatchCollector::new(BEGIN);
        let ends = ends(family, 5_000);
        collector.exchange(&exchange(ends, 100, true));
        collector.exchange(&exchange(ends, 1_200, true));
        collector.round_trip(&ends, true, 7 * MS);
        collector.connection(&connection(ends, Closure::Normal));
        let found = collector.finish(BEGIN + 2_500 * MS, &counts());
        let tally = &found.tally[family];
        assert_eq!((tally.sent, tally.completed(), tally.bytes.body), (2, 2, 2_000));
        assert_eq!((tally.bytes.received, tally.bytes.sent), (900, 100));
        assert_eq!(tally.phases.response.quantile(1.0), Some(10 * MS));
        assert_eq!(tally.phases.wait.quantile(1.0), Some(3 * MS));
        assert_eq!((tally.interim_responses, tally.phases.interim.count()), (2, 2));
        assert_eq!(tally.phases.interim.quantile(1.0), Some(2 * MS));
        assert_eq!(tally.phases.connect.quantile(1.0), Some(2 * MS));
        assert_eq!(tally.phases.lifetime.quantile(1.0), Some(48 * MS));
        let tcp = tally.tcp.result();
        assert_eq!((tcp.rtt_us.p50, tcp.min_rtt_us.p50), (Some(4_000.0), Some(2_000.0)));
        assert_eq!(tcp.mss, [(1_440, 1)].into());
        let sent: Vec<_> =
            found.intervals.iter().map(|one| one.families[family].completed).collect();
        assert_eq!(sent, [1, 1, 0]);
        let seen = found.families.of(family).unwrap();
        assert_eq!((seen.connections, seen.exchanges, seen.syns_repeated), (1, 2, 1));
        assert_eq!((seen.delay_us.p50, seen.throughput.p50_bits_per_s), (Some(8_000.0), Some(1e6)));
        assert_eq!((seen.round_trips.client_us.count, seen.packet_too_big), (1, 3));
        assert!(found.families.of(family.other()).is_none());
        assert_eq!(found.servers.len(), 1);
        assert_eq!(
            (found.servers[0].address, found.servers[0].figures.exchanges),
            (ends.server, 2)
        );
    }
}

#[test]
fn how_a_connection_closes_decides_its_last_exchanges_outcome() {
    for (closure, outcome) in [
        (Closure::Normal, Outcome::Truncated),
        (Closure::Reset { by_client: false }, Outcome::Reset),
        (Closure::Reset { by_client: true }, Outcome::Abandoned),
        (Closure::Timeout, Outcome::Timeout),
        (Closure::Open, Outcome::Abandoned),
        (Closure::Evicted, Outcome::Abandoned),
    ] {
        let mut collector = WatchCollector::new(BEGIN);
        let ends = ends(Family::Ipv4, 1);
        collector.exchange(&exchange(ends, 0, false));
        collector.connection(&connection(ends, closure));
        // The end of this exchange's connection is not reported.
        collector.exchange(&exchange(ends, 0, false));
        let tally = collector.finish(BEGIN + MS, &counts()).tally.ipv4;
        assert_eq!((tally.sent, tally.ended()), (2, 2));
        let expected = 1 + u64::from(outcome == Outcome::Truncated);
        assert_eq!(tally.outcome(outcome), expected, "{closure:?}");
    }
}

#[test]
fn memory_stays_bounded_for_any_number_of_servers_and_names() {
    let mut collector = WatchCollector::new(BEGIN);
    for number in 0..2_000_u16 {
        let mut ends = ends(Family::Ipv6, 1);
        ends.server.set_port(number);
        let mut of = connection(ends, Closure::Normal);
        let name = Some(format!("{number}.example"));
        of.payload_protocol = PayloadProtocol::Tls(Hello { server_name: name, ..Hello::default() });
        collector.connection(&of);
    }
    collector.pass(BEGIN + 1_000_000_000 * 1_000 * MS);
    collector.exchange(&exchange(ends(Family::Ipv6, 1), 0, true));
    let found = collector.finish(BEGIN + 1_000_000_000 * 1_000 * MS, &counts());
    assert_eq!((found.servers.len(), found.servers_left_out), (32, 1_968));
    let names = &found.families.ipv6.unwrap().server_names;
    assert_eq!((names.len(), names["(others)"]), (257, 2_000 - 256));
    assert!(found.intervals.len() < 100, "{}", found.intervals.len());
    let completed: u64 = found.intervals.iter().map(|of| of.families.ipv6.completed).sum();
    assert_eq!(completed, 1, "what is late is in another second");
}

#[test]
fn csv_and_json_lines_have_a_field_for_each_column() {
    let mut of = connection(ends(Family::Ipv6, 9), Closure::Refused);
    of.payload_protocol =
        PayloadProtocol::Tls(Hello { server_name: Some("a,\"b".into()), ..Hello::default() });
    let exchange = exchange(ends(Family::Ipv4, 9), 0, true);
    let lines = |form, write: &dyn Fn(&mut WatchLines)| {
        let mut lines = WatchLines::new(form);
        write(&mut lines);
        lines.take()
    };
    let connections = |lines: &mut WatchLines| {
        lines.connections();
        lines.connection(&of);
    };
    let exchanges = |lines: &mut WatchLines| {
        lines.exchanges();
        lines.exchange(&exchange);
    };
    for (write, odd) in [
        (&connections as &dyn Fn(&mut WatchLines), "\"a,\"\"b\""),
        (&exchanges, "\"/a,\"\"b\"\"\u{fffd}\""),
    ] {
        let [csv, json] = [LineForm::Csv, LineForm::Json].map(|form| lines(form, write));
        let (header, line) = csv.split_once("\r\n").unwrap();
        let object: serde_json::Value = serde_json::from_str(&json).unwrap();
        let mut names: Vec<_> = header.split(',').map(str::to_owned).collect();
        let fields = line.replace(odd, "x").trim_end().split(',').count();
        assert_eq!((fields, line.contains(odd)), (names.len(), true), "{csv}");
        names.sort();
        let mut keys: Vec<_> = object.as_object().unwrap().keys().cloned().collect();
        keys.sort();
        assert_eq!(names, keys);
    }
}

#[test]
fn handshakes_of_tls_and_quic_are_counted_by_how_they_ended() {
    let mut collector = WatchCollector::new(BEGIN);
    let done = |completed| Hello {
        completed,
        handshake_ns: completed.then_some(9 * MS),
        first_flight_ns: Some(4 * MS),
        ..Hello::default()
    };
    for (number, (hello, closure, begun_before, gap)) in [
        (done(true), Closure::Normal, false, false),
        (done(true), Closure::Open, false, false),
        (done(false), Closure::Reset { by_client: true }, false, false),
        (done(false), Closure::Open, false, false),
        (done(false), Closure::Normal, false, true),
        (Hello::default(), Closure::Normal, true, false),
    ]
    .into_iter()
    .enumerate()
    {
        let mut of = connection(ends(Family::Ipv6, number as u16), closure);
        of.payload_protocol = PayloadProtocol::Tls(hello);
        of.doubts = Doubts { begun_before, gap, ..Doubts::default() };
        of.sent.from_client.frame_bytes = 100;
        of.sent.from_server.frame_bytes = 1_000;
        collector.connection(&of);
    }
    let mut quic = connection(ends(Family::Ipv6, 99), Closure::Timeout);
    quic.opening = Opening { seen: true, replied_ns: Some(3 * MS), ..Opening::default() };
    quic.payload_protocol = PayloadProtocol::Quic(done(true));
    collector.connection(&quic);
    let found = collector.finish(BEGIN + MS, &counts());
    let family = found.families.ipv6.unwrap();
    let tls = family.tls.unwrap();
    let ended = (tls.completed, tls.failed, tls.unfinished, tls.begun_before);
    assert_eq!((tls.connections, ended), (6, (2, 1, 2, 1)));
    assert_eq!((tls.handshake_us.count, tls.handshake_us.p50), (2, Some(9_000.0)));
    assert_eq!((tls.first_flight_us.count, tls.first_flight_us.p50), (5, Some(4_000.0)));
    assert_eq!(tls.round_trip_us.p50, Some(2_000.0));
    assert_eq!((tls.from_client_bytes, tls.from_server_bytes), (600, 6_000));
    let quic = family.quic.unwrap();
    assert_eq!((quic.connections, quic.completed), (1, 1));
    assert_eq!(quic.round_trip_us.p50, Some(3_000.0));
}
