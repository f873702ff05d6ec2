//! How late the worker is woken is measured, and how much of a wait that is.

use sixmark_plan::plan::Plan;
use sixmark_tally::counted::families_of;
use sixmark_tally::wait_sample::OwnDelay;
use sixmark_units::family::Family;

use super::harness::{Ran, Sim, plan};
use super::script::{Dial, MICRO, Reply, Response, Script};

/// What the kernel sees of a wait, by family.
fn true_wait(family: Family) -> u64 {
    match family {
        Family::Ipv6 => 390 * MICRO,
        Family::Ipv4 => 90 * MICRO,
    }
}

fn run_late(plan: Plan, late: u64) -> Ran {
    let dial = |way: &_, _: &mut _| Dial::connects(way, 100 * MICRO);
    let script = Script::new(dial, |request, _| {
        let response = Response { close: request.last, ..Response::default() };
        Reply::timed(&response.bytes(), true_wait(request.family), 0)
    });
    Sim { late, ..Sim::new(plan) }.run(script)
}

/// One exchange at a time, so that no wake-up brings the news of another exchange.
fn alone() -> Plan {
    let mut plan = plan();
    plan.load.connections = std::num::NonZeroU32::MIN;
    plan
}

fn delay_of(ran: &Ran, family: Family) -> Option<OwnDelay> {
    let (families, _) = families_of(&plan(), ran.tally(), 1.0);
    families.of(family).unwrap().wait_delay()
}

#[test]
fn reports_the_delay_of_a_late_wake_up() {
    let late = 230 * MICRO;
    let ran = run_late(alone(), late);
    for (family, tally) in ran.tally().iter() {
        let [kernel, client] = [true_wait(family), true_wait(family) + late];
        let sample = &tally.wait_sample;
        assert_eq!(tally.phases.wait.quantile(1.0), Some(client), "{family}");
        assert_eq!(sample.kernel.quantile(1.0), Some(kernel), "{family}");
        assert_eq!(sample.client.quantile(1.0), Some(client), "{family}");
        assert_eq!((sample.kernel.count(), sample.client.count()), (50, 50), "{family}");
        let OwnDelay { shown_us, delay_us } = delay_of(&ran, family).unwrap();
        assert!((shown_us - client as f64 / 1e3).abs() < 0.001 * shown_us, "{family}: {shown_us}");
        assert!((delay_us - 230.0).abs() < 1.0, "{family}: {delay_us}");
    }
}

#[test]
fn reports_no_delay_of_a_worker_that_wakes_in_time() {
    for late in [0, 5 * MICRO] {
        let ran = run_late(alone(), late);
        for (family, tally) in ran.tally().iter() {
            assert_eq!(tally.wait_sample.kernel.quantile(1.0), Some(true_wait(family)));
            assert_eq!(delay_of(&ran, family), None, "{family}");
        }
    }
}

/// Each family's first 64 connections have timestamps, and one in eight of the others.
#[test]
fn a_sample_of_connections_has_timestamps() {
    let mut plan = alone();
    plan.load.requests = std::num::NonZeroU64::new(4_000);
    plan.connection.keep_alive = false;
    let ran = run_late(plan, 0);
    for (family, tally) in ran.tally().iter() {
        let sampled = tally.wait_sample.client.count();
        assert!((242..=250).contains(&sampled), "{family}: {sampled}");
    }
}
