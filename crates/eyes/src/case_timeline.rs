//! The starts of a client in a case as a picture: queries and attempts over time.

use std::net::IpAddr;

use sixmark_sheet::BOTH_PLACE;
use sixmark_sheet::timeline::{BarEnd, MarkKind, Timeline, TimelineBar, TimelineMark, TimelineRow};
use sixmark_units::family::Family;

use crate::behaviour::losers;
use crate::client_trace::{ClientTrace, SeenAttempt, SeenQuery, SeenTransport};
use crate::eyes_case::EyesCase;
use crate::eyes_result::CaseResult;

/// The most rows of a picture: of a client that tries again and again the first are enough.
const MOST_ROWS: usize = 16;
/// The room after the last event if something has no end, as a factor.
const ROOM: f64 = 1.05;

/// Returns the picture of a case: the start whose content took the median time, and when the same began in
/// the others. `None` if nothing was seen in any start.
pub fn draw_case(of: &CaseResult) -> Option<Timeline> {
    let (typical, others) = split_typical(&of.starts)?;
    let mut rows: Vec<TimelineRow> =
        typical.queries.iter().map(|query| query_row(query, typical, &others)).collect();
    let attempts = typical.attempts.iter().enumerate();
    rows.extend(attempts.map(|(at, attempt)| {
        let same = typical.attempts[..at].iter().filter(|of| is_same(of, attempt)).count();
        attempt_row(attempt, same, typical, &others)
    }));
    rows.truncate(MOST_ROWS);
    let to_ms = last_moment(typical, &rows);
    for bar in rows.iter_mut().filter_map(|of| of.bar.as_mut()) {
        if bar.end == BarEnd::Open {
            bar.to_ms = to_ms;
        }
    }
    Some(Timeline { title: of.case.clone(), about: describe_case(&of.case, typical), to_ms, rows })
}

/// Returns the start in the middle by the time of its content, and the others.
fn split_typical(starts: &[ClientTrace]) -> Option<(&ClientTrace, Vec<&ClientTrace>)> {
    let mut order: Vec<&ClientTrace> = starts.iter().filter(|of| !of.is_empty()).collect();
    // A start without content took longer than any.
    let time = |of: &&ClientTrace| of.content_ms().unwrap_or(f64::INFINITY);
    order.sort_by(|a, b| time(a).total_cmp(&time(b)));
    let middle = order.len().checked_sub(1)? / 2;
    let typical = order.remove(middle);
    Some((typical, order))
}

fn describe_case(case: &str, typical: &ClientTrace) -> String {
    let about = EyesCase::named(case).map_or("", |case| case.about);
    let missing = if typical.content_ms().is_none() { "; the content did not arrive" } else { "" };
    format!("{about}{missing}")
}

fn query_row(query: &SeenQuery, typical: &ClientTrace, others: &[&ClientTrace]) -> TimelineRow {
    let side = match query.kind.as_str() {
        "AAAA" => 0,
        "A" => 1,
        _ => BOTH_PLACE,
    };
    let is_refused = query.rcode.as_deref().is_some_and(|code| code != "NOERROR");
    let (to_ms, end) = match query.answered_ms {
        Some(answered) if is_refused => (answered, BarEnd::Failed),
        Some(answered) => (answered, BarEnd::Reached),
        None => begun_after(typical, query.sent_ms),
    };
    TimelineRow {
        label: format!("{} query", query.kind),
        side,
        bar: Some(TimelineBar { from_ms: query.sent_ms, to_ms, end, marks: Vec::new() }),
        others_ms: others.iter().filter_map(|of| Some(of.query(&query.kind)?.sent_ms)).collect(),
    }
}

/// A query without an answer is given up when the client begins to connect all the same.
fn begun_after(typical: &ClientTrace, sent_ms: f64) -> (f64, BarEnd) {
    let begun = typical.attempts.iter().map(|of| of.begun_ms).find(|begun| *begun > sent_ms);
    begun.map_or((sent_ms, BarEnd::Open), |begun| (begun, BarEnd::GivenUp))
}

fn is_same(one: &SeenAttempt, other: &SeenAttempt) -> bool {
    one.address == other.address && one.transport == other.transport
}

/// Returns the row of an attempt, before which the same address was tried some times.
fn attempt_row(
    attempt: &SeenAttempt,
    before: usize,
    typical: &ClientTrace,
    others: &[&ClientTrace],
) -> TimelineRow {
    let begun = |of: &&ClientTrace| {
        let same = of.attempts.iter().filter(|other| is_same(other, attempt)).nth(before);
        same.map(|of| of.begun_ms)
    };
    let (to_ms, end) = end_of(attempt, typical);
    let mark = |at: Option<f64>, kind| at.map(|at_ms| TimelineMark { at_ms, kind });
    let marks =
        [mark(attempt.request_ms, MarkKind::Asked), mark(attempt.content_ms, MarkKind::Complete)];
    TimelineRow {
        label: format!("{} {}", transport_word(attempt.transport), address_text(attempt.address)),
        side: match attempt.family {
            Family::Ipv6 => 0,
            Family::Ipv4 => 1,
        },
        bar: Some(TimelineBar {
            from_ms: attempt.begun_ms,
            to_ms,
            end,
            marks: marks.into_iter().flatten().collect(),
        }),
        others_ms: others.iter().filter_map(begun).collect(),
    }
}

fn transport_word(of: SeenTransport) -> &'static str {
    match of {
        SeenTransport::Tcp => "TCP",
        SeenTransport::Quic => "QUIC",
    }
}

fn address_text(of: IpAddr) -> String {
    of.to_string()
}

/// Returns when an attempt was over, and how. Of one that was given up the end is when another one had won.
fn end_of(attempt: &SeenAttempt, typical: &ClientTrace) -> (f64, BarEnd) {
    let won = typical.winner().and_then(|of| of.request_ms);
    let lost = losers(typical).into_iter().find(|(of, _)| *of == attempt);
    match (attempt.established_ms, attempt.failed_ms, lost.map(|of| of.1), won) {
        (Some(established), _, Some(Some(true)), Some(won)) if won < established => {
            (won, BarEnd::GivenUp)
        }
        (Some(established), _, _, _) => (established, BarEnd::Reached),
        (None, Some(failed), _, _) => (failed, BarEnd::Failed),
        (None, None, Some(Some(true)), Some(won)) => (won, BarEnd::GivenUp),
        (None, None, _, _) => match attempt.closed_ms {
            Some(closed) => (closed, BarEnd::GivenUp),
            None => (attempt.begun_ms, BarEnd::Open),
        },
    }
}

/// Returns when the picture ends: at the last event, or a little later if something has no end.
fn last_moment(typical: &ClientTrace, rows: &[TimelineRow]) -> f64 {
    let bars = || rows.iter().filter_map(|of| of.bar.as_ref());
    let ends = bars().flat_map(|bar| bar.marks.iter().map(|of| of.at_ms).chain([bar.to_ms]));
    let others = rows.iter().flat_map(|of| of.others_ms.iter().copied());
    let last = ends.chain(others).fold(0.0, f64::max);
    let is_open = bars().any(|bar| bar.end == BarEnd::Open) || typical.content_ms().is_none();
    if is_open { last * ROOM } else { last }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client_trace::make_attempt;

    /// A start in which IPv6 is silent and the content comes over IPv4 at this time.
    fn start(content_ms: f64) -> ClientTrace {
        let mut won = make_attempt("192.0.2.1", content_ms - 10.0);
        won.established_ms = Some(content_ms - 5.0);
        won.request_ms = Some(content_ms - 4.0);
        won.content_ms = Some(content_ms);
        ClientTrace {
            attempts: vec![make_attempt("2001:db8::1", 5.0), won],
            watched_ms: Some(2_000.0),
            ..ClientTrace::default()
        }
    }

    #[test]
    fn draws_the_start_in_the_middle_and_where_the_others_began() {
        let starts = vec![start(300.0), start(200.0), ClientTrace::default(), start(250.0)];
        let drawn = draw_case(&CaseResult::of("dead-ipv6", starts)).unwrap();
        assert_eq!((drawn.rows.len(), drawn.to_ms), (2, 290.0));
        let bars: Vec<_> = drawn.rows.iter().map(|of| of.bar.clone().unwrap()).collect();
        assert_eq!((bars[0].to_ms, bars[0].end), (246.0, BarEnd::GivenUp));
        assert_eq!((bars[1].from_ms, bars[1].end), (240.0, BarEnd::Reached));
        assert_eq!(bars[1].marks.iter().map(|of| of.at_ms).collect::<Vec<_>>(), [246.0, 250.0]);
        assert_eq!(drawn.rows[1].others_ms, [190.0, 290.0]);
    }

    #[test]
    fn what_is_sent_again_and_never_answered_has_no_end() {
        let mut silent = make_attempt("2001:db8::1", 10.0);
        silent.tries = 5;
        let start = ClientTrace { attempts: vec![silent], ..ClientTrace::default() };
        let drawn = draw_case(&CaseResult::of("dead-ipv6", vec![start])).unwrap();
        let bar = drawn.rows[0].bar.clone().unwrap();
        assert_eq!((bar.to_ms, bar.end), (10.5, BarEnd::Open));
        assert!(drawn.about.ends_with("; the content did not arrive"), "{}", drawn.about);
    }

    #[test]
    fn there_is_no_picture_of_nothing() {
        assert!(draw_case(&CaseResult::of("healthy", vec![ClientTrace::default()])).is_none());
        assert!(draw_case(&CaseResult::of("healthy", Vec::new())).is_none());
    }
}
