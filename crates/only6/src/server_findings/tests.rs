use std::net::IpAddr;

use super::*;
use crate::app_start::ServerWay;

fn probe(way: ServerWay, asked: AskedHost, answer: ProbeAnswer) -> ServerProbe {
    ServerProbe { way, asked, answer, literals: Vec::new() }
}

/// Returns the codes of a start with these sockets, by the answers to the server's name and addresses.
fn codes(scenario: &str, bound: &[&str], probes: Vec<ServerProbe>) -> Vec<&'static str> {
    let socket = |text: &&str| {
        let address: IpAddr = text.parse().unwrap();
        let family = if address.is_ipv6() { Family::Ipv6 } else { Family::Ipv4 };
        ListeningSocket { family, address }
    };
    let start =
        AppStart { sockets: bound.iter().map(socket).collect(), probes, ..AppStart::default() };
    let scenario = AppScenario::named(scenario).unwrap();
    let best = BestAnswers::of(start.probes.iter());
    let start = ServerStart { scenario, start: &start, best, best_here: best, has_backend: false };
    start.findings().into_iter().map(|of| of.0).collect()
}

fn answers(ipv6: ProbeAnswer, ipv4: ProbeAnswer) -> Vec<ServerProbe> {
    vec![
        probe(ServerWay::Ipv6, AskedHost::Name, ipv6),
        probe(ServerWay::Ipv4, AskedHost::Name, ipv4),
    ]
}

#[test]
fn sockets_and_answers_are_named() {
    use ProbeAnswer::{Refused, Status};
    let cases: [(&[&str], ProbeAnswer, ProbeAnswer, &[&str]); 10] = [
        (&["::"], Status(200), Status(200), &[]),
        (&["::", "0.0.0.0"], Status(200), Status(200), &[]),
        (&["0.0.0.0"], Refused, Status(200), &["binds-ipv4"]),
        (&["::"], Status(200), Refused, &["binds-ipv6"]),
        (&["0.0.0.0", "::1"], Refused, Status(200), &["binds-ipv4"]),
        (&["::", "127.0.0.1"], Status(200), Refused, &["binds-ipv6"]),
        (&["127.0.0.1", "::1"], Refused, Refused, &["binds-loopback"]),
        (&["::"], Status(200), Status(403), &["forbids-ipv4"]),
        (&["::"], Status(403), Status(200), &["forbids-ipv6"]),
        (&["::"], Status(502), Status(200), &["differs-by-family"]),
    ];
    for (bound, ipv6, ipv4, expected) in cases {
        let found = codes("dual-to-dual", bound, answers(ipv6.clone(), ipv4.clone()));
        assert_eq!(found, expected, "{bound:?} {ipv6:?} {ipv4:?}");
    }
}

#[test]
fn a_rejected_literal_is_named_unless_those_of_ipv4_are_rejected_too() {
    let all = answers(ProbeAnswer::Status(200), ProbeAnswer::Status(200));
    let literal = |way, status| probe(way, AskedHost::Address, ProbeAnswer::Status(status));
    let with = |ipv4| {
        let more = [literal(ServerWay::Ipv6, 400), literal(ServerWay::Ipv4, ipv4)];
        codes("dual-to-dual", &["::"], all.iter().cloned().chain(more).collect())
    };
    assert_eq!(with(200), ["rejects-ipv6-host"]);
    assert_eq!(with(400), [""; 0]);
}

#[test]
fn nothing_is_said_of_addresses_where_none_of_ipv4_was_asked_for() {
    let all = vec![
        probe(ServerWay::Ipv6, AskedHost::Name, ProbeAnswer::Status(200)),
        probe(ServerWay::Ipv6, AskedHost::Address, ProbeAnswer::Status(404)),
    ];
    assert_eq!(codes("dual-to-ipv6", &["::"], all), [""; 0]);
}

#[test]
fn what_is_forbidden_by_one_way_alone_is_not_forbidden_by_family() {
    let mut all = answers(ProbeAnswer::Status(200), ProbeAnswer::Status(200));
    all.push(probe(ServerWay::Clat, AskedHost::Name, ProbeAnswer::Status(403)));
    assert_eq!(codes("dual-to-dual", &["::"], all), ["differs-by-family"]);
}

#[test]
fn a_server_that_answers_addresses_and_not_its_name_differs_by_no_family() {
    let mut all = answers(ProbeAnswer::Status(404), ProbeAnswer::Status(404));
    for way in [ServerWay::Ipv6, ServerWay::Ipv4] {
        all.push(probe(way, AskedHost::Address, ProbeAnswer::Status(200)));
    }
    assert_eq!(codes("dual-to-dual", &["::"], all), [""; 0]);
}
