//! What the traces of a client show: its delays and its order.

use std::net::IpAddr;

use sixmark_units::family::Family;

use crate::client_trace::{ClientTrace, SeenAttempt, SeenTransport};
use crate::eyes_case::MANY_EACH;

/// Attempts that begin within this time of one another begin together, in milliseconds: a client needs some
/// time for a system call.
const TOGETHER_MS: f64 = 2.0;
/// Who waits longer than this for an answer that is 1,000 ms late waits for it, in milliseconds: browsers take
/// up to 200 ms from the answers to the first attempt where none is late.
pub const LONGEST_WAIT_MS: f64 = 500.0;
/// What a client may take to give its other attempts up once one has won, in milliseconds.
const TO_GIVE_UP_MS: f64 = 100.0;
/// The time after which a SYN is sent again for the first time, in milliseconds (RFC 6298, 2).
const SYN_AGAIN_MS: f64 = 1_000.0;
/// The SYNs that come at the same interval by default (Linux, tcp_syn_linear_timeouts), with the first one.
const LINEAR_TRIES: u32 = 5;
/// The most addresses of a family in turn (RFC 8305, 8: First Address Family Count).
const MOST_IN_TURN: usize = 2;

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
/// that an attempt to another address followed before one had won.
pub fn delays_after_failure_ms(trace: &ClientTrace) -> Vec<f64> {
    let failures = trace.attempts.iter().filter_map(|of| Some((of.address, of.failed_ms?)));
    let won_ms = won_ms(trace).unwrap_or(f64::INFINITY);
    let next = |(address, failed): (IpAddr, f64)| {
        let others = trace.attempts.iter().filter(|of| of.address != address);
        let later = others.map(|of| of.begun_ms).filter(|begun| (failed..won_ms).contains(begun));
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
    Some((first - asked - took).max(0.0))
}

/// Returns the attempts over TCP to other addresses that went on when one had won, and whether each of them was
/// given up: the client closed it, or sent no further packet to begin it. `None` if the client ended before that
/// could be seen: the system closes what a process leaves.
pub fn losers(trace: &ClientTrace) -> Vec<(&SeenAttempt, Option<bool>)> {
    let (Some(winner), Some(won_ms)) = (trace.winner(), won_ms(trace)) else { return Vec::new() };
    // Browsers open further connections to the address that has won, and keep them.
    let is_same = |of: &SeenAttempt| of.address == winner.address || of.begun_ms > won_ms;
    let others = trace.attempts.iter().filter(|of| {
        // When QUIC sends again is up to the client: silence shows nothing.
        of.transport == SeenTransport::Tcp && !is_same(of) && of.failed_ms.is_none()
    });
    // Its process has ended, or is done with the site, when it closes the connection; of a client elsewhere that
    // is all that shows it, and QUIC does not.
    let is_unseen = trace.end.is_none() && winner.transport == SeenTransport::Quic;
    let until = trace.watched_ms.filter(|_| !is_unseen).unwrap_or(0.0);
    let ran_until_ms = until.min(winner.closed_ms.unwrap_or(f64::INFINITY));
    others.map(|of| (of, is_given_up(of, won_ms, ran_until_ms))).collect()
}

/// Returns true if an attempt was given up when another one had won, false if it went on, `None` if the client
/// ended before either was seen.
fn is_given_up(of: &SeenAttempt, won_ms: f64, ran_until_ms: f64) -> Option<bool> {
    let showed = |at_ms: f64| ran_until_ms >= at_ms + TO_GIVE_UP_MS;
    let by_ms = won_ms + TO_GIVE_UP_MS;
    if of.last_try_ms > by_ms {
        return Some(false);
    }
    match (of.established_ms, of.confirmed_ms, of.closed_ms) {
        (None, _, _) => showed(next_try_ms(of)).then_some(true),
        // The system resets what was closed before.
        (Some(_), None, Some(closed)) => showed(closed).then_some(true),
        (Some(_), _, Some(closed)) if closed <= by_ms => showed(closed).then_some(true),
        (Some(established), _, _) => showed(established.max(won_ms)).then_some(false),
    }
}

/// Returns when a SYN is sent again at the latest if nothing answers: the interval doubles, or stays the same
/// for the first few (Linux, tcp_syn_linear_timeouts).
fn next_try_ms(of: &SeenAttempt) -> f64 {
    let doubled = 2_f64.powi(of.tries.clamp(1, 8) as i32 - 1);
    let is_linear =
        of.tries > 2 && of.last_try_ms - of.begun_ms < SYN_AGAIN_MS * f64::from(of.tries);
    let intervals = match (is_linear, of.tries) {
        (true, ..=LINEAR_TRIES) => 1.0,
        (true, _) => 2.0,
        (false, _) => doubled,
    };
    of.last_try_ms + SYN_AGAIN_MS * intervals
}

/// Returns until when a client must be watched to see which attempts it gave up when one had won, in
/// milliseconds from its first packet on.
pub fn losers_shown_ms(trace: &ClientTrace) -> f64 {
    let open = losers(trace).into_iter().map(|of| of.0).filter(|of| of.established_ms.is_none());
    open.map(|of| next_try_ms(of) + 2.0 * TO_GIVE_UP_MS).fold(0.0, f64::max)
}

/// Returns how long the last attempt was left alone while the client knew other addresses, in milliseconds.
/// `None` if a connection was established, if the attempt was over, or if the client did not have both answers.
pub fn left_alone_ms(trace: &ClientTrace) -> Option<f64> {
    let is_known = |kind: &str| {
        trace.query(kind).and_then(|of| of.rcode.as_deref()).is_some_and(|code| code == "NOERROR")
    };
    let is_established = trace.attempts.iter().any(|of| of.established_ms.is_some());
    let attempts = first_attempts(trace, SeenTransport::Tcp);
    let last = attempts.last().filter(|of| !of.is_over_at(f64::INFINITY))?;
    let is_alone = is_known("AAAA") && is_known("A") && !is_established;
    is_alone.then_some(trace.watched_ms? - last.begun_ms)
}

/// Returns true if no more than two addresses of a family are tried in turn while the other has some left, of
/// `each` addresses of each. Addresses of one family alone are in no such order.
pub fn is_interleaved(order: &[Family], each: usize) -> bool {
    let mut rest = order;
    while let Some(family) = rest.first() {
        let run = rest.iter().take_while(|of| *of == family).count();
        let others = order[..order.len() - rest.len()].iter().filter(|of| *of != family).count();
        let is_alone = others >= each || run == rest.len() && run <= MOST_IN_TURN;
        if is_alone && run == rest.len() {
            return run < order.len();
        }
        if run > MOST_IN_TURN && !is_alone {
            return false;
        }
        rest = &rest[run..];
    }
    false
}

/// Returns true if the addresses of both families are tried in turn. `None` if that did not show: an earlier
/// attempt won, or the client was not watched until the end.
pub fn takes_turns(trace: &ClientTrace) -> Option<bool> {
    let order = first_attempts(trace, SeenTransport::Tcp);
    let families: Vec<Family> = order.iter().map(|of| of.family).collect();
    let first = families.first()?;
    if families.iter().all(|of| of == first) {
        let is_shown = trace.content_ms().is_none() && !trace.is_cut_off();
        return (is_shown || families.len() > MOST_IN_TURN).then_some(false);
    }
    // Who begins all at once has no order.
    let is_together =
        order.windows(2).all(|pair| pair[1].begun_ms - pair[0].begun_ms < TOGETHER_MS);
    Some(is_together || is_interleaved(&families, MANY_EACH))
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
    use crate::client_end::ClientEnd;
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
        let given_up = |all: &[SeenAttempt], watched_ms: f64| {
            let trace = ClientTrace { watched_ms: Some(watched_ms), ..trace(all) };
            losers(&trace).iter().map(|of| of.1).collect::<Vec<_>>()
        };
        assert_eq!(given_up(&all, 1_500.0), [Some(true)]);
        assert_eq!(given_up(&all, 300.0), [None], "it ended before the next SYN");
        all[0].last_try_ms = 1_000.0;
        assert_eq!(given_up(&all, 1_000.0), [Some(false)]);
        all[0].last_try_ms = 0.0;
        (all[0].established_ms, all[0].closed_ms) = (Some(500.0), Some(500.1));
        assert_eq!(given_up(&all, 1_500.0), [Some(true)], "the system resets what is closed");
        assert_eq!(given_up(&all, 510.0), [None], "it closed all when it ended");
        all[0].closed_ms = Some(1_400.0);
        all[0].confirmed_ms = Some(500.0);
        assert_eq!(given_up(&all, 1_500.0), [Some(false)]);
        all[0].closed_ms = Some(500.1);
        assert_eq!(given_up(&all, 1_500.0), [Some(false)], "it waited for it, and closed it then");
        all[1].closed_ms = Some(280.0);
        assert_eq!(given_up(&all, 1_500.0), [None], "it was done with the site");
    }

    #[test]
    fn a_client_elsewhere_is_done_when_it_closes_the_connection() {
        let mut all = [make_attempt("2001:db8::1", 0.0), make_attempt("192.0.2.1", 250.0)];
        (all[1].established_ms, all[1].request_ms) = (Some(270.0), Some(271.0));
        all[1].closed_ms = Some(290.0);
        let served = ClientTrace { watched_ms: Some(1_600.0), ..trace(&all) };
        assert_eq!(losers(&served)[0].1, None);
        assert_eq!(losers_shown_ms(&served), 1_200.0);
    }

    #[test]
    fn an_attempt_that_was_tried_again_before_the_race_was_won_is_given_up_after_it() {
        let mut all = [make_attempt("2001:db8::1", 0.0), make_attempt("192.0.2.1", 2_000.0)];
        (all[0].tries, all[0].last_try_ms) = (2, 1_000.0);
        (all[1].established_ms, all[1].request_ms) = (Some(2_004.0), Some(2_004.5));
        let watched = |watched_ms: f64| ClientTrace { watched_ms: Some(watched_ms), ..trace(&all) };
        assert_eq!(losers(&watched(3_200.0))[0].1, Some(true));
        assert_eq!(losers(&watched(2_500.0))[0].1, None);
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
        let alone = trace(&late[..1]);
        assert_eq!(takes_turns(&alone), None, "cut off");
        let end = ClientEnd { status: Some(7), ..ClientEnd::default() };
        let ended = ClientTrace { end: Some(end), ..alone };
        assert_eq!(takes_turns(&ended), Some(false), "no fallback");
    }

    #[test]
    fn families_in_turn_are_interleaved_and_one_after_the_other_are_not() {
        use Family::{Ipv4, Ipv6};
        for order in [&[Ipv6, Ipv4, Ipv6, Ipv4][..], &[Ipv6, Ipv6, Ipv4, Ipv6], &[Ipv6, Ipv4]] {
            assert!(is_interleaved(order, 4), "{order:?}");
        }
        let fewer = [Ipv6, Ipv4, Ipv4, Ipv4];
        assert!(
            is_interleaved(&fewer, 1) && !is_interleaved(&fewer, 4),
            "there is no more of IPv6"
        );
        let later = [Ipv6, Ipv4, Ipv4, Ipv4, Ipv6];
        for order in [&[Ipv6, Ipv6, Ipv6, Ipv4][..], &[Ipv6, Ipv6], &[], &later] {
            assert!(!is_interleaved(order, 4), "{order:?}");
        }
    }

    #[test]
    fn an_attempt_that_nothing_follows_is_left_alone() {
        let query = |kind: &str| SeenQuery {
            kind: kind.to_owned(),
            sent_ms: 0.0,
            answered_ms: Some(4.0),
            rcode: Some("NOERROR".to_owned()),
            times: 1,
        };
        let mut waiting = ClientTrace {
            queries: vec![query("AAAA"), query("A")],
            attempts: vec![make_attempt("2001:db8::1", 5.0)],
            watched_ms: Some(20_005.0),
            ..ClientTrace::default()
        };
        assert_eq!(left_alone_ms(&waiting), Some(20_000.0));
        waiting.queries.pop();
        assert_eq!(left_alone_ms(&waiting), None, "it knows no other address");
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
