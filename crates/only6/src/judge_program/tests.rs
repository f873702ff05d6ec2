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

#[test]
fn a_server_that_listens_on_one_family_explains_what_its_client_does_not() {
    let socket = |text: &str| {
        let address: IpAddr = text.parse().unwrap();
        ListeningSocket { family: Family::of(address), address }
    };
    let mut refused = ended(1, AppWire::default());
    refused.sockets = vec![socket("0.0.0.0")];
    let mut attempt = by_a_alone().wire.attempts.remove(0);
    (attempt.family, attempt.address) = (Family::Ipv6, "2001:db8:2::50".parse().unwrap());
    (attempt.established_ms, attempt.content_ms) = (None, None);
    attempt.failed = Some(AttemptFailure::Refused);
    refused.wire.attempts = vec![attempt];
    let (_, findings) =
        judge_program(JudgedSide::Client, vec![seen("ipv6-to-dual", vec![refused.clone()])]);
    assert_eq!(codes(&findings), [("binds-ipv4", 1)]);
    // A server that takes both does not.
    refused.sockets = vec![socket("::")];
    let (_, findings) =
        judge_program(JudgedSide::Client, vec![seen("ipv6-to-dual", vec![refused])]);
    assert_eq!(codes(&findings), [("fails-unconnected", 1)]);
    // Nor does one that answered.
    let mut answered = by_a_alone();
    answered.client = Some(ProgramEnd { status: Some(22), ..ProgramEnd::default() });
    answered.sockets = vec![socket("0.0.0.0")];
    let (_, findings) =
        judge_program(JudgedSide::Client, vec![seen("ipv4-to-dual", vec![answered])]);
    assert_eq!(codes(&findings), [("fails-with-content", 1)]);
}

#[test]
fn a_server_needs_the_other_stack_only_if_it_works_where_both_are() {
    let answers = |status| {
        let probe = |way| ServerProbe {
            way,
            asked: AskedHost::Name,
            answer: ProbeAnswer::Status(status),
            literals: Vec::new(),
        };
        let sockets =
            vec![ListeningSocket { family: Family::Ipv6, address: "::".parse().unwrap() }];
        let probes = vec![probe(ServerWay::Ipv6), probe(ServerWay::Ipv4)];
        AppStart { sockets, probes, ..AppStart::default() }
    };
    let ended = AppStart { server: Some(ProgramEnd::default()), ..AppStart::default() };
    let all =
        vec![seen("dual-to-dual", vec![answers(200)]), seen("ipv6-to-ipv6", vec![ended.clone()])];
    assert_eq!(codes(&judge_program(JudgedSide::Server, all).1), [("needs-ipv4-stack", 1)]);
    let alone = vec![seen("ipv6-to-ipv6", vec![ended])];
    assert_eq!(codes(&judge_program(JudgedSide::Server, alone).1), [("never-listens", 1)]);
}

#[test]
fn an_allow_list_without_mapped_addresses_is_named_though_a_host_with_ipv4_alone_is_answered() {
    let start = |answers: &[(ServerWay, u16)]| {
        let probe = |(way, status): &(ServerWay, u16)| ServerProbe {
            way: *way,
            asked: AskedHost::Name,
            answer: ProbeAnswer::Status(*status),
            literals: Vec::new(),
        };
        let probes = answers.iter().map(probe).collect();
        let sockets =
            vec![ListeningSocket { family: Family::Ipv6, address: "::".parse().unwrap() }];
        AppStart { sockets, probes, ..AppStart::default() }
    };
    let all = vec![
        seen("dual-to-dual", vec![start(&[(ServerWay::Ipv6, 200), (ServerWay::Ipv4, 403)])]),
        seen("ipv4-to-ipv4", vec![start(&[(ServerWay::Ipv4, 200)])]),
    ];
    assert_eq!(codes(&judge_program(JudgedSide::Server, all).1), [("forbids-ipv4", 1)]);
    // Not all of IPv4: clients behind a translator.
    let all = vec![
        seen("dual-to-ipv4", vec![start(&[(ServerWay::Ipv4, 200)])]),
        seen("nat64-to-ipv4", vec![start(&[(ServerWay::Nat64, 403)])]),
        seen("dual-to-ipv6", vec![start(&[(ServerWay::Ipv6, 200)])]),
    ];
    assert_eq!(codes(&judge_program(JudgedSide::Server, all).1), [("differs-by-family", 1)]);
}
