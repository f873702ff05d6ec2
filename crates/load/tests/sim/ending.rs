//! What becomes of exchanges that are in flight when the time of a load is over.

use std::time::Duration;

use sixmark_document::timing::Timing;
use sixmark_plan::plan::Plan;
use sixmark_tally::outcome::Outcome;
use sixmark_tally::tally::Tally;
use sixmark_units::family::Family;

use super::harness::{BEGIN, Ran, Sim, lasting, plan, run};
use super::script::{MILLI, Reply, Request, Response, SECOND, Script, Step};

/// How long servers take.
const WAIT: u64 = 100 * MILLI;

/// The tally as a result has it.
fn classified(ran: &Ran) -> Tally {
    let mut tally = ran.tally().clone();
    for family in Family::BOTH {
        tally[family].classify_in_flight();
    }
    tally
}

/// How many exchanges of each family ended so, IPv6 first.
fn ended(tally: &Tally, outcome: Outcome) -> [u64; 2] {
    Family::BOTH.map(|family| tally[family].outcome(outcome))
}

fn after(wait: u64) -> Reply {
    Reply::of(wait, Step::LastBytes(Response::default().bytes()))
}

/// A load of two seconds over eight connections, with a timeout that is longer.
fn two_seconds(drain: u64) -> Plan {
    let mut plan = lasting(Duration::from_secs(2));
    plan.load.connections = 8.try_into().unwrap();
    plan.connection.most_open = 16.try_into().unwrap();
    plan.load.drain = Duration::from_secs(drain);
    plan
}

/// Answers after a tenth of a second, but each tenth request of these families never.
fn tenth_lost(lost: impl Fn(Family) -> bool + 'static) -> Script {
    let mut asked = 0;
    Script::of_replies(move |request: &Request, _| {
        asked += u64::from(lost(request.family));
        if lost(request.family) && asked % 10 == 0 { Reply::no_response() } else { after(WAIT) }
    })
}

#[test]
fn exchanges_cut_off_by_the_end_of_the_load_do_not_fail() {
    for drain in [0, 5] {
        let ran = run(two_seconds(drain), tenth_lost(|_| false));
        let tally = classified(&ran);
        assert_eq!(Family::BOTH.map(|family| tally[family].failed()), [0, 0], "{drain}");
        let cut_off: u64 = ended(&tally, Outcome::Abandoned).iter().sum();
        assert_eq!(cut_off, if drain == 0 { 8 } else { 0 }, "{drain}");
        assert_eq!(ran.report.elapsed_ns, 2 * SECOND, "{drain}");
    }
}

/// The warm-up ends while exchanges of it are in flight, at each of several moments.
#[test]
fn a_counted_load_lasts_from_the_first_start_to_the_last_response() {
    for warmup in [0, 150, 199, 1_250] {
        for (number, connections) in [(1, 1), (2, 1), (10, 1), (100, 1), (1, 4), (8, 4), (100, 4)] {
            let mut plan = plan();
            plan.load.requests = number.try_into().ok();
            plan.load.warmup = Duration::from_millis(warmup);
            plan.load.connections = connections.try_into().unwrap();
            plan.connection.most_open = (2 * connections).try_into().unwrap();
            let ran = run(plan, Script::of_replies(|_: &Request, _| after(WAIT)));
            let tally = ran.tally();
            let of = format!("{number} requests, {connections} in flight, {warmup} ms");
            assert_eq!(tally.iter().map(|(_, of)| of.completed()).sum::<u64>(), number, "{of}");
            let times = || tally.iter().map(|(_, of)| &of.phases.response);
            let shortest = times().filter_map(Timing::min).min().unwrap();
            let longest = times().filter_map(|of| of.quantile(1.0)).max().unwrap();
            let rounds = number.div_ceil(connections.into());
            let elapsed = ran.report.elapsed_ns;
            // The places become free one after the other, as they were opened.
            let most = rounds * longest + MILLI;
            assert!((rounds * shortest..=most).contains(&elapsed), "{of}: {elapsed}");
            let of_slices: u64 = ran.slices.iter().map(|slice| slice.length_ns).sum();
            assert_eq!(of_slices, elapsed, "{of}");
        }
    }
}

#[test]
fn counts_requests_without_a_response_as_unanswered() {
    let ran = run(two_seconds(0), tenth_lost(|family| family == Family::Ipv6));
    let tally = classified(&ran);
    let [v6, v4] = ended(&tally, Outcome::Unanswered);
    assert!(v6 > 0 && v4 == 0, "{v6} {v4}");
    assert_eq!((tally.ipv6.failed(), tally.ipv4.failed()), (v6, 0));
    let oldest = tally.ipv6.oldest_unanswered_ns;
    assert!((5 * WAIT..=2 * SECOND).contains(&oldest), "{oldest}");
    let response = tally.ipv6.phases.response.summary();
    assert!(response.is_lower_bound(response.max.unwrap()), "{response:?}");
    assert_eq!(response.count, tally.ipv6.completed() + v6);
}

#[test]
fn a_drained_load_counts_requests_without_a_response_as_timeouts() {
    for both in [false, true] {
        let lost = move |family| both || family == Family::Ipv6;
        let ran = run(two_seconds(5), tenth_lost(lost));
        let tally = classified(&ran);
        for outcome in [Outcome::Unanswered, Outcome::Abandoned] {
            assert_eq!(ended(&tally, outcome), [0, 0], "{outcome}");
        }
        let [v6, v4] = ended(&tally, Outcome::Timeout);
        assert!(v6 > 0 && (v4 > 0) == both, "{v6} {v4}");
        // The wait is no part of the time, and begins no second.
        assert_eq!(ran.report.elapsed_ns, 2 * SECOND);
        assert_eq!(ran.slices.iter().map(|slice| slice.length_ns).sum::<u64>(), 2 * SECOND);
    }
}

#[test]
fn a_drained_load_begins_nothing_after_its_time() {
    let ran = run(two_seconds(5), tenth_lost(|_| false));
    let end = BEGIN + 2 * SECOND;
    for family in Family::BOTH {
        assert_eq!(ran.ledger.begun(family, end), 0, "{family}");
    }
}

#[test]
fn a_server_that_freezes_leaves_all_in_flight_unanswered() {
    let freezes = BEGIN + 1_200 * MILLI;
    let script =
        Script::of_replies(
            move |request: &Request, _| {
                if request.at < freezes { after(MILLI) } else { Reply::no_response() }
            },
        );
    let ran = run(two_seconds(0), script);
    let tally = classified(&ran);
    assert_eq!(ended(&tally, Outcome::Unanswered), [4, 4]);
    assert!(tally.ipv4.oldest_unanswered_ns > 700 * MILLI);
}

#[test]
fn a_freeze_that_ends_before_the_load_causes_no_failure() {
    let (freezes, thaws) = (BEGIN + 500 * MILLI, BEGIN + 1_500 * MILLI);
    let script = Script::of_replies(move |request: &Request, _| {
        let frozen = (freezes..thaws).contains(&request.at);
        after(if frozen { thaws - request.at } else { MILLI })
    });
    let tally = classified(&run(two_seconds(0), script));
    assert_eq!(Family::BOTH.map(|family| tally[family].failed()), [0, 0]);
    let longest = tally.ipv6.phases.response.max().unwrap();
    assert!(longest > 900 * MILLI, "{longest}");
}

#[test]
fn counts_silent_exchanges_that_began_in_the_warm_up() {
    // The first request over IPv6 is never answered.
    let script = || {
        let mut first = true;
        Script::of_replies(move |request: &Request, _| {
            let lost = request.family == Family::Ipv6 && std::mem::take(&mut first);
            if lost { Reply::no_response() } else { after(MILLI) }
        })
    };
    for (drain, outcome) in [(0, Outcome::Unanswered), (5, Outcome::Timeout)] {
        let mut plan = two_seconds(drain);
        plan.load.warmup = Duration::from_millis(100);
        let tally = classified(&run(plan, script()));
        assert_eq!(ended(&tally, outcome), [1, 0], "{outcome}");
        assert_eq!((tally.ipv6.failed(), tally.ipv4.failed()), (1, 0), "{outcome}");
        assert_eq!(tally.ipv6.carried, 1);
    }
}

#[test]
fn a_worker_stall_leaves_no_exchange_counted_as_unanswered() {
    let script = Script::of_replies(|_, _| after(MILLI));
    let pause = Some([BEGIN + 500 * MILLI, 5 * SECOND]);
    let ran = Sim { pause, ..Sim::new(two_seconds(0)) }.run(script);
    super::balance::check(&ran);
    let tally = classified(&ran);
    assert_eq!(ended(&tally, Outcome::Unanswered), [0, 0]);
}
