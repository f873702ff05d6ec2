//! What the traces of a client show: its delays and its order.

use sixmark_units::family::Family;

use crate::client_trace::{ClientTrace, SeenAttempt, SeenTransport};

/// Attempts that begin within this time of one another begin together, in milliseconds: a client needs some
/// time for a system call.
const TOGETHER_MS: f64 = 2.0;
/// Who waits longer than this for an answer that is 1,000 ms late waits for it, in milliseconds: browsers take
/// up to 200 ms from the answers to the first attempt where none is late.
pub const LONGEST_WAIT_MS: f64 = 500.0;
/// What a client may take to give its other attempts up once one has won, in milliseconds.
const TO_GIVE_UP_MS: f64 = 100.0;

/// Returns the first attempt to each address over a transport, in the order of time. Browsers open several
/// connections to an address at the same time, of which each takes part in the same race.
pub fn first_attempts(trace: &ClientTrace, transport: SeenTransport) -> Vec<&SeenAttempt> {
    let mut first: Vec<&SeenAttempt> = Vec::new();
    for of in trace.attempts.iter().filter(|of| of.transport == transport) {
        if !first.iter().any(|known| known.address == of.address) {
            first.push(of);
        }
    }
    first
}

/// Returns the delays between attempts to different addresses over TCP that did not begin because an earlier
/// one was over, in milliseconds, in the order of time: the Connection Attempt Delay (RFC 8305, 5).
pub fn attempt_delays_ms(trace: &ClientTrace) -> Vec<f64> {
    let mut delays = Vec::new();
    for pair in first_attempts(trace, SeenTransport::Tcp).windows(2) {
        let [before, after] = pair else { continue };
        let at_ms = after.begun_ms;
        let is_won = trace.attempts.iter().any(|of| of.request_ms.is_some_and(|won| won <= at_ms));
        // The failure of any attempt may begin the next one.
        let is_freed = trace
            .attempts
            .iter()
            .filter_map(|of| of.failed_ms)
            .any(|failed| failed > before.begun_ms && failed <= at_ms);
        if !is_won && !is_freed && !before.is_over_at(at_ms) {
            delays.push(at_ms - before.begun_ms);
        }
    }
    delays
}

/// Returns how long after the failure of an attempt the next one began, in milliseconds, for each failure
/// that another attempt followed before one had won.
pub fn delays_after_failure_ms(trace: &ClientTrace) -> Vec<f64> {
    let failures = trace.attempts.iter().filter_map(|of| of.failed_ms);
    let won_ms = won_ms(trace).unwrap_or(f64::INFINITY);
    let next = |failed: f64| {
        let later = trace
            .attempts
            .iter()
            .map(|of| of.begun_ms)
            .filter(|begun| (failed..won_ms).contains(begun));
        later.min_by(f64::total_cmp).map(|begun| begun - failed)
    };
    failures.filter_map(next).collect()
}

/// Returns when the race was won: when the first request was sent.
fn won_ms(trace: &ClientTrace) -> Option<f64> {
    trace.winner()?.request_ms
}

/// Returns the families of the attempts over a transport, each address once, in the order of time.
pub fn order_of_families(trace: &ClientTrace, transport: SeenTransport) -> Vec<Family> {
    first_attempts(trace, transport).into_iter().map(|of| of.family).collect()
}

/// Returns how long the first attempt waited for beyond the time that the answer to a type of query took, in
/// milliseconds, counted from the first query on: who asks one after the other waits too. `None` without an
/// answer or an attempt.
pub fn wait_beyond_answer_ms(trace: &ClientTrace, kind: &str) -> Option<f64> {
    let query = trace.query(kind)?;
    let took = query.answered_ms? - query.sent_ms;
    let asked = trace.queries.iter().map(|of| of.sent_ms).min_by(f64::total_cmp)?;
    let first = trace.attempts.first()?.begun_ms;
    (first >= query.answered_ms?).then_some(first - asked - took)
}

/// Returns the attempts to other addresses that went on when one had won, and whether each of them was given
/// up: the client closed it, or sent no further packet to begin it.
pub fn losers(trace: &ClientTrace) -> Vec<(&SeenAttempt, bool)> {
    let (Some(winner), Some(won_ms)) = (trace.winner(), won_ms(trace)) else { return Vec::new() };
    // Browsers open further connections to the address that has won, and keep them.
    let is_same = |of: &SeenAttempt| {
        of.address == winner.address && of.transport == winner.transport || of.begun_ms > won_ms
    };
    let others = trace.attempts.iter().filter(|of| !is_same(of) && of.failed_ms.is_none());
    others
        .map(|of| {
            let is_tried_on = of.last_try_ms > won_ms + TO_GIVE_UP_MS;
            let is_given_up = of.closed_ms.is_some() || of.established_ms.is_none() && !is_tried_on;
            (of, is_given_up)
        })
        .collect()
}

/// Returns true if, after one or two addresses of the first family, one of the other family comes. `None` if
/// an earlier attempt won.
pub fn takes_turns(trace: &ClientTrace) -> Option<bool> {
    let order = first_attempts(trace, SeenTransport::Tcp);
    let first = order.first()?.family;
    let other = order.iter().find(|of| of.family != first);
    match (order.iter().take_while(|of| of.family == first).nth(2), other) {
        (None, Some(_)) => Some(true),
        (None, None) => trace.content_ms().is_none().then_some(false),
        // Who begins all at once has no order.
        (Some(third), other) => {
            Some(other.is_some_and(|of| of.begun_ms - third.begun_ms < TOGETHER_MS))
        }
    }
}

/// Returns true if attempts over different families began together.
pub fn begins_families_together(trace: &ClientTrace) -> bool {
    trace.attempts.windows(2).any(|pair| {
        pair[0].family != pair[1].family && pair[1].begun_ms - pair[0].begun_ms < TOGETHER_MS
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client_trace::SeenQuery;
    use crate::client_trace::make_attempt;

    fn trace(attempts: &[SeenAttempt]) -> ClientTrace {
        ClientTrace { attempts: attempts.to_vec(), ..ClientTrace::default() }
    }

    #[test]
    fn a_delay_that_a_failure_ended_is_none() {
        let silent = [make_attempt("2001:db8::1", 1.0), make_attempt("192.0.2.1", 251.0)];
        assert_eq!(attempt_delays_ms(&trace(&silent)), [250.0]);
        let mut refused = silent.clone();
        refused[0].failed_ms = Some(20.0);
        refused[1].begun_ms = 21.0;
        assert_eq!(attempt_delays_ms(&trace(&refused)), [0.0; 0]);
        assert_eq!(delays_after_failure_ms(&trace(&refused)), [1.0]);
    }

    #[test]
    fn attempts_after_the_race_was_won_are_no_part_of_it() {
        let mut all = [make_attempt("2001:db8::1", 0.0), make_attempt("192.0.2.1", 400.0)];
        all[0].established_ms = Some(30.0);
        all[0].request_ms = Some(31.0);
        assert_eq!(attempt_delays_ms(&trace(&all)), [0.0; 0]);
    }

    #[test]
    fn families_are_listed_by_address_and_not_by_attempt() {
        let all = [
            make_attempt("2001:db8::1", 0.0),
            make_attempt("2001:db8::1", 10.0),
            make_attempt("192.0.2.1", 250.0),
            make_attempt("2001:db8::2", 500.0),
        ];
        let families = order_of_families(&trace(&all), SeenTransport::Tcp);
        assert_eq!(families, [Family::Ipv6, Family::Ipv4, Family::Ipv6]);
    }

    #[test]
    fn a_loser_is_given_up_if_it_is_closed_or_not_begun_again() {
        let mut all = [make_attempt("2001:db8::1", 0.0), make_attempt("192.0.2.1", 250.0)];
        all[1].established_ms = Some(270.0);
        all[1].request_ms = Some(271.0);
        assert_eq!(losers(&trace(&all)).iter().map(|of| of.1).collect::<Vec<_>>(), [true]);
        all[0].last_try_ms = 1_000.0;
        assert_eq!(losers(&trace(&all)).iter().map(|of| of.1).collect::<Vec<_>>(), [false]);
        all[0].closed_ms = Some(280.0);
        assert_eq!(losers(&trace(&all)).iter().map(|of| of.1).collect::<Vec<_>>(), [true]);
    }

    #[test]
    fn an_attempt_that_was_tried_again_before_the_race_was_won_is_given_up_after_it() {
        let mut all = [make_attempt("2001:db8::1", 0.0), make_attempt("192.0.2.1", 2_000.0)];
        (all[0].tries, all[0].last_try_ms) = (2, 1_000.0);
        (all[1].established_ms, all[1].request_ms) = (Some(2_004.0), Some(2_004.5));
        assert_eq!(losers(&trace(&all)).iter().map(|of| of.1).collect::<Vec<_>>(), [true]);
    }

    #[test]
    fn further_connections_to_the_winner_are_no_losers() {
        let mut all = [make_attempt("2001:db8::1", 0.0), make_attempt("2001:db8::1", 1.0)];
        all[0].established_ms = Some(4.0);
        all[0].request_ms = Some(4.5);
        all[1].established_ms = Some(5.0);
        assert!(losers(&trace(&all)).is_empty());
    }

    #[test]
    fn an_attempt_that_an_earlier_one_outran_shows_no_order() {
        let mut won = [make_attempt("192.0.2.1", 0.0)];
        (won[0].request_ms, won[0].content_ms) = (Some(4.0), Some(8.0));
        assert_eq!(takes_turns(&trace(&won)), None);
        let six = |at: u8, begun_ms: f64| make_attempt(&format!("2001:db8::{at}"), begun_ms);
        let mut late =
            [six(1, 0.0), six(2, 250.0), six(3, 500.0), make_attempt("192.0.2.1", 750.0)];
        assert_eq!(takes_turns(&trace(&late)), Some(false));
        late.iter_mut().for_each(|of| of.begun_ms /= 1_000.0);
        assert_eq!(takes_turns(&trace(&late)), Some(true), "all at once");
        assert_eq!(takes_turns(&trace(&late[..1])), Some(false), "no fallback");
    }

    #[test]
    fn who_asks_one_after_the_other_waits_for_the_first_answer() {
        let query = |kind: &str, sent_ms: f64, answered_ms: f64| SeenQuery {
            kind: kind.to_owned(),
            sent_ms,
            answered_ms: Some(answered_ms),
            rcode: None,
            times: 1,
        };
        let late = ClientTrace {
            queries: vec![query("AAAA", 0.0, 1_004.0), query("A", 1_004.0, 1_008.0)],
            attempts: vec![make_attempt("192.0.2.1", 1_008.5)],
            ..ClientTrace::default()
        };
        assert_eq!(wait_beyond_answer_ms(&late, "A"), Some(1_004.5));
    }
}
