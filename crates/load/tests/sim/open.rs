//! The open loop: exchanges are due when the clock says so, whatever the servers do.

use std::num::{NonZeroU32, NonZeroU64};
use std::time::Duration;

use libc::ECONNREFUSED;
use sixmark_document::provenance::Ended;
use sixmark_plan::pace::{
    ArrivalProcess, OpenLoop, Overload, Pace, RateStage, RequestRate, Timetable,
};
use sixmark_plan::plan::Plan;
use sixmark_plan::plan::ratio::PlanRatio;
use sixmark_tally::tally::FamilyTally;
use sixmark_units::family::Family;

use super::balance;
use super::harness::{BEGIN, Ran, Sim, at_rate, opened, plan, run};
use super::random::{Random, each_seed};
use super::script::{MICRO, MILLI, Reply, SECOND, Script};

fn rate(per_s: f64) -> RequestRate {
    RequestRate::new(per_s).unwrap()
}

fn with(mut plan: Plan, change: impl FnOnce(&mut OpenLoop)) -> Plan {
    if let Pace::Open(open) = &mut plan.load.pace {
        change(open);
    }
    plan
}

fn connections(mut plan: Plan, connections: u32) -> Plan {
    plan.load.connections = NonZeroU32::new(connections).unwrap();
    plan.connection.most_open = plan.load.connections.saturating_mul(NonZeroU32::new(2).unwrap());
    plan
}

/// Answers after this long.
fn after(nanos: u64) -> Script {
    Script::of_replies(move |request, _| {
        let mut reply = Reply::ok(request);
        reply.steps[0].0 = nanos;
        reply
    })
}

/// What both families have of something.
fn both(ran: &Ran, of: impl Fn(&FamilyTally) -> u64) -> u64 {
    ran.tally().iter().map(|(_, tally)| of(tally)).sum()
}

fn sent(ran: &Ran) -> u64 {
    both(ran, |tally| tally.sent)
}

/// Nanoseconds of a whole server's standing still, and how often.
const STILL: u64 = 500 * MILLI;
const EVERY: u64 = 5 * SECOND;

/// A server that answers after `time`, but stands still at the end of every 5 s.
fn stalling(time: u64) -> Script {
    Script::of_replies(move |request, _| {
        let into = (request.at - BEGIN + time) % EVERY;
        let held = if into >= EVERY - STILL { EVERY - into } else { 0 };
        let mut reply = Reply::ok(request);
        reply.steps[0].0 = time + held;
        reply
    })
}

#[test]
fn response_times_include_a_server_stall_at_any_number_of_connections() {
    for places in [4, 200] {
        let plan = connections(at_rate(200.0, Duration::from_secs(58)), places);
        let ran = run(plan, stalling(100 * MICRO));
        assert_eq!(sent(&ran), 11_600);
        for (family, tally) in ran.tally().iter() {
            let p99 = tally.phases.response.quantile(0.99).unwrap() / MILLI;
            assert!((405..=495).contains(&p99), "{places}, {family}: {p99} ms");
        }
        // Only where all places were taken had anything to wait, and that was not the worker's
        // fault.
        let waited = both(&ran, |tally| tally.waited);
        assert_eq!(waited > 1_000, places == 4, "{waited}");
        assert_eq!(both(&ran, |tally| tally.late), 0);
    }
}

#[test]
fn a_closed_loop_hides_the_same_stall() {
    let plan = super::harness::lasting(Duration::from_secs(5));
    let ran = run(plan, stalling(MILLI));
    for (_, tally) in ran.tally().iter() {
        assert!(tally.phases.response.quantile(0.99).unwrap() < 2 * MILLI);
        assert_eq!((tally.phases.slip.count(), tally.phases.service.count()), (0, 0));
    }
}

#[test]
fn exchanges_begin_when_they_are_due() {
    let ran = run(at_rate(100.0, Duration::from_secs(3)), after(MILLI));
    assert_eq!(sent(&ran), 300);
    let begun: Vec<u64> = ran.ledger.begun.iter().map(|begun| begun.woke - BEGIN).collect();
    let due: Vec<u64> = (0..300).map(|k| k * 10 * MILLI).collect();
    assert_eq!(begun, due);
    for (_, tally) in ran.tally().iter() {
        assert_eq!(tally.phases.slip.quantile(1.0), Some(0));
        let [response, service] =
            [&tally.phases.response, &tally.phases.service].map(|timing| timing.quantile(1.0));
        assert_eq!(response, service);
    }
    assert_eq!(ran.report.elapsed_ns, 3 * SECOND);
}

/// A recording with a pause and two at once; its end is the run's, whatever the duration says.
#[test]
fn a_replay_begins_exchanges_when_they_were_recorded() {
    let recorded = [0, 5, 700, 700, 1_300].map(|at| (BEGIN + at * MILLI, 0));
    for speed in [1, 2] {
        let table = Timetable::new(recorded.to_vec(), speed as f64).unwrap();
        let mut open = opened(plan(), OpenLoop::replay(table));
        open.load.requests = None;
        open.load.duration = open.load.pace.open().unwrap().duration();
        let ran = run(open, after(MILLI));
        let begun: Vec<u64> = ran.ledger.begun.iter().map(|begun| begun.woke - BEGIN).collect();
        let due = [0, 5, 700, 700, 1_300].map(|at| at * MILLI / speed);
        assert_eq!(begun, due, "at {speed} times the speed");
        assert_eq!(ran.report.ended, Ended::Complete);
        let elapsed = ran.report.elapsed_ns;
        assert!(elapsed >= due[4] && elapsed < due[4] + 10 * MILLI, "{elapsed}");
    }
}

/// Ten due at 100/s, one at a time, each taking 30 ms: the k-th begins 20 ms later than the one
/// before would have it.
#[test]
fn an_exchange_that_waits_for_a_free_slot_keeps_its_due_time() {
    let mut plan = connections(at_rate(100.0, Duration::from_secs(3)), 1);
    plan.load.requests = NonZeroU64::new(10);
    plan.ratio = PlanRatio::only(Family::Ipv6);
    let ran = run(plan, after(30 * MILLI));
    let phases = &ran.tally().ipv6.phases;
    let connect = 100 * MICRO;
    assert_eq!(phases.slip.quantile(1.0), Some(9 * 20 * MILLI + connect));
    assert_eq!(phases.response.quantile(1.0), Some(9 * 20 * MILLI + 30 * MILLI + connect));
    assert_eq!(phases.service.quantile(1.0), Some(30 * MILLI + connect));
    assert_eq!((ran.tally().ipv6.waited, ran.tally().ipv6.late), (9, 0));
    assert_eq!(both(&ran, |tally| tally.unsent + tally.dropped), 0);
}

#[test]
fn drops_exchanges_without_a_free_slot_if_configured() {
    let plan = connections(at_rate(100.0, Duration::from_secs(1)), 2);
    let plan = with(plan, |open| open.overload = Overload::Drop);
    // Each keeps a place for 45 ms: of five that fall due in that time, two can begin.
    let ran = run(plan, after(44 * MILLI));
    let (sent, dropped) = (sent(&ran), both(&ran, |tally| tally.dropped));
    assert_eq!((sent, sent + dropped), (40, 100));
    assert_eq!(both(&ran, |tally| tally.waited + tally.unsent), 0);
    let slip = ran.tally().iter().map(|(_, tally)| tally.phases.slip.quantile(1.0)).max();
    assert_eq!(slip, Some(Some(0)));
}

#[test]
fn counts_unstarted_exchanges_as_unsent_and_awaits_those_in_flight() {
    let plan = connections(at_rate(100.0, Duration::from_secs(1)), 4);
    let ran = run(plan, Script::of_replies(|_, _| Reply::no_response()));
    // Four at a time that last until their timeout, 5 s from their start.
    assert_eq!((sent(&ran), both(&ran, |tally| tally.unsent)), (4, 96));
    assert_eq!(ran.report.ended, Ended::Complete);
    assert_eq!(ran.report.elapsed_ns, 30 * MILLI + 5 * SECOND);
    let unsent = Family::BOTH.map(|family| ran.tally()[family].unsent);
    assert_eq!(unsent, [48, 48]);
}

#[test]
fn the_ratio_of_a_constant_rate_is_exact_over_any_number_of_workers() {
    for (v6, v4, expected) in [(4, 1, 240), (1, 1, 150), (3, 7, 90), (1, 0, 300)] {
        for (threads, warmup) in [(1, 0), (2, 0), (3, 70), (7, 33)] {
            for requests in [None, NonZeroU64::new(300)] {
                let duration = Duration::from_secs(if requests.is_none() { 3 } else { 60 });
                let mut plan = connections(at_rate(100.0, duration), 14);
                plan.ratio = PlanRatio::new(v6, v4).unwrap();
                plan.load.threads = NonZeroU32::new(threads).unwrap();
                plan.load.requests = requests;
                plan.load.warmup = Duration::from_millis(warmup);
                let ran = |worker| {
                    let ran = Sim { worker, ..Sim::new(plan.clone()) }.run(after(MILLI));
                    balance::check(&ran);
                    ran
                };
                let all: Vec<_> = (0..threads).map(ran).collect();
                let of = |family| all.iter().map(|ran| ran.tally()[family].sent).sum::<u64>();
                let found = (of(Family::Ipv6), of(Family::Ipv4));
                assert_eq!(found, (expected, 300 - expected), "{v6}:{v4} over {threads}");
            }
        }
    }
}

#[test]
fn requests_of_all_workers_together_are_evenly_spaced() {
    let mut plan = connections(at_rate(100.0, Duration::from_secs(2)), 6);
    plan.load.threads = NonZeroU32::new(3).unwrap();
    let begun = |worker| {
        let ran = Sim { worker, ..Sim::new(plan.clone()) }.run(after(MILLI));
        ran.ledger.begun.iter().map(|begun| begun.woke - BEGIN).collect::<Vec<_>>()
    };
    let mut all: Vec<u64> = (0..3).flat_map(begun).collect();
    all.sort_unstable();
    assert_eq!(all, (0..200).map(|k| k * 10 * MILLI).collect::<Vec<_>>());
}

#[test]
fn ramps_and_steps_follow_their_rates_and_then_end() {
    let ten = Some(Duration::from_secs(10));
    let ramp = vec![RateStage { from: RequestRate::ZERO, to: rate(100.0), duration: ten }];
    let steps = vec![
        RateStage::level(rate(10.0), Duration::from_secs(4)),
        RateStage::level(rate(0.0), Duration::from_secs(2)),
        RateStage::level(rate(100.0), Duration::from_secs(4)),
    ];
    for (stages, expected) in [
        (ramp, [5, 15, 25, 35, 45, 55, 65, 75, 85, 95]),
        (steps, [10, 10, 10, 10, 0, 0, 100, 100, 100, 100]),
    ] {
        let mut plan = opened(plan(), OpenLoop::new(stages).unwrap());
        (plan.load.requests, plan.load.duration) = (None, ten);
        let ran = run(plan, after(MILLI));
        let of = |slice: &sixmark_tally::tally::Slice| {
            slice.families.iter().map(|(_, family)| family.sent).sum::<u64>()
        };
        let seconds: Vec<_> = ran.slices.iter().map(of).collect();
        let near = seconds.iter().zip(expected).all(|(&found, due)| found.abs_diff(due) <= 1);
        assert!(near && seconds[10..].iter().all(|&more| more == 0), "{seconds:?}");
    }
}

#[test]
fn poisson_arrivals_repeat_for_a_seed_and_match_rate_and_ratio() {
    let ran = |seed| {
        let mut plan = connections(at_rate(200.0, Duration::from_secs(50)), 100);
        plan.seed = seed;
        run(with(plan, |open| open.arrivals = ArrivalProcess::Poisson), after(MILLI))
    };
    let begun = |ran: &Ran| ran.ledger.begun.iter().map(|begun| begun.woke).collect::<Vec<_>>();
    let mut apart = Vec::new();
    for seed in 0..5 {
        let (one, two) = (ran(seed), ran(seed));
        assert_eq!(begun(&one), begun(&two));
        assert_ne!(begun(&one), begun(&ran(seed + 100)));
        // Five standard deviations.
        assert!(sent(&one).abs_diff(10_000) <= 500, "{}", sent(&one));
        // Each family is drawn: not exact, but within five standard deviations.
        let [v6, v4] = Family::BOTH.map(|family| one.tally()[family].sent);
        assert!(v6.abs_diff(v4) <= 500, "{v6} : {v4}");
        apart.push(v6.abs_diff(v4));
    }
    assert!(apart.iter().any(|&apart| apart > 1), "{apart:?}");
}

#[test]
fn counted_poisson_arrivals_have_the_exact_ratio_for_any_worker_count() {
    for (v6, v4, expected) in [(4, 1, 240), (1, 1, 150), (3, 7, 90), (1, 0, 300)] {
        for (threads, warmup) in [(1, 0), (3, 70), (7, 33)] {
            let mut plan = connections(at_rate(100.0, Duration::from_secs(60)), 70);
            plan.ratio = PlanRatio::new(v6, v4).unwrap();
            plan.load.threads = NonZeroU32::new(threads).unwrap();
            plan.load.requests = NonZeroU64::new(300);
            plan.load.warmup = Duration::from_millis(warmup);
            let plan = with(plan, |open| open.arrivals = ArrivalProcess::Poisson);
            let ran = |worker| {
                let ran = Sim { worker, ..Sim::new(plan.clone()) }.run(after(MILLI));
                balance::check(&ran);
                assert_eq!(ran.report.ended, Ended::Complete);
                ran
            };
            let all: Vec<_> = (0..threads).map(ran).collect();
            let of = |family| all.iter().map(|ran| ran.tally()[family].sent).sum::<u64>();
            let found = (of(Family::Ipv6), of(Family::Ipv4));
            assert_eq!(found, (expected, 300 - expected), "{v6}:{v4} over {threads}");
            // The rate predicts 300 in 3 s; nothing is left for later.
            let ended = all.iter().map(|ran| ran.report.elapsed_ns).max();
            assert!(ended < Some(3 * SECOND + SECOND / 10), "{ended:?}");
        }
    }
}

#[test]
fn the_warm_up_continues_into_the_measurement_without_a_gap() {
    let mut plan = at_rate(100.0, Duration::from_secs(2));
    plan.load.warmup = Duration::from_millis(505);
    let ran = run(plan, after(MILLI));
    assert_eq!(sent(&ran), 200);
    let begun: Vec<u64> = ran.ledger.begun.iter().map(|begun| begun.woke - BEGIN).collect();
    assert_eq!(begun, (0..251).map(|k| k * 10 * MILLI).collect::<Vec<_>>());
}

#[test]
fn does_not_count_late_exchanges_that_were_due_in_the_warm_up() {
    let mut plan = connections(at_rate(100.0, Duration::from_secs(1)), 1);
    plan.load.warmup = Duration::from_secs(1);
    plan.ratio = PlanRatio::only(Family::Ipv4);
    // 18 ms each: of the hundred of the warm-up, half are left when it ends.
    let ran = run(plan, after(18 * MILLI));
    let tally = &ran.tally().ipv4;
    assert_eq!(tally.sent + tally.unsent, 100);
    assert!(ran.ledger.begun.len() as u64 > tally.sent + 90, "{}", tally.sent);
    assert_eq!(tally.waited, tally.sent);
}

#[test]
fn spinning_looks_at_the_clock_and_changes_nothing_else() {
    let plan = at_rate(1_000.0, Duration::from_millis(200));
    let sleeping = run(plan.clone(), after(MILLI));
    let spinning = with(plan, |open| open.spin = Duration::from_micros(50));
    // Each look costs time, or a simulated clock would stand still.
    let sim = Sim { cost: MICRO, most_waits: 100_000, ..Sim::new(spinning) };
    let ran = sim.run(after(MILLI));
    balance::check(&ran);
    assert_eq!((sent(&ran), sent(&sleeping)), (200, 200));
    assert!(ran.ledger.waits > 20 * sleeping.ledger.waits / 4, "{}", ran.ledger.waits);
    for (_, tally) in ran.tally().iter() {
        assert!(tally.phases.slip.quantile(0.99).unwrap() <= 20 * MICRO);
    }
}

/// Each call costs a fifth of a millisecond: too much for ten thousand exchanges a second.
#[test]
fn an_overloaded_worker_counts_exchanges_as_late_and_not_as_waiting() {
    let plan = connections(at_rate(10_000.0, Duration::from_millis(200)), 1_000);
    let ran = Sim { cost: 200 * MICRO, ..Sim::new(plan) }.run(after(MILLI));
    balance::check(&ran);
    let (late, waited) = (both(&ran, |tally| tally.late), both(&ran, |tally| tally.waited));
    assert!(late > sent(&ran) / 2 && waited == 0, "{late} late, {waited} waited");
    // The end is not put off: what is left is unsent.
    assert_eq!(sent(&ran) + both(&ran, |tally| tally.unsent), 2_000);
    assert!(both(&ran, |tally| tally.unsent) > 1_000);
}

#[test]
fn connects_to_a_refusing_peer_at_the_given_rate_only() {
    let dial =
        |way: &sixmark_sys::driver::SocketRoute, _: &mut Random| match Family::of(way.to.ip()) {
            Family::Ipv6 => super::script::Dial::Fails { after: 0, errno: ECONNREFUSED },
            Family::Ipv4 => super::script::Dial::connects(way, MICRO),
        };
    let sim = Sim { most_waits: 20_000, ..Sim::new(at_rate(1_000.0, Duration::from_secs(2))) };
    let ran = sim.run(Script::new(dial, |request, _| Reply::ok(request)));
    balance::check(&ran);
    assert_eq!((ran.tally().ipv6.sent, ran.tally().ipv4.completed()), (1_000, 1_000));
}

#[test]
fn an_open_loop_stopped_at_any_moment_accounts_for_everything_due() {
    each_seed(300, |seed| {
        let mut random = Random::new(seed);
        let plan = connections(at_rate(1_000.0, Duration::from_secs(3)), 1 + seed as u32 % 3);
        let stop_at = BEGIN + random.below(100 * MILLI);
        let ran =
            Sim { seed, stop_at, cost: 300, ..Sim::new(plan) }.run(after(random.below(5 * MILLI)));
        balance::check(&ran);
        assert_eq!(ran.report.ended, Ended::Interrupted);
        let due = sent(&ran) + both(&ran, |tally| tally.unsent);
        let stopped = ran.slices.last().map_or(0, |slice| slice.length_ns);
        assert!(due.abs_diff(stopped / MILLI + 1) <= 1, "{due} due in {stopped} ns");
    });
}
