use super::*;
use crate::app_start::ProgramEnd;
use crate::app_wire::{AttemptFailure, WireQuery};
use crate::scenario_lab::SITE;

const SITE6: &str = "2001:db8:2::50";
const SITE4: &str = "203.0.113.80";

fn query(kind: &str, address: &str) -> WireQuery {
    WireQuery {
        name: SITE.to_owned(),
        kind: kind.to_owned(),
        sent_ms: 0.0,
        times: 1,
        rcode: Some("NOERROR".to_owned()),
        addresses: address.parse().into_iter().collect(),
    }
}

fn attempt(address: &str, outcome: &str) -> WireAttempt {
    let address: IpAddr = address.parse().unwrap();
    let has = |of: &str| outcome.starts_with(of).then_some(1.0);
    WireAttempt {
        address,
        family: Family::of(address),
        port: 80,
        from_port: 1,
        is_udp: false,
        begun_ms: 0.0,
        tries: 1,
        established_ms: has("answered").or(has("connected")),
        failed: has("refused").map(|_| AttemptFailure::Refused),
        sent_bytes: 0,
        received_bytes: 0,
        host: None,
        content_ms: has("answered"),
    }
}

/// Returns the codes of a start in a scenario.
fn codes(
    scenario: &str,
    queries: &[WireQuery],
    attempts: &[WireAttempt],
    status: Option<i32>,
) -> Vec<&'static str> {
    let scenario = AppScenario::named(scenario).unwrap();
    let wire =
        AppWire { queries: queries.to_vec(), attempts: attempts.to_vec(), ..AppWire::default() };
    let end = ProgramEnd { status, ..ProgramEnd::default() };
    let literal = scenario.twist == ScenarioTwist::Ipv6Literal;
    let start = AppClientStart {
        scenario,
        access: scenario.client,
        name: SITE,
        literal: literal.then(|| SITE6.parse().unwrap()),
        wire: &wire,
        end: Some(&end),
        has_worked: status == Some(0),
        is_incomplete: false,
    };
    start.findings().into_iter().map(|of| of.0).collect()
}

#[test]
fn a_client_that_does_all_well_has_no_finding() {
    let both = [query("A", SITE4), query("AAAA", SITE6)];
    assert_eq!(codes("dual-to-dual", &both, &[attempt(SITE6, "answered")], Some(0)), [""; 0]);
    let four = [query("A", SITE4), query("AAAA", "")];
    assert_eq!(codes("dual-to-ipv4", &four, &[attempt(SITE4, "answered")], Some(0)), [""; 0]);
    let tries = [attempt(SITE6, "refused"), attempt(SITE4, "answered")];
    assert_eq!(codes("refused-to-dual", &both, &tries, Some(0)), [""; 0]);
    assert_eq!(codes("literal-to-dual", &[], &[attempt(SITE6, "answered")], Some(0)), [""; 0]);
}

/// A code, the scenario in which a start shows it, what was seen of it, and its exit status.
type FaultCase<'a> = (&'a str, &'a str, &'a [WireQuery], &'a [WireAttempt], Option<i32>);

#[test]
fn each_fault_is_named() {
    let both = [query("A", SITE4), query("AAAA", SITE6)];
    let only_a = [query("A", SITE4)];
    let first = [attempt(SITE6, "refused")];
    let silent = [attempt(SITE6, "silent")];
    let four = [attempt(SITE4, "answered")];
    let cases: [FaultCase<'_>; 8] = [
        ("ipv4-literal", "dual-to-ipv6", &[], &[attempt(SITE4, "silent")], Some(1)),
        ("asks-a-only", "dual-to-dual", &only_a, &four, Some(0)),
        ("aaaa-unused", "dual-to-ipv6", &both[1..], &[], Some(1)),
        ("first-address-only", "refused-to-dual", &both, &first, Some(1)),
        ("first-address-only", "broken-to-dual", &both, &silent, Some(1)),
        ("no-fallback", "broken-to-dual", &both, &silent, None),
        ("rejects-ipv6-literal", "literal-to-dual", &[], &[], Some(1)),
        ("prefers-ipv4", "dual-to-dual", &both, &four, Some(0)),
    ];
    for (code, scenario, queries, attempts, status) in cases {
        assert_eq!(codes(scenario, queries, attempts, status), [code], "{scenario}");
    }
}

#[test]
fn a_host_field_without_brackets_is_named() {
    let mut bare = attempt(SITE6, "answered");
    bare.host = Some(SITE6.to_owned());
    assert_eq!(codes("literal-to-dual", &[], &[bare.clone()], Some(0)), ["host-without-brackets"]);
    bare.host = Some(format!("[{SITE6}]:8080"));
    assert_eq!(codes("literal-to-dual", &[], &[bare], Some(0)), [""; 0]);
}
