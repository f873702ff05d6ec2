//! What a client does, as counts and times over its starts.

use serde::{Deserialize, Serialize};
use sixmark_eyes::behaviour::{
    attempt_delays_ms, is_interleaved, order_of_families, wait_beyond_answer_ms,
};
use sixmark_eyes::client_trace::{ClientTrace, SeenTransport};
use sixmark_eyes::eyes_case::MANY_EACH;
use sixmark_eyes::eyes_result::CaseResult;
use sixmark_units::family::Family;

use super::clients::{A_LATE, AAAA_LATE, ALIKE, MANY, SLOW};

/// How many starts show something, of those that could.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TraitCount {
    /// The starts that show it.
    pub shown: u32,
    /// The starts that could have shown it.
    pub of: u32,
}

/// What was seen of a client. Each list has an entry for each start that shows it, in the order of time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClientTraits {
    /// Starts that asked for the page at all, of those in which both families answer alike.
    pub asked: TraitCount,
    /// Starts whose request went over IPv6, of those that sent one where both families answer alike.
    pub over_ipv6: TraitCount,
    /// Starts that asked for AAAA before A, of those with both queries where both families answer alike.
    pub aaaa_first: TraitCount,
    /// From the first attempt over IPv6 to the first over IPv4, where IPv6 takes 2 s longer, in
    /// milliseconds.
    pub attempt_delays_ms: Vec<f64>,
    /// From the first attempt to the second, where all addresses but one are silent, in milliseconds.
    #[serde(default)]
    pub silent_delays_ms: Vec<f64>,
    /// Starts without an attempt over IPv4 where IPv6 takes 2 s longer, of those that began with IPv6.
    pub stayed: TraitCount,
    /// Starts whose first attempt came after the answer for AAAA, of those in which that came 1 s late.
    pub waited_for_aaaa: TraitCount,
    /// How long the others waited after the answer for A, in milliseconds: the resolution delay.
    pub resolution_delays_ms: Vec<f64>,
    /// Starts whose first attempt came after the answer for A, of those in which that came 1 s late.
    pub waited_for_a: TraitCount,
    /// The number of addresses of IPv6 that were tried, where all of them are silent.
    pub ipv6_used: Vec<u32>,
    /// The number of addresses of IPv4 that were tried there.
    pub ipv4_used: Vec<u32>,
    /// Starts that tried addresses of both families in turn, no more than two of one while the other had some left,
    /// of those there.
    pub interleaved: TraitCount,
}

impl TraitCount {
    fn of(starts: impl IntoIterator<Item = bool>) -> TraitCount {
        let mut count = TraitCount::default();
        for shown in starts {
            count.of += 1;
            count.shown += u32::from(shown);
        }
        count
    }
}

impl ClientTraits {
    /// Reads what a client did in its cases.
    pub fn of(cases: &[CaseResult]) -> ClientTraits {
        let starts = |name: &str| -> Vec<&ClientTrace> {
            let case = cases.iter().find(|case| case.case == name);
            let all = case.map_or(&[][..], |case| case.starts.as_slice()).iter();
            // What is missing may have been done.
            all.filter(|trace| trace.lost_packets == 0).collect()
        };
        let (alike, slow) = (starts(ALIKE), starts(SLOW));
        let many: Vec<Vec<Family>> = starts(MANY).into_iter().map(families_tried).collect();
        let used = |family: Family| {
            let tried = many.iter().filter(|order| !order.is_empty());
            tried.map(|order| order.iter().filter(|of| **of == family).count() as u32).collect()
        };
        let winners = alike.iter().copied().filter_map(ClientTrace::winner);
        ClientTraits {
            asked: TraitCount::of(alike.iter().copied().map(|trace| trace.winner().is_some())),
            over_ipv6: TraitCount::of(winners.map(|of| of.family == Family::Ipv6)),
            aaaa_first: TraitCount::of(alike.iter().copied().filter_map(asks_for_aaaa_first)),
            attempt_delays_ms: slow.iter().copied().filter_map(fallback_ms).collect(),
            silent_delays_ms: starts(MANY)
                .into_iter()
                .filter_map(|of| attempt_delays_ms(of).first().copied())
                .collect(),
            stayed: TraitCount::of(slow.iter().copied().filter_map(stays_with_ipv6)),
            waited_for_aaaa: TraitCount::of(
                starts(AAAA_LATE).into_iter().filter_map(|of| waits_for_answer(of, "AAAA")),
            ),
            resolution_delays_ms: starts(AAAA_LATE)
                .into_iter()
                .filter(|of| waits_for_answer(of, "AAAA") == Some(false))
                .filter_map(|of| wait_beyond_answer_ms(of, "A"))
                .collect(),
            waited_for_a: TraitCount::of(
                starts(A_LATE).into_iter().filter_map(|of| waits_for_answer(of, "A")),
            ),
            ipv6_used: used(Family::Ipv6),
            ipv4_used: used(Family::Ipv4),
            interleaved: TraitCount::of(
                many.iter().filter(|order| !order.is_empty()).map(|order| takes_turns(order)),
            ),
        }
    }
}

fn families_tried(trace: &ClientTrace) -> Vec<Family> {
    order_of_families(trace, SeenTransport::Tcp)
}

fn asks_for_aaaa_first(trace: &ClientTrace) -> Option<bool> {
    let at = |kind: &str| trace.queries.iter().position(|query| query.kind == kind);
    Some(at("AAAA")? < at("A")?)
}

/// Returns the time from the first attempt over IPv6 to the first one over IPv4 after it; `None` without
/// either, and if IPv4 came first.
fn fallback_ms(trace: &ClientTrace) -> Option<f64> {
    let first = trace.attempts.first().filter(|of| of.family == Family::Ipv6)?;
    let fallback = trace.attempts.iter().find(|of| of.family == Family::Ipv4)?;
    Some(fallback.begun_ms - first.begun_ms)
}

fn stays_with_ipv6(trace: &ClientTrace) -> Option<bool> {
    trace.attempts.first().filter(|of| of.family == Family::Ipv6)?;
    Some(trace.attempts.iter().all(|of| of.family == Family::Ipv6))
}

/// Returns whether the first attempt came after the answer to a type of query; `None` without an attempt,
/// or without such a query.
fn waits_for_answer(trace: &ClientTrace, kind: &str) -> Option<bool> {
    let query = trace.query(kind)?;
    let first = trace.attempts.first()?;
    Some(query.answered_ms.is_some_and(|answered| answered <= first.begun_ms))
}

/// Returns true if the addresses of both families are tried in turn, and more than one of each is: who tries
/// one of each alone has no turns.
fn takes_turns(order: &[Family]) -> bool {
    let changes = order.windows(2).filter(|pair| pair[0] != pair[1]).count();
    is_interleaved(order, MANY_EACH) && changes > 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixmark_eyes::client_trace::{SeenAttempt, SeenQuery};

    fn attempt(address: &str, begun_ms: f64) -> SeenAttempt {
        let address: std::net::IpAddr = address.parse().unwrap();
        SeenAttempt {
            address,
            family: Family::of(address),
            transport: SeenTransport::Tcp,
            from_port: 40_000,
            begun_ms,
            tries: 1,
            last_try_ms: begun_ms,
            established_ms: None,
            confirmed_ms: None,
            heard_ms: None,
            failed_ms: None,
            request_ms: None,
            content_ms: None,
            closed_ms: None,
        }
    }

    fn query(kind: &str, answered_ms: f64) -> SeenQuery {
        SeenQuery {
            kind: kind.into(),
            sent_ms: 0.0,
            answered_ms: Some(answered_ms),
            rcode: None,
            times: 1,
        }
    }

    fn traits(case: &str, trace: ClientTrace) -> ClientTraits {
        ClientTraits::of(&[CaseResult::of(case, vec![trace])])
    }

    #[test]
    fn the_attempt_delay_is_from_the_first_of_ipv6_to_the_first_of_ipv4() {
        let attempts = vec![
            attempt("2001:db8::1", 5.0),
            attempt("2001:db8::1", 6.0),
            attempt("192.0.2.1", 255.0),
        ];
        let found = traits(SLOW, ClientTrace { attempts, ..ClientTrace::default() });
        assert_eq!(
            (found.attempt_delays_ms, found.stayed),
            (vec![250.0], TraitCount { shown: 0, of: 1 })
        );
        let alone =
            ClientTrace { attempts: vec![attempt("2001:db8::1", 5.0)], ..ClientTrace::default() };
        let found = traits(SLOW, alone);
        assert_eq!(
            (found.attempt_delays_ms, found.stayed),
            (vec![], TraitCount { shown: 1, of: 1 })
        );
    }

    #[test]
    fn a_resolution_delay_is_what_passes_between_the_answer_for_a_and_the_first_attempt() {
        let queries = vec![query("AAAA", 1_004.0), query("A", 4.0)];
        let early = ClientTrace {
            queries: queries.clone(),
            attempts: vec![attempt("192.0.2.1", 54.0)],
            ..ClientTrace::default()
        };
        let found = traits(AAAA_LATE, early);
        assert_eq!(found.waited_for_aaaa, TraitCount { shown: 0, of: 1 });
        assert_eq!(found.resolution_delays_ms, [50.0]);
        let patient = ClientTrace {
            queries,
            attempts: vec![attempt("2001:db8::1", 1_005.0)],
            ..ClientTrace::default()
        };
        let found = traits(AAAA_LATE, patient);
        assert_eq!(found.waited_for_aaaa, TraitCount { shown: 1, of: 1 });
        assert_eq!(found.resolution_delays_ms, [0.0; 0]);
    }

    #[test]
    fn families_in_turn_are_interleaved_and_one_after_the_other_are_not() {
        use Family::{Ipv4, Ipv6};
        assert!(takes_turns(&[Ipv6, Ipv4, Ipv6]));
        assert!(!takes_turns(&[Ipv6, Ipv6, Ipv4, Ipv4]));
        assert!(!takes_turns(&[Ipv6, Ipv4]));
    }
}
