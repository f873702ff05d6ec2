use super::*;
use crate::client_trace::{SeenAttempt, SeenQuery, make_attempt};

fn query(kind: &str, sent_ms: f64, answered_ms: Option<f64>) -> SeenQuery {
    SeenQuery { kind: kind.to_owned(), sent_ms, answered_ms, rcode: None, times: 1 }
}

fn attempt(address: &str, transport: SeenTransport, begun_ms: f64) -> SeenAttempt {
    SeenAttempt { transport, ..make_attempt(address, begun_ms) }
}

fn tcp(address: &str, begun_ms: f64) -> SeenAttempt {
    attempt(address, SeenTransport::Tcp, begun_ms)
}

fn profile(of: Vec<(&str, Vec<ClientTrace>)>) -> ClientProfile {
    ClientProfile::of(&of.into_iter().map(|(case, traces)| (case.to_owned(), traces)).collect())
}

fn trace(queries: &[SeenQuery], attempts: &[SeenAttempt]) -> ClientTrace {
    ClientTrace { queries: queries.to_vec(), attempts: attempts.to_vec(), ..ClientTrace::default() }
}

#[test]
fn nothing_is_said_of_cases_that_were_not_watched() {
    assert_eq!(profile(Vec::new()), ClientProfile::default());
}

#[test]
fn a_delay_that_grows_is_not_fixed() {
    let attempts = |second: f64, third: f64| {
        trace(&[], &[tcp("2001:db8::1", 0.0), tcp("192.0.2.1", second), tcp("192.0.2.2", third)])
    };
    let fixed = profile(vec![("last-alive", vec![attempts(250.0, 505.0), attempts(249.0, 500.0)])]);
    let delay = fixed.attempt_delay.unwrap();
    assert!(delay.is_fixed == Some(true) && delay.all.count == 4, "{delay:?}");
    let growing = profile(vec![("last-alive", vec![attempts(250.0, 750.0)])]);
    assert_eq!(growing.attempt_delay.unwrap().is_fixed, Some(false));
    // A single late timer among many is not another delay.
    let late = profile(vec![(
        "last-alive",
        [250.0, 251.0, 310.0, 249.0, 250.0].map(|second| attempts(second, second + 250.0)).to_vec(),
    )]);
    assert_eq!(late.attempt_delay.unwrap().is_fixed, Some(true));
    let once = profile(vec![(
        "slow-2000",
        vec![trace(&[], &[tcp("2001:db8::1", 0.0), tcp("192.0.2.1", 250.0)])],
    )]);
    assert_eq!(once.attempt_delay.unwrap().is_fixed, None);
}

#[test]
fn a_client_that_waits_for_an_answer_is_told_from_one_with_a_resolution_delay() {
    let of = |first: Option<f64>, late: Option<f64>| {
        let queries = [query("AAAA", 0.0, late), query("A", 0.0, Some(4.0))];
        let attempts: Vec<SeenAttempt> = first.map(|at| tcp("192.0.2.1", at)).into_iter().collect();
        let case = if late.is_some() { "aaaa-late-1000" } else { "aaaa-dropped" };
        let found = profile(vec![(case, vec![trace(&queries, &attempts)])]);
        found.without_aaaa.or(found.never_aaaa).unwrap()
    };
    let delayed = of(Some(54.0), Some(1_004.0));
    assert_eq!((delayed.waited_for_it, delayed.waited.unwrap().median_ms), (0, 50.0));
    assert_eq!(of(Some(1_005.0), Some(1_004.0)).waited_for_it, 1);
    assert_eq!(of(Some(5_004.0), None).waited_for_it, 1);
    let never = of(None, None);
    assert_eq!((never.waited_for_it, never.waited), (1, None));
}

#[test]
fn quic_is_a_race_of_its_own() {
    let quic = attempt("2001:db8::1", SeenTransport::Quic, 10.0);
    let won = SeenAttempt { request_ms: Some(20.0), content_ms: Some(30.0), ..quic.clone() };
    let answering = trace(&[], &[won]);
    let silent = trace(&[], &[quic, tcp("2001:db8::1", 60.0)]);
    let found =
        profile(vec![("http3", vec![answering]), ("quic-dead", vec![silent])]).quic.unwrap();
    assert_eq!((found.over_quic, found.starts, found.tcp_after.unwrap().median_ms), (1, 1, 50.0));
    let without = trace(&[], &[tcp("2001:db8::1", 4.0)]);
    assert_eq!(profile(vec![("http3", vec![without])]).quic, None);
}

#[test]
fn what_most_starts_do_counts() {
    let first = |address: &str| trace(&[], &[tcp(address, 0.0)]);
    let mixed = vec![first("192.0.2.1"), first("2001:db8::1"), first("2001:db8::1")];
    assert_eq!(profile(vec![("healthy", mixed.clone())]).first_family, Some(Family::Ipv6));
    let again = |mixed: &[ClientTrace]| {
        profile(vec![("healthy", vec![first("2001:db8::1")]), ("dead-ipv6-again", mixed.to_vec())])
    };
    assert_eq!(again(&mixed).remembers_outcome, Some(false));
    assert_eq!(again(&mixed[..1]).remembers_outcome, Some(true));
    let alone = |of: ClientTrace| profile(vec![("dead-ipv6-again", vec![of])]).remembers_outcome;
    assert_eq!((alone(mixed[0].clone()), alone(mixed[1].clone())), (None, Some(false)));
}
