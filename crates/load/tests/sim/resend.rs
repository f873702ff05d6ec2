//! What becomes of requests on kept connections that the server had closed.

use std::num::{NonZeroU32, NonZeroU64};
use std::sync::Arc;
use std::time::Duration;

use libc::{ECONNREFUSED, ECONNRESET, EPIPE, ETIMEDOUT};
use sixmark_plan::plan::ratio::PlanRatio;
use sixmark_plan::plan::{Body, Plan, PlanRequests, Request};
use sixmark_plan::template::{Reading, TemplatePlace};
use sixmark_tally::outcome::{Failure, FailurePhase, Outcome};
use sixmark_tally::tally::FamilyTally;
use sixmark_units::family::Family;

use super::harness::{Ran, at_rate, plan, run};
use super::script::{Dial, MICRO, MILLI, Reply, Response, Script, Step, Take};

/// Ten exchanges with `family`, one after the other, which may be sent again.
fn ten(family: Family) -> Plan {
    let mut plan = plan();
    plan.ratio = PlanRatio::only(family);
    plan.load.connections = NonZeroU32::MIN;
    plan.load.requests = NonZeroU64::new(10);
    plan.connection.resend = true;
    plan
}

/// Every second request that comes, whatever its connection, is lost in this way.
fn every_second(lost: Reply) -> Script {
    let mut number = 0;
    Script::of_replies(move |request, _| {
        number += 1;
        if number % 2 == 0 { lost.clone() } else { Reply::ok(request) }
    })
}

fn closes() -> Reply {
    Reply::of(MILLI, Step::Fin)
}

fn of(ran: &Ran, family: Family) -> &FamilyTally {
    &ran.tally()[family]
}

fn failures(tally: &FamilyTally) -> Vec<(Outcome, FailurePhase, u64)> {
    tally.failures.iter().map(|(of, count)| (of.outcome, of.phase, count)).collect()
}

#[test]
fn resends_an_exchange_lost_with_its_connection_and_counts_it_once() {
    for lost in [
        closes(),
        Reply::of(MILLI, Step::Error(ECONNRESET)),
        Reply::no_response().taken(Take::Fails(EPIPE)),
    ] {
        for family in Family::BOTH {
            let ran = run(ten(family), every_second(lost.clone()));
            let tally = of(&ran, family);
            let found = (tally.sent, tally.completed(), tally.resent);
            assert_eq!(found, (10, 10, 9), "{family} {lost:?}");
            assert_eq!(tally.connections.opened, 10, "{family}: each on a new one");
        }
    }
}

#[test]
fn response_time_of_a_resend_includes_the_lost_attempt_but_wait_does_not() {
    for family in Family::BOTH {
        let ran = run(ten(family), every_second(closes()));
        let phases = &of(&ran, family).phases;
        // A millisecond to the end of the first connection, then the connect, then the wait.
        let again = MILLI + 200 * MICRO;
        assert_eq!(phases.response.quantile(1.0), Some(again), "{family}");
        assert_eq!(phases.response.min(), Some(200 * MICRO), "{family}: the first");
        let wait = (phases.wait.min(), phases.wait.quantile(1.0));
        assert_eq!(wait, (Some(100 * MICRO), Some(100 * MICRO)), "{family}");
        assert_eq!(phases.ttfb.quantile(1.0), Some(again), "{family}");
    }
}

#[test]
fn counts_a_lost_exchange_as_failed_if_resending_is_disabled() {
    for family in Family::BOTH {
        for (lost, outcome) in [
            (closes(), Outcome::Truncated),
            (Reply::of(MILLI, Step::Error(ECONNRESET)), Outcome::Reset),
        ] {
            let mut plan = ten(family);
            plan.connection.resend = false;
            let ran = run(plan, every_second(lost));
            let tally = of(&ran, family);
            assert_eq!((tally.completed(), tally.resent), (5, 0), "{family}");
            assert_eq!(failures(tally), [(outcome, FailurePhase::Wait, 5)], "{family}");
        }
    }
}

/// Only the first exchange of all is answered: the second is sent again and lost again, the others
/// are lost on connections that never served.
#[test]
fn fails_an_exchange_that_is_lost_twice() {
    for family in Family::BOTH {
        let mut number = 0;
        let script = Script::of_replies(move |request, _| {
            number += 1;
            if number == 1 { Reply::ok(request) } else { closes() }
        });
        let ran = run(ten(family), script);
        let tally = of(&ran, family);
        assert_eq!((tally.sent, tally.completed(), tally.resent), (10, 1, 1), "{family}");
        let truncated = (Outcome::Truncated, FailurePhase::Wait, 9);
        assert_eq!(failures(tally), [truncated], "{family}");
    }
}

#[test]
fn a_resend_fails_if_the_server_refuses_the_new_connection() {
    for family in Family::BOTH {
        let mut dials = 0;
        let script = Script::new(
            move |way, _| {
                dials += 1;
                match dials {
                    1 => Dial::connects(way, MICRO),
                    _ => Dial::Fails { after: MICRO, errno: ECONNREFUSED },
                }
            },
            {
                let mut number = 0;
                move |request, _| {
                    number += 1;
                    if number == 1 { Reply::ok(request) } else { closes() }
                }
            },
        );
        let ran = run(ten(family), script);
        let tally = of(&ran, family);
        assert_eq!((tally.sent, tally.completed(), tally.resent), (10, 1, 1), "{family}");
        assert_eq!(failures(tally), [(Outcome::Refused, FailurePhase::Connect, 9)], "{family}");
    }
}

/// A server that answers something, even if only an empty line or an interim response, has got the
/// request; a connection that is silent has not been closed.
#[test]
fn resends_only_if_the_connection_closed_without_a_response_byte() {
    for begun in [&b"H"[..], b"\r\n", b"HTTP/1.1 103 Early\r\n\r\n", b"HTTP/1.1 200 OK\r\n"] {
        for family in Family::BOTH {
            let lost = Reply::of(MICRO, Step::Bytes(begun.to_vec())).then(MICRO, Step::Fin);
            let ran = run(ten(family), every_second(lost));
            let tally = of(&ran, family);
            assert_eq!((tally.completed(), tally.resent), (5, 0), "{family} {begun:?}");
            assert_eq!(tally.outcome(Outcome::Truncated), 5, "{family} {begun:?}");
        }
    }
    for (lost, outcome) in [
        (Reply::of(MILLI, Step::Error(ETIMEDOUT)), Outcome::Timeout),
        (Reply::no_response(), Outcome::Timeout),
        (Reply::of(MILLI, Step::Bytes(b"?".to_vec())), Outcome::Protocol),
    ] {
        for family in Family::BOTH {
            let ran = run(ten(family), every_second(lost.clone()));
            let tally = of(&ran, family);
            assert_eq!((tally.outcome(outcome), tally.resent), (5, 0), "{family} {outcome}");
        }
    }
}

#[test]
fn resends_only_idempotent_methods() {
    for (method, again) in [
        ("GET", true),
        ("HEAD", true),
        ("PUT", true),
        ("DELETE", true),
        ("OPTIONS", true),
        ("TRACE", true),
        ("POST", false),
        ("PATCH", false),
    ] {
        let mut plan = ten(Family::Ipv6);
        let body = (method == "PUT").then(|| Body::Constant(Arc::new(b"abc".to_vec())));
        plan.requests = PlanRequests::one(Request { body, ..Request::plain(method) });
        let without = method == "HEAD";
        let mut number = 0;
        let script = Script::of_replies(move |request, _| {
            number += 1;
            let response = Response { body: if without { 0 } else { 100 }, ..Response::default() };
            match number % 2 {
                0 => closes(),
                _ => Reply {
                    steps: vec![(MICRO, Step::LastBytes(response.bytes()))],
                    ..Reply::ok(request)
                },
            }
        });
        let ran = run(plan, script);
        let tally = of(&ran, Family::Ipv6);
        let expected = if again { (10, 9) } else { (5, 0) };
        assert_eq!((tally.completed(), tally.resent), expected, "{method}");
    }
}

/// The methods of redirected requests are their own: after 303 a POST is a GET.
#[test]
fn decides_by_the_method_after_a_redirect_whether_to_resend() {
    let mut plan = ten(Family::Ipv4);
    plan.location = true;
    plan.load.requests = NonZeroU64::new(1);
    plan.requests = PlanRequests::one(Request::plain("POST"));
    let mut number = 0;
    let script = Script::of_replies(move |request, _| {
        number += 1;
        let see = b"HTTP/1.1 303 See Other\r\nLocation: /next\r\nContent-Length: 0\r\n\r\n";
        match number {
            1 => Reply::of(MICRO, Step::LastBytes(see.to_vec())),
            2 => closes(),
            _ => Reply::ok(request),
        }
    });
    let ran = run(plan, script);
    let tally = of(&ran, Family::Ipv4);
    assert_eq!((tally.sent, tally.completed(), tally.resent), (2, 2, 1));
    let asked = |page: &super::ledger::Connection| {
        page.requests.iter().map(|asked| asked.line.clone()).collect::<Vec<_>>()
    };
    let asked: Vec<_> = ran.ledger.connections.iter().map(asked).collect();
    assert_eq!(asked, [vec!["POST /", "GET /next"], vec!["GET /next"]]);
}

#[test]
fn resends_the_same_bytes_without_using_new_template_values() {
    let mut open = |_: &str| Err("there are no files".to_owned());
    let path = Reading::new(&mut open).template("/{{seq}}/{{uuid}}", TemplatePlace::Path).unwrap();
    for location in [false, true] {
        let mut plan = ten(Family::Ipv6);
        plan.location = location;
        plan.requests =
            PlanRequests::one(Request { path: Some(path.clone()), ..Request::plain("GET") });
        let ran = run(plan, every_second(closes()));
        assert_eq!(of(&ran, Family::Ipv6).resent, 9);
        let pages = ran.ledger.connections.iter().flat_map(|page| &page.requests);
        let mut lines: Vec<_> = pages.map(|asked| asked.line.clone()).collect();
        assert_eq!(lines.len(), 19);
        lines.dedup();
        let numbers = lines.iter().map(|line| line.split('/').nth(1).unwrap().to_owned());
        let expected: Vec<_> = (0..10).map(|number: u32| number.to_string()).collect();
        assert_eq!(numbers.collect::<Vec<_>>(), expected, "{location}");
    }
}

/// At a rate, the server closes each connection just as the next request is on its way to it.
#[test]
fn resending_makes_no_exchange_late_or_lost_at_a_rate() {
    for family in Family::BOTH {
        let mut plan = at_rate(100.0, Duration::from_secs(1));
        plan.ratio = PlanRatio::only(family);
        plan.connection.resend = true;
        let ran = run(plan, every_second(Reply::of(MICRO, Step::Fin)));
        let tally = of(&ran, family);
        let found = (tally.sent, tally.completed(), tally.resent, tally.waited, tally.late);
        assert_eq!(found, (100, 100, 99, 0, 0), "{family}");
        assert_eq!(tally.phases.response.quantile(1.0), Some(201 * MICRO), "{family}");
    }
}

/// What was waiting for the measurement is not counted, also where it is sent again in it.
#[test]
fn does_not_count_a_resend_of_an_exchange_from_the_warm_up() {
    let mut plan = ten(Family::Ipv6);
    (plan.load.requests, plan.load.duration) = (None, Some(Duration::from_millis(10)));
    plan.load.warmup = Duration::from_millis(1);
    let mut number = 0;
    let script = Script::of_replies(move |request, _| {
        number += 1;
        // The second request begins in the warm-up and is lost after it.
        if number == 2 { Reply::of(2 * MILLI, Step::Fin) } else { Reply::ok(request) }
    });
    let ran = run(plan, script);
    let tally = of(&ran, Family::Ipv6);
    assert_eq!((tally.resent, tally.warm_up.sent), (0, 2));
    assert_eq!(tally.warm_up.completed, 2);
    assert_eq!(tally.failures.iter().filter(|(of, _)| of.outcome != Outcome::Abandoned).count(), 0);
}

/// Without keep-alive, and on the first request of a connection, nothing was kept.
#[test]
fn the_first_request_of_a_connection_is_not_sent_again() {
    for keep_alive in [false, true] {
        let mut plan = ten(Family::Ipv4);
        plan.connection.keep_alive = keep_alive;
        let ran = run(plan, Script::of_replies(|_, _| closes()));
        let tally = of(&ran, Family::Ipv4);
        assert_eq!((tally.completed(), tally.resent), (0, 0));
        let failure = Failure::new(Outcome::Truncated, FailurePhase::Wait);
        assert_eq!(tally.failures.iter().collect::<Vec<_>>(), [(failure, 10)]);
    }
}
