//! How many exchanges there are, with which family, and which of them count.

use std::num::{NonZeroU32, NonZeroU64};
use std::time::Duration;

use libc::ECONNREFUSED;
use sixmark_document::provenance::Ended;
use sixmark_plan::plan::ratio::PlanRatio;
use sixmark_units::family::Family;

use super::balance;
use super::harness::{BEGIN, Ran, Sim, lasting, plan, run};
use super::random::{Random, each_seed};
use super::script::{Dial, MICRO, MILLI, Reply, SECOND, Script};

fn sent(ran: &Ran) -> u64 {
    ran.tally().iter().map(|(_, tally)| tally.sent).sum()
}

/// Answers after up to a millisecond.
fn uneven() -> Script {
    let dial = |way: &_, random: &mut Random| Dial::connects(way, random.below(MILLI));
    Script::new(dial, |request, random| {
        let mut reply = Reply::ok(request);
        reply.steps[0].0 = random.below(MILLI);
        reply
    })
}

#[test]
fn servers_see_as_many_requests_as_were_asked_for() {
    each_seed(200, |seed| {
        let mut plan = plan();
        let requests = 1 + seed;
        plan.load.requests = NonZeroU64::new(requests);
        plan.load.connections = NonZeroU32::new(1 + seed as u32 % 20).unwrap();
        let ran = Sim { seed, ..Sim::new(plan) }.run(uneven());
        balance::check(&ran);
        let seen: usize = ran.ledger.connections.iter().map(|page| page.requests.len()).sum();
        assert_eq!((seen as u64, sent(&ran)), (requests, requests));
    });
}

#[test]
fn the_ratio_is_exact_over_any_number_of_workers() {
    for (v6, v4, expected) in [(4, 1, 240), (1, 1, 150), (1, 4, 60), (3, 7, 90), (1, 0, 300)] {
        for threads in [1, 2, 3, 7] {
            let mut plan = plan();
            plan.ratio = PlanRatio::new(v6, v4).unwrap();
            plan.load.requests = NonZeroU64::new(300);
            plan.load.connections = NonZeroU32::new(9).unwrap();
            plan.load.threads = NonZeroU32::new(threads).unwrap();
            let ran = |worker| {
                let ran = Sim { worker, ..Sim::new(plan.clone()) }.run(uneven());
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

#[test]
fn after_every_period_the_ratio_is_exact() {
    each_seed(200, |seed| {
        let mut random = Random::new(seed);
        let (v6, v4) = (random.below(9) as u32, 1 + random.below(9) as u32);
        let mut plan = plan();
        plan.ratio = PlanRatio::new(v6, v4).unwrap();
        plan.load.connections = NonZeroU32::new(1 + random.below(8) as u32).unwrap();
        // Enough for either family to have all: where there are fewer, others may go first.
        plan.connection.most_open = NonZeroU32::new(16).unwrap();
        let ran = Sim { seed, ..Sim::new(plan) }.run(uneven());
        let mut of_v6 = 0u32;
        for (family, k) in ran.ledger.families(0).zip(1u32..) {
            of_v6 += u32::from(family == Family::Ipv6);
            if k % (v6 + v4) == 0 {
                assert_eq!(of_v6, k / (v6 + v4) * v6, "of {k} at {v6}:{v4}");
            }
        }
    });
}

#[test]
fn a_run_stopped_at_any_moment_accounts_for_everything_it_began() {
    each_seed(1_000, |seed| {
        let mut plan = lasting(Duration::from_secs(3));
        plan.load.warmup = Duration::from_millis(seed % 3 * 10);
        let stop_at = BEGIN + Random::new(seed).below(50 * MILLI);
        let ran = Sim { seed, stop_at, ..Sim::new(plan) }.run(uneven());
        balance::check(&ran);
        assert_eq!(ran.report.ended, Ended::Interrupted);
    });
}

#[test]
fn a_duration_ends_the_run_on_time_and_cuts_off_what_is_in_flight() {
    let slow = |_: &_, _: &mut _| Reply::no_response();
    let ran = run(lasting(Duration::from_millis(1_500)), Script::of_replies(slow));
    assert_eq!(ran.report.ended, Ended::Complete);
    assert_eq!(ran.report.elapsed_ns, 1_500 * MILLI);
    assert_eq!(sent(&ran), 4);
}

#[test]
fn every_second_has_its_slice() {
    let steady = Script::of_replies(|request, _| {
        let mut reply = Reply::ok(request);
        reply.steps[0].0 = 10 * MILLI;
        reply
    });
    let ran = run(lasting(Duration::from_millis(2_500)), steady);
    let lengths: Vec<_> = ran.slices.iter().map(|slice| slice.length_ns).collect();
    assert_eq!(lengths, [SECOND, SECOND, SECOND / 2]);
}

#[test]
fn a_warm_up_is_not_counted() {
    let mut plan = plan();
    plan.load.warmup = Duration::from_secs(1);
    let ran = run(plan, uneven());
    assert_eq!(sent(&ran), 100);
    let seen = ran.ledger.begun.len() as u64;
    assert!(seen > 1_000, "{seen}: the warm-up is load too");
    // All connections are from the warm-up.
    for (family, tally) in ran.tally().iter() {
        assert_eq!(tally.connections.opened, 0, "{family}");
        assert_eq!(tally.sent, 50, "{family}");
    }
}

#[test]
fn a_worker_that_never_gets_a_connection_gives_up_without_spinning() {
    for after in [0, 30 * MICRO, 20 * MILLI] {
        let sim = Sim { most_waits: 200, ..Sim::new(lasting(Duration::from_secs(60))) };
        let ran = sim.run(Script::of_failures(ECONNREFUSED, after));
        balance::check(&ran);
        assert_eq!(ran.report.ended, Ended::Hopeless);
        assert!((16..20).contains(&sent(&ran)), "{}", sent(&ran));
    }
}

#[test]
fn a_refusing_family_pauses_between_connects_and_keeps_the_ratio() {
    for refusing in Family::BOTH {
        let dial = move |way: &sixmark_sys::driver::SocketRoute, _: &mut Random| {
            if Family::of(way.to.ip()) == refusing {
                Dial::Fails { after: 0, errno: ECONNREFUSED }
            } else {
                Dial::connects(way, MICRO)
            }
        };
        let sim = Sim { most_waits: 5_000, ..Sim::new(lasting(Duration::from_secs(10))) };
        let ran = sim.run(Script::new(dial, |request, _| Reply::ok(request)));
        balance::check(&ran);
        assert_eq!(ran.report.ended, Ended::Complete);
        // Four places that rest for 50 ms each time.
        let (refused, other) = (ran.tally()[refusing].sent, ran.tally()[refusing.other()].sent);
        assert!((700..=804).contains(&refused), "{refusing}: {refused}");
        assert!(refused.abs_diff(other) <= 1, "{refusing}: {refused} and {other}");
    }
}
