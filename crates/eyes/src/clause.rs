//! What Happy Eyeballs asks of clients, clause by clause, and whether a client's traces show it.
//!
//! Each clause is a predicate on one start of the client. It says nothing where the network of the case did
//! not give the client an occasion.

use serde::{Deserialize, Serialize};
use sixmark_units::family::Family;

use crate::behaviour::{
    LONGEST_WAIT_MS, attempt_delays_ms, begins_families_together, delays_after_failure_ms,
    left_alone_ms, losers, takes_turns, wait_beyond_answer_ms,
};
use crate::client_trace::{CaseTraces, ClientTrace, SeenAttempt};

/// The largest share of starts that may miss a clause that is met.
const MOST_MISSED: f64 = 0.1;
/// Of as many starts one may miss it whatever its share: a busy machine may have disturbed it.
const STARTS_WITH_OUTLIER: usize = 5;
/// What a client may take to act, in milliseconds, beside what the clause allows: timers fire late on a busy
/// machine.
const SLACK_MS: f64 = 50.0;
/// What a delay between two packets may be shorter than that between the attempts, in milliseconds: the packet
/// of the first one may be late.
const EARLY_MS: f64 = 2.0;
/// The recommended resolution delay, in milliseconds, less what a client's timer may be early by
/// (RFC 8305, 8).
const RESOLUTION_DELAY_MS: f64 = 50.0 - EARLY_MS;
/// The delay between attempts must not be less, in milliseconds (RFC 8305, 8).
const ABSOLUTE_MINIMUM_MS: f64 = 10.0;
/// The recommended least delay between attempts, in milliseconds (RFC 8305, 8).
const MINIMUM_MS: f64 = 100.0;
/// The recommended longest delay between attempts, in milliseconds (RFC 8305, 8).
const MAXIMUM_MS: f64 = 2_000.0;

/// The cases in which attempts lose.
pub(crate) const LOSERS_CASES: &[&str] =
    &["dead-ipv6", "first-dead", "slow-500", "slow-1000", "slow-2000"];

/// How strongly a clause asks for something (RFC 2119).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ClauseLevel {
    /// MUST.
    Must,
    /// SHOULD, or RECOMMENDED.
    Should,
    /// No text asks for it, but clients that are widely used do it.
    Usual,
}

impl ClauseLevel {
    /// Returns its word in reports: a key word of RFC 2119, or usual.
    pub fn word(self) -> &'static str {
        match self {
            ClauseLevel::Must => "MUST",
            ClauseLevel::Should => "SHOULD",
            ClauseLevel::Usual => "usual",
        }
    }
}

/// Whether a client does what a clause asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ClauseState {
    /// It does.
    Met,
    /// It does not.
    NotMet,
    /// No start gave it an occasion.
    NotShown,
}

impl ClauseState {
    /// Returns its words in reports.
    pub fn word(self) -> &'static str {
        match self {
            ClauseState::Met => "met",
            ClauseState::NotMet => "not met",
            ClauseState::NotShown => "not shown",
        }
    }
}

/// A clause.
#[derive(Clone, Copy)]
pub struct Clause {
    /// Its name, in options and documents.
    pub name: &'static str,
    /// The document and its section.
    pub source: &'static str,
    /// How strongly it asks.
    pub level: ClauseLevel,
    /// What it asks for, as a sentence.
    pub asks: &'static str,
    /// The cases in which a start may show it.
    pub cases: &'static [&'static str],
    /// Whether a start shows it; `None` without an occasion.
    shows: fn(&ClientTrace) -> Option<bool>,
}

/// What was found of a clause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClauseFinding {
    /// The name of the clause.
    pub clause: String,
    /// Whether it is met.
    pub state: ClauseState,
    /// The starts that show that it is met.
    pub met: u32,
    /// The starts that gave an occasion.
    pub shown: u32,
}

/// All clauses, in the order of reports.
pub const CLAUSES: [Clause; 17] = [
    Clause {
        name: "both-queries",
        source: "draft-ietf-happy-happyeyeballs-v3, 4.1",
        level: ClauseLevel::Must,
        asks: "A client that has both families asks for AAAA and for A.",
        cases: &["healthy"],
        shows: |trace| {
            let is_asked = |kind: &str| trace.query(kind).is_some();
            (!trace.queries.is_empty()).then(|| is_asked("AAAA") && is_asked("A"))
        },
    },
    Clause {
        name: "https-query",
        source: "draft-ietf-happy-happyeyeballs-v3, 4.1",
        level: ClauseLevel::Should,
        asks: "A client of HTTP asks for the HTTPS record too.",
        cases: &["healthy", "https-late-1000"],
        shows: |trace| (!trace.queries.is_empty()).then(|| trace.query("HTTPS").is_some()),
    },
    Clause {
        name: "query-order",
        source: "draft-ietf-happy-happyeyeballs-v3, 4.1",
        level: ClauseLevel::Should,
        asks: "The query for HTTPS is sent before those for AAAA and A.",
        cases: &["healthy", "https-late-1000"],
        shows: |trace| {
            let https = trace.query("HTTPS")?.sent_ms;
            Some(trace.queries.iter().all(|of| of.sent_ms >= https))
        },
    },
    Clause {
        name: "aaaa-first",
        source: "RFC 8305, 3",
        level: ClauseLevel::Should,
        asks: "The query for AAAA is sent first, and that for A does not wait for its answer.",
        cases: &["healthy", "aaaa-late-30", "aaaa-late-1000", "a-late-1000"],
        shows: |trace| {
            let (aaaa, a) = (trace.query("AAAA")?, trace.query("A")?);
            let waits = aaaa.answered_ms.is_some_and(|answered| answered <= a.sent_ms);
            Some(aaaa.sent_ms <= a.sent_ms && !waits)
        },
    },
    Clause {
        name: "no-wait-for-a",
        source: "RFC 8305, 3",
        level: ClauseLevel::Should,
        asks: "Once the answer for AAAA is there, attempts do not wait for that for A.",
        cases: &["a-late-1000"],
        shows: |trace| {
            let _asked = (trace.query("AAAA")?, trace.query("A")?);
            let waited = wait_beyond_answer_ms(trace, "AAAA")?;
            Some(waited <= LONGEST_WAIT_MS)
        },
    },
    Clause {
        name: "resolution-delay",
        source: "RFC 8305, 3 and 8",
        level: ClauseLevel::Should,
        asks: "The first attempt waits for the answer for AAAA, if that comes within 50 ms.",
        cases: &["aaaa-late-30"],
        shows: |trace| {
            let (aaaa, a) = (trace.query("AAAA")?.answered_ms?, trace.query("A")?.answered_ms?);
            // On a busy machine the answer may come later than the lab sends it.
            let is_late = aaaa > a && aaaa - a <= RESOLUTION_DELAY_MS;
            let first = trace.attempts.first()?.begun_ms;
            is_late.then_some(first >= aaaa)
        },
    },
    Clause {
        name: "no-wait-for-aaaa",
        source: "RFC 8305, 3",
        level: ClauseLevel::Should,
        asks: "After the resolution delay attempts over IPv4 do not wait for the answer for AAAA.",
        cases: &["aaaa-late-1000", "aaaa-dropped", "aaaa-servfail"],
        shows: |trace| {
            let _asked = (trace.query("AAAA")?, trace.query("A")?);
            let waited = wait_beyond_answer_ms(trace, "A");
            // Without an attempt it waits as long as it was watched.
            Some(waited.is_some_and(|waited| waited <= LONGEST_WAIT_MS))
        },
    },
    Clause {
        name: "no-wait-for-https",
        source: "draft-ietf-happy-happyeyeballs-v3, 4.2",
        level: ClauseLevel::Should,
        asks: "After the resolution delay attempts do not wait for the answer for HTTPS.",
        cases: &["https-late-1000", "http3-late-1000"],
        shows: |trace| {
            trace.query("HTTPS")?;
            let answers = ["AAAA", "A"].into_iter();
            answers.clone().find_map(|kind| trace.query(kind)?.answered_ms)?;
            // The first answer with an address is enough to begin.
            let mut waited = answers.filter_map(|kind| wait_beyond_answer_ms(trace, kind));
            Some(waited.any(|waited| waited <= LONGEST_WAIT_MS))
        },
    },
    Clause {
        name: "ipv6-first",
        source: "RFC 8305, 4, by RFC 6724, 6",
        level: ClauseLevel::Must,
        asks: "Addresses are sorted by the system's policy: the first attempt is over IPv6.",
        cases: &["healthy", "slow-10", "slow-50", "slow-100", "dead-ipv4"],
        shows: |trace| Some(trace.attempts.first()?.family == Family::Ipv6),
    },
    Clause {
        name: "interleaved",
        source: "RFC 8305, 4 and 8",
        level: ClauseLevel::Should,
        asks: "After one or two addresses of a family comes one of the other.",
        cases: &["last-alive"],
        shows: takes_turns,
    },
    Clause {
        name: "one-at-a-time",
        source: "RFC 8305, 5",
        level: ClauseLevel::Should,
        asks: "Attempts over both families do not begin at the same time.",
        cases: &["healthy", "dead-ipv6", "dead-ipv4", "slow-100", "slow-500", "slow-2000"],
        shows: |trace| (!trace.attempts.is_empty()).then(|| !begins_families_together(trace)),
    },
    Clause {
        name: "least-delay",
        source: "RFC 8305, 5 and 8",
        level: ClauseLevel::Must,
        asks: "Attempts begin at least 10 ms apart.",
        cases: &["dead-ipv6", "first-dead", "last-alive", "slow-500", "slow-1000", "slow-2000"],
        shows: |trace| {
            let delays = attempt_delays_ms(trace);
            (!delays.is_empty())
                .then(|| delays.iter().all(|of| *of >= ABSOLUTE_MINIMUM_MS - EARLY_MS))
        },
    },
    Clause {
        name: "usual-delay",
        source: "RFC 8305, 5 and 8",
        level: ClauseLevel::Should,
        asks: "Attempts begin 100 ms to 2 s apart: none is left alone for longer.",
        cases: &["dead-ipv6", "first-dead", "last-alive", "slow-500", "slow-1000", "slow-2000"],
        shows: |trace| {
            let delays = attempt_delays_ms(trace);
            let is_usual = |of: &f64| (MINIMUM_MS - EARLY_MS..=MAXIMUM_MS + SLACK_MS).contains(of);
            if left_alone_ms(trace).is_some_and(|alone| alone > MAXIMUM_MS + SLACK_MS) {
                return Some(false);
            }
            (!delays.is_empty()).then(|| delays.iter().all(is_usual))
        },
    },
    Clause {
        name: "next-after-failure",
        source: "neither text: both have the timer only",
        level: ClauseLevel::Usual,
        asks: "After a failure the next attempt does not wait for the delay.",
        cases: &["refused-ipv6", "unreachable-ipv6"],
        shows: |trace| {
            let waited = delays_after_failure_ms(trace);
            let mut failed = trace.attempts.iter().filter(|of| of.failed_ms.is_some());
            let first = failed.next()?;
            match waited.first() {
                Some(waited) => Some(*waited <= MINIMUM_MS),
                // Others that went on already are no occasion.
                None => {
                    trace.attempts.iter().all(|of| of.address == first.address).then_some(false)
                }
            }
        },
    },
    Clause {
        name: "losers-end",
        source: "RFC 8305, 5",
        level: ClauseLevel::Should,
        asks: "Once a connection is there, all other attempts are given up.",
        cases: LOSERS_CASES,
        shows: |trace| {
            let shown: Vec<bool> = losers(trace).into_iter().filter_map(|of| of.1).collect();
            (!shown.is_empty()).then(|| shown.iter().all(|is_given_up| *is_given_up))
        },
    },
    Clause {
        name: "all-addresses",
        source: "RFC 8305, 4 and 5",
        level: ClauseLevel::Should,
        asks: "All addresses are tried until one answers.",
        cases: &[
            "last-alive",
            "first-dead",
            "dead-ipv6",
            "dead-ipv4",
            "refused-ipv6",
            "lossy-ipv6",
            "hints-dead",
        ],
        shows: tries_all_addresses,
    },
    Clause {
        name: "handshake-counts",
        source: "draft-ietf-happy-happyeyeballs-v3, 6.1",
        level: ClauseLevel::Should,
        asks: "With TLS, a connection counts only once TLS is established on it.",
        cases: &["stalled-ipv6"],
        shows: |trace| {
            // Without TLS there is a request at once, and nothing else to wait for.
            let first = trace.attempts.first()?;
            let is_begun = first.established_ms.is_some() && first.request_ms.is_none();
            let is_judged = is_begun && !trace.is_answered_in_vain();
            is_judged.then(|| trace.content_ms().is_some())
        },
    },
];

/// Returns whether a client went on to further addresses until one answered. `None` if the first one did, or
/// if it gave up for another reason or was not watched until its end.
fn tries_all_addresses(trace: &ClientTrace) -> Option<bool> {
    let first = trace.attempts.first();
    if trace.content_ms().is_some() {
        let is_other = trace.winner()?.address != first?.address;
        return is_other.then_some(true);
    }
    let any = |is: fn(&SeenAttempt) -> bool| trace.attempts.iter().any(is);
    let is_open = any(|of| !of.is_over_at(f64::INFINITY));
    // No case of this clause stalls: one that has a connection needs no other address.
    let is_connected = any(|of| of.established_ms.is_some());
    let says_nothing = is_connected || is_open && trace.is_cut_off();
    (!says_nothing).then_some(false)
}

/// Judges each clause by the traces of each case, by its name.
pub fn judge_clauses(traces: &CaseTraces) -> Vec<ClauseFinding> {
    CLAUSES.iter().map(|clause| judge_clause(clause, traces)).collect()
}

fn judge_clause(clause: &Clause, traces: &CaseTraces) -> ClauseFinding {
    let starts = clause.cases.iter().filter_map(|case| traces.get(*case)).flatten();
    let starts = starts.filter(|trace| trace.lost_packets == 0);
    let shown: Vec<bool> = starts.filter_map(clause.shows).collect();
    let met = shown.iter().filter(|of| **of).count();
    let state = match shown.len() {
        0 => ClauseState::NotShown,
        all if (all - met) as f64 <= most_missed(all) => ClauseState::Met,
        _ => ClauseState::NotMet,
    };
    ClauseFinding {
        clause: clause.name.to_owned(),
        state,
        met: met as u32,
        shown: shown.len() as u32,
    }
}

/// Returns in how many of all starts a clause may be missed that is met.
fn most_missed(all: usize) -> f64 {
    let outlier: f64 = if all >= STARTS_WITH_OUTLIER { 1.0 } else { 0.0 };
    outlier.max(MOST_MISSED * all as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client_end::ClientEnd;
    use crate::client_trace::SeenQuery;
    use crate::client_trace::make_attempt;
    use crate::eyes_case::EyesCase;

    #[test]
    fn each_clause_has_a_name_of_its_own_and_cases_that_exist() {
        for (at, clause) in CLAUSES.iter().enumerate() {
            let same = CLAUSES.iter().position(|of| of.name == clause.name);
            assert_eq!(same, Some(at), "{}", clause.name);
            for case in clause.cases {
                assert!(EyesCase::named(case).is_some(), "{}: {case}", clause.name);
            }
        }
    }

    fn query(kind: &str, sent_ms: f64, answered_ms: Option<f64>) -> SeenQuery {
        let rcode = answered_ms.map(|_| "NOERROR".to_owned());
        SeenQuery { kind: kind.to_owned(), sent_ms, answered_ms, rcode, times: 1 }
    }

    fn won(of: SeenAttempt, at_ms: f64) -> SeenAttempt {
        let at = Some(at_ms);
        SeenAttempt { established_ms: at, request_ms: at, content_ms: at, ..of }
    }

    fn state_of(clause: &str, case: &str, trace: &ClientTrace) -> ClauseState {
        let traces = CaseTraces::from([(case.to_owned(), vec![trace.clone()])]);
        let all = judge_clauses(&traces);
        all.into_iter().find(|of| of.clause == clause).unwrap().state
    }

    /// A client as RFC 8305 describes it, in a network where nothing is heard of IPv6.
    fn by_the_book() -> ClientTrace {
        ClientTrace {
            queries: vec![query("AAAA", 0.0, Some(5.0)), query("A", 0.1, Some(5.0))],
            attempts: vec![
                make_attempt("2001:db8::1", 5.5),
                won(make_attempt("192.0.2.1", 255.5), 260.0),
            ],
            watched_ms: Some(1_560.0),
            end: Some(ClientEnd { status: Some(0), ..ClientEnd::default() }),
            ..ClientTrace::default()
        }
    }

    #[test]
    fn a_client_by_the_book_meets_what_it_has_an_occasion_for() {
        let trace = by_the_book();
        for (clause, expected) in [
            ("both-queries", ClauseState::NotShown),
            ("one-at-a-time", ClauseState::Met),
            ("interleaved", ClauseState::NotShown),
            ("least-delay", ClauseState::Met),
            ("usual-delay", ClauseState::Met),
            ("losers-end", ClauseState::Met),
            ("all-addresses", ClauseState::Met),
            ("handshake-counts", ClauseState::NotShown),
            ("next-after-failure", ClauseState::NotShown),
        ] {
            assert_eq!(state_of(clause, "dead-ipv6", &trace), expected, "{clause}");
        }
    }

    type ClientFault = (&'static str, &'static str, fn(&mut ClientTrace));

    const FAULTS: [ClientFault; 15] = [
        ("no-wait-for-https", "https-late-1000", |of| {
            of.queries.push(query("HTTPS", 0.0, Some(1_005.0)));
            of.attempts.iter_mut().for_each(|of| of.begun_ms += 1_000.0);
        }),
        ("both-queries", "healthy", |of| of.queries.truncate(1)),
        ("https-query", "healthy", |_| {}),
        ("query-order", "healthy", |of| of.queries.push(query("HTTPS", 1.0, Some(5.0)))),
        ("one-at-a-time", "dead-ipv6", |of| of.attempts[1].begun_ms = 6.0),
        ("aaaa-first", "healthy", |of| of.queries[1].sent_ms = 6.0),
        ("interleaved", "last-alive", |of| {
            of.attempts.truncate(1);
        }),
        ("usual-delay", "dead-ipv6", |of| {
            of.attempts.truncate(1);
            of.watched_ms = Some(20_000.0);
        }),
        ("least-delay", "dead-ipv6", |of| of.attempts[1].begun_ms = 7.0),
        ("usual-delay", "dead-ipv6", |of| of.attempts[1].begun_ms = 50.0),
        ("losers-end", "dead-ipv6", |of| of.attempts[0].last_try_ms = 1_006.0),
        ("all-addresses", "dead-ipv6", |of| of.attempts.truncate(1)),
        ("no-wait-for-a", "a-late-1000", |of| {
            of.queries[1].answered_ms = Some(1_005.0);
            of.attempts[0].begun_ms = 1_006.0;
        }),
        ("no-wait-for-aaaa", "aaaa-dropped", |of| {
            of.queries[0].answered_ms = None;
            of.attempts[0].begun_ms = 5_000.0;
        }),
        ("next-after-failure", "refused-ipv6", |of| of.attempts[0].failed_ms = Some(6.0)),
    ];

    #[test]
    fn each_fault_of_a_client_is_found() {
        for (clause, case, fault) in FAULTS {
            let mut trace = by_the_book();
            fault(&mut trace);
            assert_eq!(state_of(clause, case, &trace), ClauseState::NotMet, "{clause}");
        }
    }

    #[test]
    fn who_rejects_the_site_or_is_cut_off_is_not_judged() {
        let mut rejects = by_the_book();
        let (_, other) = rejects.attempts.split_first_mut().unwrap();
        (other[0].content_ms, other[0].request_ms, other[0].established_ms) = (None, None, None);
        assert_eq!(state_of("all-addresses", "dead-ipv6", &rejects), ClauseState::NotMet);
        rejects.attempts[1].established_ms = Some(258.0);
        assert_eq!(state_of("all-addresses", "dead-ipv6", &rejects), ClauseState::NotShown);
        let mut waiting = by_the_book();
        waiting.attempts.truncate(1);
        assert_eq!(state_of("all-addresses", "dead-ipv6", &waiting), ClauseState::NotMet);
        waiting.end = Some(ClientEnd::default());
        assert_eq!(state_of("all-addresses", "dead-ipv6", &waiting), ClauseState::NotShown);
        let mut at_once = by_the_book();
        at_once.attempts.remove(0);
        assert_eq!(state_of("all-addresses", "dead-ipv4", &at_once), ClauseState::NotShown);
    }

    #[test]
    fn a_failure_beside_attempts_that_go_on_is_no_occasion() {
        let mut trace = by_the_book();
        trace.attempts[1].begun_ms = 5.6;
        trace.attempts[0].failed_ms = Some(9.0);
        assert_eq!(state_of("next-after-failure", "refused-ipv6", &trace), ClauseState::NotShown);
        trace.attempts.truncate(1);
        assert_eq!(state_of("next-after-failure", "refused-ipv6", &trace), ClauseState::NotMet);
    }

    #[test]
    fn an_attempt_after_both_answers_waited_for_them_whoever_was_asked_first() {
        let mut trace = by_the_book();
        trace.queries = vec![query("AAAA", 0.0, Some(1_004.0)), query("A", 1_004.1, Some(1_008.0))];
        trace.attempts = vec![won(make_attempt("2001:db8::1", 1_008.5), 1_012.0)];
        assert_eq!(state_of("no-wait-for-aaaa", "aaaa-late-1000", &trace), ClauseState::NotMet);
    }

    #[test]
    fn one_of_five_starts_may_be_an_outlier_and_one_of_two_not() {
        let allowed = [1, 2, 4, 5, 19, 20, 50].map(most_missed).map(|most| most as usize);
        assert_eq!(allowed, [0, 0, 0, 1, 1, 2, 5]);
    }

    #[test]
    fn a_late_answer_of_the_lab_is_no_occasion_for_the_resolution_delay() {
        let mut trace = by_the_book();
        trace.queries[0].answered_ms = Some(34.0);
        trace.attempts.remove(0);
        trace.attempts[0].begun_ms = 6.0;
        assert_eq!(state_of("resolution-delay", "aaaa-late-30", &trace), ClauseState::NotMet);
        trace.queries[0].answered_ms = Some(66.0);
        assert_eq!(state_of("resolution-delay", "aaaa-late-30", &trace), ClauseState::NotShown);
    }
}
