use super::*;
use crate::app_start::{AskedHost, ListeningSocket, ProbeAnswer, ServerProbe, ServerWay};
use crate::app_wire::{AppWire, WireAttempt, WireQuery};

const SITE4: &str = "203.0.113.80";

fn seen(scenario: &str, starts: Vec<AppStart>) -> ScenarioStarts {
    ScenarioStarts { scenario: AppScenario::named(scenario).unwrap(), backend: None, starts }
}

fn ended(status: i32, wire: AppWire) -> AppStart {
    let client = Some(ProgramEnd { status: Some(status), ..ProgramEnd::default() });
    AppStart { client, wire, ..AppStart::default() }
}

/// A client that asks for A alone and gets the content.
fn by_a_alone() -> AppStart {
    let address: IpAddr = SITE4.parse().unwrap();
    let query = WireQuery {
        name: SITE.to_owned(),
        kind: "A".to_owned(),
        sent_ms: 0.0,
        times: 1,
        rcode: Some("NOERROR".to_owned()),
        addresses: vec![address],
    };
    let attempt = WireAttempt {
        address,
        family: Family::Ipv4,
        port: 80,
        from_port: 1,
        is_udp: false,
        begun_ms: 0.0,
        tries: 1,
        established_ms: Some(1.0),
        failed: None,
        sent_bytes: 1,
        received_bytes: 1_000,
        host: None,
        content_ms: Some(1.0),
    };
    ended(0, AppWire { queries: vec![query], attempts: vec![attempt], ..AppWire::default() })
}

fn codes(findings: &[AppFinding]) -> Vec<(&str, usize)> {
    findings.iter().map(|of| (of.code.as_str(), of.scenarios.len())).collect()
}

#[test]
fn a_silent_start_without_an_ipv4_stack_is_explained_by_what_others_show() {
    let silent = ended(1, AppWire::default());
    let all =
        vec![seen("dual-to-dual", vec![by_a_alone()]), seen("ipv6-to-ipv6", vec![silent.clone()])];
    let (scenarios, findings) = judge_program(JudgedSide::Client, all);
    assert_eq!(codes(&findings), [("asks-a-only", 2)]);
    assert_eq!(scenarios[0].verdict, ScenarioVerdict::Works);
    assert_eq!(scenarios[1].verdict, ScenarioVerdict::Fails);
    let (_, findings) = judge_program(JudgedSide::Client, vec![seen("ipv6-to-ipv6", vec![silent])]);
    assert_eq!(codes(&findings), [("fails-unconnected", 1)]);
}

#[test]
fn starts_that_differ_work_partly() {
    let starts = vec![by_a_alone(), ended(1, AppWire::default())];
    let (scenarios, _) = judge_program(JudgedSide::Client, vec![seen("dual-to-dual", starts)]);
    assert_eq!(scenarios[0].verdict, ScenarioVerdict::Partly);
}

#[test]
fn a_server_that_has_no_socket_without_ipv4_is_explained_by_its_socket() {
    let probe =
        |way, answer| ServerProbe { way, asked: AskedHost::Name, answer, literals: Vec::new() };
    let four = ListeningSocket { family: Family::Ipv4, address: "0.0.0.0".parse().unwrap() };
    let dual = AppStart {
        sockets: vec![four],
        probes: vec![
            probe(ServerWay::Ipv6, ProbeAnswer::Refused),
            probe(ServerWay::Ipv4, ProbeAnswer::Status(200)),
        ],
        ..AppStart::default()
    };
    let ended = AppStart { server: Some(ProgramEnd::default()), ..AppStart::default() };
    let all = vec![seen("dual-to-dual", vec![dual]), seen("ipv6-to-ipv6", vec![ended])];
    let (scenarios, findings) = judge_program(JudgedSide::Server, all);
    assert_eq!(codes(&findings), [("binds-ipv4", 2)]);
    assert_eq!(scenarios[0].verdict, ScenarioVerdict::Partly);
    assert_eq!(scenarios[1].verdict, ScenarioVerdict::Fails);
}

#[test]
fn a_server_that_never_answers_works_nowhere() {
    let (scenarios, findings) =
        judge_program(JudgedSide::Server, vec![seen("dual-to-dual", vec![AppStart::default()])]);
    assert_eq!(scenarios[0].verdict, ScenarioVerdict::Fails);
    assert_eq!(codes(&findings), [("never-listens", 1)]);
}
