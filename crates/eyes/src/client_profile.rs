//! What a client does, in a few figures over all cases: its profile.
//!
//! Each figure is of the cases that show it, and is missing where none of them was watched.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sixmark_units::family::Family;

use crate::behaviour::{
    LONGEST_WAIT_MS, attempt_delays_ms, delays_after_failure_ms, first_attempts, losers,
    order_of_families, wait_beyond_answer_ms,
};
use crate::clause::LOSERS_CASES;
use crate::client_trace::{CaseTraces, ClientTrace, SeenAttempt, SeenTransport};
use crate::figures::TimeSpread;

/// Delays whose medians by case are within this time of one another are one delay, in milliseconds: a timer
/// fires late on a busy machine.
const SAME_DELAY_MS: f64 = 10.0;
/// The same as a share of the longest.
const SAME_DELAY_SHARE: f64 = 0.1;

/// What a client does.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClientProfile {
    /// The types of its queries in the order of time, of most starts; null if it asked nothing.
    pub query_order: Option<Vec<String>>,
    /// The family of its first attempt where both answer alike, of most starts.
    pub first_family: Option<Family>,
    /// What it does while the answer for AAAA is 1 s late, and that for A is there.
    pub without_aaaa: Option<AnswerWait>,
    /// What it does if no answer for AAAA comes, and that for A is there.
    pub never_aaaa: Option<AnswerWait>,
    /// What it does while the answer for A is missing, and that for AAAA is there.
    pub without_a: Option<AnswerWait>,
    /// What it does while the answer for HTTPS is missing, and those for addresses are there; null if it
    /// does not ask for it.
    pub without_https: Option<AnswerWait>,
    /// The delay between attempts where none of them failed.
    pub attempt_delay: Option<AttemptDelay>,
    /// The families of its attempts in the order of time, each address once, where nothing was heard of
    /// seven of eight addresses.
    pub address_order: Option<Vec<Family>>,
    /// How long after a failure the next attempt began.
    pub after_failure: Option<TimeSpread>,
    /// The attempts that lost, and how many of them were given up.
    pub losers: Option<LosersEnd>,
    /// How QUIC takes part; null if the site did not offer it, or the client did not try it.
    pub quic: Option<QuicRace>,
    /// Whether it gets the content if the first address accepts connections and nothing is heard after
    /// that, of most starts.
    pub survives_stall: Option<bool>,
    /// Whether a start begins with IPv4 after an earlier one found IPv6 dead, of most starts.
    pub remembers_outcome: Option<bool>,
}

/// What a client does while an answer is missing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AnswerWait {
    /// The time to the first attempt, beyond what the other answer took, counted from the first query on; null
    /// if no start made one after it.
    pub waited: Option<TimeSpread>,
    /// The starts that waited for more than 500 ms, or made no attempt.
    pub waited_for_it: u32,
    /// All starts.
    pub starts: u32,
}

/// The delay between attempts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AttemptDelay {
    /// All delays.
    pub all: TimeSpread,
    /// Whether it is the same in each case and between all attempts, within 10 ms or 10 %; null if there is
    /// one case and one delay in each of its starts, which can't show it.
    pub is_fixed: Option<bool>,
}

/// The end of attempts that lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LosersEnd {
    /// The attempts that lost, of clients that ran for long enough to show what became of them.
    pub all: u32,
    /// Those of them that were closed, or not begun again.
    pub given_up: u32,
}

/// How QUIC and TCP race.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QuicRace {
    /// The time from the first attempt over QUIC to the first over TCP, of the starts that made both; it is
    /// negative if TCP was first.
    pub tcp_after: Option<TimeSpread>,
    /// The starts that asked over QUIC where it answers.
    pub over_quic: u32,
    /// The starts where it answers.
    pub starts: u32,
}

impl ClientProfile {
    /// Returns the profile that the traces show.
    pub fn of(traces: &CaseTraces) -> ClientProfile {
        let is_ipv6_first = begins_with_ipv6(traces);
        ClientProfile {
            query_order: most(starts(traces, &["healthy"]).map(query_order)),
            first_family: most(
                starts(traces, &["healthy"]).filter_map(|of| Some(of.attempts.first()?.family)),
            ),
            without_aaaa: wait_without(traces, &["aaaa-late-1000"], "A", "AAAA"),
            never_aaaa: wait_without(traces, &["aaaa-dropped"], "A", "AAAA"),
            without_a: wait_without(traces, &["a-late-1000"], "AAAA", "A"),
            without_https: wait_without(
                traces,
                &["https-late-1000", "http3-late-1000"],
                "AAAA",
                "HTTPS",
            ),
            attempt_delay: attempt_delay(traces),
            address_order: most(
                starts(traces, &["last-alive"])
                    .map(|of| order_of_families(of, SeenTransport::Tcp))
                    .filter(|of| !of.is_empty()),
            ),
            after_failure: TimeSpread::of(
                starts(traces, &["refused-ipv6", "unreachable-ipv6"])
                    .flat_map(delays_after_failure_ms),
            ),
            losers: losers_end(traces),
            quic: quic_race(traces),
            survives_stall: most(
                starts(traces, &["stalled-ipv6"])
                    .filter(|of| of.attempts.first().is_some_and(meets_stall))
                    .filter(|of| !of.is_answered_in_vain())
                    .map(|of| of.content_ms().is_some()),
            ),
            remembers_outcome: most(
                starts(traces, &["dead-ipv6-again"])
                    .filter_map(|of| Some(of.attempts.first()?.family == Family::Ipv4))
                    // Who always begins with IPv4 has nothing to remember.
                    .filter(|begins_with_ipv4| !begins_with_ipv4 || is_ipv6_first),
            ),
        }
    }
}

fn starts<'a>(
    traces: &'a CaseTraces,
    cases: &'a [&str],
) -> impl Iterator<Item = &'a ClientTrace> + Clone {
    let all = cases.iter().filter_map(|case| traces.get(*case)).flatten();
    // What is missing may have been done.
    all.filter(|trace| trace.lost_packets == 0)
}

/// Returns true if an attempt met the address whose connections stall: those over IPv4 do not.
fn meets_stall(first: &SeenAttempt) -> bool {
    first.family == Family::Ipv6 && first.established_ms.is_some()
}

/// Returns true if most starts without a history begin with IPv6.
fn begins_with_ipv6(traces: &CaseTraces) -> bool {
    let first = starts(traces, &["healthy", "dead-ipv6"])
        .filter_map(|of| Some(of.attempts.first()?.family));
    most(first) == Some(Family::Ipv6)
}

/// Returns the value that occurs most often, the first of several.
fn most<T: PartialEq>(values: impl Iterator<Item = T>) -> Option<T> {
    let mut counted: Vec<(T, u32)> = Vec::new();
    for value in values {
        match counted.iter_mut().find(|known| known.0 == value) {
            Some(known) => known.1 += 1,
            None => counted.push((value, 1)),
        }
    }
    let largest = counted.iter().map(|of| of.1).max()?;
    counted.into_iter().find(|of| of.1 == largest).map(|of| of.0)
}

fn query_order(trace: &ClientTrace) -> Vec<String> {
    trace.queries.iter().map(|of| of.kind.clone()).collect()
}

/// Returns what the client does in cases where one answer is missing and another is there. A start that did
/// not ask both questions says nothing.
fn wait_without(
    traces: &CaseTraces,
    cases: &[&str],
    there: &str,
    missing: &str,
) -> Option<AnswerWait> {
    let mut waited = Vec::new();
    let (mut all, mut waited_for_it) = (0, 0);
    for trace in starts(traces, cases) {
        if trace.query(missing).is_none() || trace.query(there).is_none() {
            continue;
        }
        all += 1;
        let wait = wait_beyond_answer_ms(trace, there).map(|wait| wait.max(0.0));
        waited.extend(wait);
        waited_for_it += u32::from(wait.is_none_or(|wait| wait > LONGEST_WAIT_MS));
    }
    (all > 0).then(|| AnswerWait { waited: TimeSpread::of(waited), waited_for_it, starts: all })
}

/// Returns the delay between attempts in all cases, and whether it is fixed.
fn attempt_delay(traces: &CaseTraces) -> Option<AttemptDelay> {
    let cases: Vec<&str> = traces.keys().map(String::as_str).collect();
    let all = TimeSpread::of(starts(traces, &cases).flat_map(attempt_delays_ms))?;
    // By case and by number: a delay may depend on the round trip, or grow from attempt to attempt.
    let mut by_number: BTreeMap<(&str, usize), Vec<f64>> = BTreeMap::new();
    let of_case = |case| starts(traces, std::slice::from_ref(case)).map(move |of| (*case, of));
    for (case, trace) in cases.iter().flat_map(of_case) {
        for (number, delay) in attempt_delays_ms(trace).into_iter().enumerate() {
            by_number.entry((case, number)).or_default().push(delay);
        }
    }
    let medians =
        TimeSpread::of(by_number.into_values().filter_map(TimeSpread::of).map(|of| of.median_ms))?;
    let allowed = SAME_DELAY_MS.max(SAME_DELAY_SHARE * medians.largest_ms);
    let is_fixed = medians.largest_ms - medians.least_ms <= allowed;
    Some(AttemptDelay { all, is_fixed: (medians.count > 1).then_some(is_fixed) })
}

fn losers_end(traces: &CaseTraces) -> Option<LosersEnd> {
    let (mut all, mut given_up) = (0, 0);
    for is_given_up in starts(traces, LOSERS_CASES).flat_map(losers).filter_map(|of| of.1) {
        all += 1;
        given_up += u32::from(is_given_up);
    }
    (all > 0).then_some(LosersEnd { all, given_up })
}

fn quic_race(traces: &CaseTraces) -> Option<QuicRace> {
    let offered = ["http3", "http3-late-1000", "quic-dead", "quic-dead-ipv6"];
    let first = |trace: &ClientTrace, transport| {
        first_attempts(trace, transport).first().map(|of| of.begun_ms)
    };
    let tried = starts(traces, &offered).filter(|of| first(of, SeenTransport::Quic).is_some());
    if tried.clone().count() == 0 {
        return None;
    }
    let tcp_after = tried
        .filter_map(|of| Some(first(of, SeenTransport::Tcp)? - first(of, SeenTransport::Quic)?));
    let answering = starts(traces, &["http3"]);
    let is_won = |of: &&ClientTrace| {
        of.winner().is_some_and(|winner| winner.transport == SeenTransport::Quic)
    };
    Some(QuicRace {
        tcp_after: TimeSpread::of(tcp_after),
        over_quic: answering.clone().filter(is_won).count() as u32,
        starts: answering.count() as u32,
    })
}

#[cfg(test)]
mod tests;
