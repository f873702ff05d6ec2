//! A worker that stands still, and a family that says nothing.

use std::num::NonZeroU64;
use std::time::Duration;

use libc::ECONNRESET;
use sixmark_document::provenance::Ended;
use sixmark_http::HttpVersion;
use sixmark_tally::outcome::{Failure, FailurePhase, LocalCause, Outcome};
use sixmark_units::family::Family;

use super::harness::{BEGIN, Ran, Sim, at_rate, lasting, plan};
use super::script::{Dial, MICRO, MILLI, Reply, Request, Response, SECOND, Script, Step};

/// When the worker stops, and when it goes on: later than any timeout.
const FROM: u64 = BEGIN + SECOND;
const UNTIL: u64 = FROM + 20 * SECOND;
/// How long servers take.
const WAIT: u64 = 10 * MILLI;

/// As usual, but what is in flight when the worker stops ends as `end` says, with what its server
/// had to wait with until the worker went on.
fn stopped(plan: sixmark_plan::plan::Plan, end: impl Fn(u64) -> Reply + 'static) -> Ran {
    let script = Script::of_replies(move |request: &Request, _| {
        let response = Response::default().bytes();
        if request.at + WAIT < FROM || request.at > FROM {
            Reply::of(WAIT, Step::LastBytes(response))
        } else {
            end(UNTIL - request.at)
        }
    });
    let ran = Sim { pause: Some([FROM, UNTIL - FROM]), ..Sim::new(plan) }.run(script);
    super::balance::check(&ran);
    ran
}

fn both(ran: &Ran, number: impl Fn(&sixmark_tally::tally::FamilyTally) -> u64) -> u64 {
    Family::BOTH.into_iter().map(|family| number(&ran.tally()[family])).sum()
}

#[test]
fn exchanges_in_flight_during_a_worker_stall_have_no_times_or_timeouts() {
    // The rest of each response comes a moment after the worker has gone on.
    let ran = stopped(lasting(Duration::from_secs(30)), |left| {
        let response = Response::default().bytes();
        let (first, rest) = response.split_at(9);
        Reply::of(WAIT, Step::Bytes(first.to_vec()))
            .then(left - WAIT + MILLI, Step::LastBytes(rest.to_vec()))
    });
    assert_eq!(both(&ran, |tally| tally.outcome(Outcome::Timeout)), 0);
    assert_eq!(both(&ran, |tally| tally.stalled), 4);
    assert_eq!(both(&ran, |tally| tally.untimed), 4);
    let longest = |family: Family| ran.tally()[family].phases.response.quantile(1.0).unwrap();
    assert!(Family::BOTH.into_iter().all(|family| longest(family) < 2 * WAIT));
    let lapses = ran.report.lapses;
    let length = UNTIL - FROM;
    assert_eq!(lapses.stalls, 1);
    assert!((length - SECOND..=length).contains(&lapses.stalled_ns), "{lapses:?}");
}

#[test]
fn attributes_connections_lost_during_a_worker_stall_to_this_host() {
    for (step, errno) in [(Step::Error(ECONNRESET), Some(ECONNRESET)), (Step::Fin, None)] {
        let ran =
            stopped(lasting(Duration::from_secs(30)), move |_| Reply::of(5 * SECOND, step.clone()));
        let cause = Some(LocalCause::Stalled);
        let failure = Failure { errno, cause, ..Failure::new(Outcome::Local, FailurePhase::Wait) };
        for family in Family::BOTH {
            let failures = ran.tally()[family].failures.iter();
            let failures: Vec<_> =
                failures.filter(|(of, _)| of.outcome != Outcome::Abandoned).collect();
            assert_eq!(failures, [(failure, 2)], "{family}");
        }
    }
}

#[test]
fn exchanges_due_during_a_worker_stall_have_no_times() {
    let ran = stopped(at_rate(100.0, Duration::from_secs(30)), |left| {
        Reply::of(left, Step::LastBytes(Response::default().bytes()))
    });
    // Twenty seconds at a hundred a second.
    let untimed = both(&ran, |tally| tally.untimed);
    assert!(untimed >= 1_990, "{untimed}");
    for family in Family::BOTH {
        let phases = &ran.tally()[family].phases;
        assert!(phases.service.quantile(1.0).unwrap() < 2 * WAIT, "{family}");
    }
}

#[test]
fn a_pause_of_900_ms_is_not_a_stall() {
    let script =
        Script::of_replies(|_, _| Reply::of(WAIT, Step::LastBytes(Response::default().bytes())));
    let pause = Some([FROM, 900 * MILLI]);
    let ran = Sim { pause, ..Sim::new(lasting(Duration::from_secs(3))) }.run(script);
    super::balance::check(&ran);
    assert_eq!((ran.report.lapses.stalls, both(&ran, |tally| tally.stalled)), (0, 0));
}

/// A family that never answers, and one that does.
fn half_silent(dial: bool) -> Script {
    Script::new(
        move |way, _| match Family::of(way.to.ip()) {
            Family::Ipv6 if dial => Dial::Silent,
            _ => Dial::connects(way, 100 * MICRO),
        },
        |request, _| match request.family {
            Family::Ipv6 => Reply::no_response(),
            Family::Ipv4 => Reply::ok(request),
        },
    )
}

#[test]
fn a_silent_family_is_given_up_and_the_other_gets_all_its_requests() {
    for silent_to_dials in [true, false] {
        for timeout in [1, 5, 15] {
            let mut plan = plan();
            plan.load.requests = NonZeroU64::new(10_000);
            plan.load.timeout = Duration::from_secs(timeout);
            let ran = Sim::new(plan).run(half_silent(silent_to_dials));
            super::balance::check(&ran);
            let [silent, other] = Family::BOTH.map(|family| &ran.tally()[family]);
            assert_eq!((other.sent, other.completed(), other.given_up), (5_000, 5_000, 0));
            assert_eq!(silent.sent + silent.given_up, 5_000);
            assert_eq!(silent.outcome(Outcome::Timeout), silent.sent);
            assert!(silent.sent < 100, "{}", silent.sent);
            // It takes the shortest time that shows anything, and what is in flight then its
            // timeout.
            assert!(ran.report.elapsed_ns <= (10 + 2 * timeout) * SECOND);
            assert_eq!(ran.report.ended, Ended::Complete);
        }
    }
}

#[test]
fn a_family_that_answers_now_and_then_is_not_given_up() {
    let mut plan = plan();
    plan.load.requests = NonZeroU64::new(100);
    let mut asked = 0;
    let script = Script::of_replies(move |request, _| match request.family {
        Family::Ipv4 => Reply::ok(request),
        Family::Ipv6 => {
            asked += 1;
            if asked == 3 { Reply::ok(request) } else { Reply::no_response() }
        }
    });
    let ran = Sim::new(plan).run(script);
    super::balance::check(&ran);
    let tally = &ran.tally()[Family::Ipv6];
    assert_eq!((tally.sent, tally.given_up, tally.completed()), (50, 0, 1));
}

#[test]
fn a_timed_load_does_not_give_up_a_silent_family() {
    let ran = Sim::new(lasting(Duration::from_secs(60))).run(half_silent(false));
    super::balance::check(&ran);
    assert_eq!(both(&ran, |tally| tally.given_up), 0);
}

#[test]
fn an_open_loop_continues_without_a_silent_family() {
    let mut plan = at_rate(100.0, Duration::from_secs(1));
    plan.load.duration = None;
    plan.load.requests = NonZeroU64::new(10_000);
    let ran = Sim::new(plan).run(half_silent(true));
    super::balance::check(&ran);
    let [silent, other] = Family::BOTH.map(|family| &ran.tally()[family]);
    assert_eq!((silent.sent + silent.given_up, other.completed()), (5_000, 5_000));
    assert!(silent.given_up > 4_900, "{}", silent.given_up);
}

#[test]
fn gives_up_within_15_seconds_if_no_family_answers() {
    for version in [HttpVersion::Http1, HttpVersion::Http2] {
        let mut plan = plan();
        plan.http.version = version;
        plan.load.requests = NonZeroU64::new(1_000);
        let script = Script::new(|_, _| Dial::Silent, |_, _| Reply::no_response());
        let ran = Sim::new(plan).run(script);
        assert_eq!(ran.report.ended, Ended::Hopeless, "{version:?}");
        assert!(ran.report.elapsed_ns <= 15 * SECOND, "{version:?}");
    }
}
