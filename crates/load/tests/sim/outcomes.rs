//! Each way to fail is told by its name, its phase and the kernel's number.

use std::num::NonZeroU64;
use std::time::Duration;

use libc::{
    EADDRNOTAVAIL, ECONNREFUSED, ECONNRESET, EHOSTUNREACH, EMFILE, ENETUNREACH, EPIPE, ETIMEDOUT,
};
use sixmark_plan::plan::Plan;
use sixmark_tally::outcome::{Failure, FailurePhase, Outcome};
use sixmark_units::family::Family;

use super::harness::{Sim, lasting, plan, run};
use super::script::{Dial, MICRO, MILLI, Reply, Script, Step, Take};

const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nbody";

/// Ten exchanges, half of them with each family.
fn ten() -> Plan {
    let mut plan = plan();
    plan.load.requests = NonZeroU64::new(10);
    // So that a family is not given up before its five have ended.
    plan.load.timeout = Duration::from_secs(1);
    plan
}

/// Every exchange fails in this way, whatever its family.
fn fails(script: Script, outcome: Outcome, phase: FailurePhase, errno: impl Into<Option<i32>>) {
    let ran = run(ten(), script);
    let failure = Failure { errno: errno.into(), ..Failure::new(outcome, phase) };
    for family in Family::BOTH {
        let failures: Vec<_> = ran.tally()[family].failures.iter().collect();
        assert_eq!(failures, [(failure, 5)], "{family}");
    }
}

/// Every request is answered like that.
fn replies(reply: Reply) -> Script {
    Script::of_replies(move |_, _| reply.clone())
}

fn begun(then: Step) -> Script {
    replies(Reply::of(MILLI, Step::Bytes(HEAD.to_vec())).then(MILLI, then))
}

#[test]
fn classifies_a_failed_connect_by_its_errno() {
    for after in [0, MILLI] {
        for (errno, outcome) in [
            (ECONNREFUSED, Outcome::Refused),
            (ENETUNREACH, Outcome::Unreachable),
            (EHOSTUNREACH, Outcome::Unreachable),
            (EADDRNOTAVAIL, Outcome::NoPort),
            (ETIMEDOUT, Outcome::Timeout),
            (ECONNRESET, Outcome::Reset),
            (EMFILE, Outcome::Local),
        ] {
            fails(Script::of_failures(errno, after), outcome, FailurePhase::Connect, errno);
        }
    }
}

#[test]
fn records_a_reset_in_the_phase_in_which_it_occurs() {
    let reset = Step::Error(ECONNRESET);
    let reply = Reply::no_response().taken(Take::Fails(EPIPE));
    fails(replies(reply), Outcome::Reset, FailurePhase::Send, EPIPE);
    let reply = Reply::of(MILLI, reset.clone()).taken(Take::Later);
    fails(replies(reply), Outcome::Reset, FailurePhase::Send, ECONNRESET);
    let reply = Reply::of(MILLI, Step::Sent).then(MILLI, reset.clone()).taken(Take::Later);
    fails(replies(reply), Outcome::Reset, FailurePhase::Wait, ECONNRESET);
    let reply = Reply::of(MILLI, reset.clone());
    fails(replies(reply), Outcome::Reset, FailurePhase::Wait, ECONNRESET);
    fails(begun(reset), Outcome::Reset, FailurePhase::Transfer, ECONNRESET);
}

#[test]
fn an_early_response_is_in_transfer_once_the_request_is_sent() {
    let reply = Reply::of(MILLI, Step::Bytes(HEAD.to_vec()))
        .then(MILLI, Step::Sent)
        .then(MILLI, Step::Error(ECONNRESET))
        .taken(Take::Later);
    fails(replies(reply), Outcome::Reset, FailurePhase::Transfer, ECONNRESET);
}

#[test]
fn a_response_cut_short_is_truncated() {
    fails(replies(Reply::of(MILLI, Step::Fin)), Outcome::Truncated, FailurePhase::Wait, None);
    fails(begun(Step::Fin), Outcome::Truncated, FailurePhase::Transfer, None);
}

#[test]
fn classifies_a_non_http_answer_as_a_protocol_failure() {
    let ssh = Step::Bytes(b"SSH-2.0-OpenSSH\r\n".to_vec());
    fails(replies(Reply::of(MILLI, ssh)), Outcome::Protocol, FailurePhase::Transfer, None);
}

#[test]
fn a_stall_ends_at_exactly_the_timeout_in_any_phase() {
    let stalls: [(FailurePhase, fn() -> Script); 4] = [
        (FailurePhase::Connect, || Script::new(|_, _| Dial::Silent, |_, _| Reply::no_response())),
        (FailurePhase::Send, || replies(Reply::no_response().taken(Take::Later))),
        (FailurePhase::Wait, || replies(Reply::no_response())),
        (FailurePhase::Transfer, || replies(Reply::of(MILLI, Step::Bytes(HEAD.to_vec())))),
    ];
    for (phase, script) in stalls {
        fails(script(), Outcome::Timeout, phase, None);
        for timeout in [123_456_789, 5 * MILLI, 3_000 * MILLI + 1] {
            let mut plan = ten();
            plan.load.timeout = Duration::from_nanos(timeout);
            plan.load.requests = NonZeroU64::new(4);
            assert_eq!(run(plan, script()).report.elapsed_ns, timeout, "{phase}");
        }
    }
}

#[test]
fn a_drip_does_not_extend_the_timeout() {
    let drip = Script::of_replies(|_, _| {
        let steps = HEAD.iter().map(|&byte| (400 * MILLI, Step::Bytes(vec![byte]))).collect();
        Reply { take: Take::Whole, steps }
    });
    let mut plan = ten();
    plan.load.timeout = Duration::from_secs(1);
    plan.load.requests = NonZeroU64::new(4);
    let ran = run(plan, drip);
    assert_eq!(ran.report.elapsed_ns, 1_000 * MILLI);
}

#[test]
fn abandons_exchanges_in_flight_at_the_end() {
    let script = || begun(Step::Bytes(Vec::from(b"b")));
    for (stop_at, ends) in [(u64::MAX, 50 * MILLI), (super::harness::BEGIN + 9 * MILLI, 0)] {
        let plan = lasting(Duration::from_millis(50));
        let ran = Sim { stop_at, cost: MICRO, ..Sim::new(plan) }.run(script());
        super::balance::check(&ran);
        assert!(ran.report.elapsed_ns >= ends);
        let failure = |phase| Failure::new(Outcome::Abandoned, phase);
        for family in Family::BOTH {
            let failures: Vec<_> = ran.tally()[family].failures.iter().collect();
            assert_eq!(failures, [(failure(FailurePhase::Transfer), 2)], "{family}");
        }
    }
}
