//! The times recorded are those that passed, to the nanosecond.

use std::num::{NonZeroU32, NonZeroU64};
use std::time::Duration;

use sixmark_document::timing::Timing;
use sixmark_plan::plan::Plan;
use sixmark_plan::plan::timestamps::Timestamps;
use sixmark_sys::driver::{SocketRoute, TcpHandshake};
use sixmark_tally::outcome::{Failure, FailurePhase, Outcome};
use sixmark_units::family::Family;

use super::harness::{plan, run};
use super::script::{Dial, MICRO, MILLI, Reply, Request, Response, Script, Step, Take};

/// What each phase takes, differently for each family.
#[derive(Clone, Copy)]
struct Times {
    connect: u64,
    wait: u64,
    transfer: u64,
}

fn times(family: Family) -> Times {
    let ipv6 = Times { connect: 1_234_567, wait: 2_345_678, transfer: 345_678 };
    match family {
        Family::Ipv6 => ipv6,
        Family::Ipv4 => Times { connect: MILLI + 1, wait: 3 * MILLI + 1, transfer: 7 },
    }
}

fn timed(request: &Request) -> Reply {
    let Times { wait, transfer, .. } = times(request.family);
    Reply::timed(&Response::default().bytes(), wait, transfer)
}

fn script(reply: impl FnMut(&Request, &mut super::random::Random) -> Reply + 'static) -> Script {
    let dial =
        |way: &SocketRoute, _: &mut _| Dial::connects(way, times(Family::of(way.to.ip())).connect);
    Script::new(dial, reply)
}

/// Ten exchanges, one after the other.
fn ten() -> Plan {
    let mut plan = plan();
    plan.load.connections = NonZeroU32::MIN;
    plan.load.requests = NonZeroU64::new(10);
    plan
}

/// All `count` durations were `nanos`.
fn all(timing: &Timing, count: u64, nanos: u64, what: &str) {
    let found = (timing.count(), timing.mean(), timing.quantile(1.0));
    assert_eq!(found, (count, Some(nanos as f64), Some(nanos)), "{what}");
}

#[test]
fn response_time_includes_the_connect_without_keep_alive() {
    let mut plan = ten();
    plan.connection.keep_alive = false;
    let ran = run(plan, script(|request, _| timed(request)));
    for (family, tally) in ran.tally().iter() {
        let Times { connect, wait, transfer } = times(family);
        assert_eq!(tally.phases.connect.count(), 5);
        assert_eq!(tally.tcp.handshake.client.quantile(1.0), Some(connect));
        all(&tally.phases.wait, 5, wait, "wait");
        all(&tally.phases.ttfb, 5, connect + wait, "ttfb");
        all(&tally.phases.transfer, 5, transfer, "transfer");
        all(&tally.phases.response, 5, connect + wait + transfer, "response");
        all(&tally.phases.lifetime, 5, wait + transfer, "lifetime");
    }
}

/// A connect takes as long as the kernel says, and as long as this client saw where it says nothing:
/// which is counted where the kernel's clock was asked for.
#[test]
fn prefers_the_connect_time_of_the_kernel_where_available() {
    for (clock, missing) in [(Timestamps::Kernel, 4), (Timestamps::User, 0)] {
        let mut plan = ten();
        plan.connection.keep_alive = false;
        plan.load.timestamps = clock;
        let ran = run(plan, script(|request, _| timed(request)));
        assert_eq!(ran.report.clocks.missing, missing);
        let ledger = &ran.ledger;
        for (family, tally) in ran.tally().iter() {
            let client = times(family).connect;
            let pages = ledger.connections.iter().filter(|page| page.family == family);
            let said: Vec<_> = pages.map(|page| page.handshake.unwrap()).collect();
            let took = said.iter().map(|said| match said {
                TcpHandshake::Took(nanos) => *nanos,
                _ => client,
            });
            let mean = took.sum::<u64>() as f64 / 5.0;
            assert_eq!((said.len(), tally.phases.connect.mean()), (5, Some(mean)), "{family}");
            // What follows counts from when this client knew.
            let Times { wait, transfer, .. } = times(family);
            all(&tally.phases.lifetime, 5, wait + transfer, "lifetime");
            let found = &tally.tcp.handshake;
            assert_eq!((found.asked, found.client.mean()), (5, Some(client as f64)), "{family}");
        }
    }
}

#[test]
fn response_time_starts_with_the_send_on_a_kept_alive_connection() {
    let ran = run(ten(), script(|request, _| timed(request)));
    for (family, tally) in ran.tally().iter() {
        let Times { connect, wait, transfer } = times(family);
        // What the kernel says of the first two connections.
        all(&tally.phases.connect, 1, connect / 2, "connect");
        all(&tally.phases.wait, 5, wait, "wait");
        let response = &tally.phases.response;
        assert_eq!(response.quantile(1.0), Some(connect + wait + transfer));
        let mean = (connect as f64 + 5.0 * (wait + transfer) as f64) / 5.0;
        assert!((response.mean().unwrap() - mean).abs() < 0.5);
    }
    let last = Family::BOTH.map(times).map(|t| t.connect + 5 * (t.wait + t.transfer));
    assert_eq!(ran.report.elapsed_ns, last.iter().sum::<u64>());
}

#[test]
fn a_connection_lives_from_its_establishment_to_its_close() {
    let ran = run(ten(), script(|request, _| timed(request)));
    let exchange = |family| times(family).wait + times(family).transfer;
    let (v6, v4) = (exchange(Family::Ipv6), exchange(Family::Ipv4));
    let tally = ran.tally();
    // One family begins, with one exchange or more, and both close at the end.
    let first = ran.ledger.families(0).next().unwrap();
    let before = ran.ledger.families(0).take_while(|&family| family == first).count() as u64;
    let second = first.other();
    let all_exchanges = 5 * (v6 + v4);
    all(
        &tally[first].phases.lifetime,
        1,
        all_exchanges + times(second).connect,
        "the first family's",
    );
    let after = all_exchanges - before * exchange(first);
    all(&tally[second].phases.lifetime, 1, after, "the second family's");
}

#[test]
fn a_long_send_is_part_of_the_response_time_but_not_of_the_wait() {
    let mut plan = ten();
    plan.connection.keep_alive = false;
    let send = 9 * MILLI + 9;
    let ran = run(
        plan,
        script(move |request, _| {
            let mut reply = timed(request).taken(Take::Later);
            reply.steps.insert(0, (send, Step::Sent));
            reply
        }),
    );
    for (family, tally) in ran.tally().iter() {
        let Times { connect, wait, transfer } = times(family);
        all(&tally.phases.wait, 5, wait, "wait");
        all(&tally.phases.response, 5, connect + send + wait + transfer, "response");
    }
}

#[test]
fn a_response_before_the_end_of_its_request_has_no_wait() {
    let mut plan = ten();
    plan.connection.keep_alive = false;
    let ran = run(
        plan,
        script(|request, _| {
            let mut reply = timed(request).taken(Take::Later);
            reply.steps.insert(1, (MICRO, Step::Sent));
            reply
        }),
    );
    for (family, tally) in ran.tally().iter() {
        let transfer = MICRO + times(family).transfer;
        all(&tally.phases.wait, 5, 0, "wait");
        all(&tally.phases.transfer, 5, transfer, "transfer");
    }
}

#[test]
fn the_wait_starts_when_the_request_leaves_this_host() {
    let held_back = 5 * MILLI + 5;
    let ran = run(
        ten(),
        script(move |request, _| {
            let mut reply = timed(request);
            reply.steps.insert(0, (held_back, Step::Left));
            reply
        }),
    );
    for (family, tally) in ran.tally().iter() {
        let Times { connect, wait, transfer } = times(family);
        all(&tally.phases.wait, 5, wait, "wait");
        let longest = connect + held_back + wait + transfer;
        assert_eq!(tally.phases.response.quantile(1.0), Some(longest));
    }
    assert_eq!(ran.report.clocks.inverted, 0);
}

/// The bytes of a response after an interim one, which ends at the returned position.
fn hinted() -> (Vec<u8>, usize) {
    let bytes = Response { hints: true, ..Response::default() }.bytes();
    let end = bytes.windows(4).position(|end| end == b"\r\n\r\n").unwrap() + 4;
    (bytes, end)
}

/// The first pieces of an answer come after `wait`, `pause` and `pause`; the last ends it.
fn in_pieces(cuts: [usize; 2], wait: u64, pause: u64) -> Reply {
    let (bytes, _) = hinted();
    let [first, second] = cuts;
    let piece = |from: usize, to: usize| Step::Bytes(bytes[from..to].to_vec());
    Reply::of(wait, piece(0, first))
        .then(pause, piece(first, second))
        .then(pause, Step::LastBytes(bytes[second..].to_vec()))
}

/// Wherever it is cut, an interim response ends no wait, and its own time ends with its first byte.
#[test]
fn records_the_interim_response_time_without_ending_the_wait() {
    let (bytes, end) = hinted();
    let (wait, pause) = (2 * MILLI, 80 * MILLI);
    for (cuts, waited) in [
        ([end, end + 1], wait + pause),
        ([1, end], wait + 2 * pause),
        ([1, end + 1], wait + pause),
        ([end - 1, bytes.len() - 1], wait + pause),
        ([end + 1, end + 2], wait),
        ([end - 2, end], wait + 2 * pause),
    ] {
        let ran = run(ten(), script(move |_, _| in_pieces(cuts, wait, pause)));
        for (family, tally) in ran.tally().iter() {
            let phases = &tally.phases;
            assert_eq!((tally.completed(), tally.interim_responses), (5, 5), "{family} {cuts:?}");
            all(&phases.interim, 5, wait, "interim");
            all(&phases.wait, 5, waited, "wait");
            all(&phases.transfer, 5, wait + 2 * pause - waited, "transfer");
        }
    }
}

/// A timeout after an interim response is one of the wait.
#[test]
fn a_timeout_after_an_interim_response_is_in_the_wait_phase() {
    let mut plan = ten();
    plan.load.timeout = Duration::from_secs(1);
    let ran = run(
        plan,
        script(|_, _| {
            let (bytes, end) = hinted();
            Reply::of(MILLI, Step::Bytes(bytes[..end].to_vec()))
        }),
    );
    for (family, tally) in ran.tally().iter() {
        let timeout = Failure::new(Outcome::Timeout, FailurePhase::Wait);
        assert_eq!(tally.failures.iter().collect::<Vec<_>>(), [(timeout, 5)], "{family}");
        assert_eq!((tally.interim_responses, tally.phases.interim.count()), (0, 0), "{family}");
    }
}

/// An interim response that comes before the request was sent completely, as after `Expect:
/// 100-continue`, is no part of the wait.
#[test]
fn the_wait_starts_after_the_request_despite_an_earlier_interim_response() {
    let mut plan = ten();
    plan.connection.keep_alive = false;
    let send = 5 * MILLI;
    let ran = run(
        plan,
        script(move |request, _| {
            let (bytes, end) = hinted();
            let (hints, rest) = bytes.split_at(end);
            Reply::of(MILLI, Step::Bytes(hints.to_vec()))
                .then(send, Step::Sent)
                .then(times(request.family).wait, Step::LastBytes(rest.to_vec()))
                .taken(Take::Later)
        }),
    );
    for (family, tally) in ran.tally().iter() {
        all(&tally.phases.interim, 5, 0, "interim");
        all(&tally.phases.wait, 5, times(family).wait, "wait");
        all(&tally.phases.transfer, 5, 0, "transfer");
    }
}
