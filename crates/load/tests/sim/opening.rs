//! Connections opened before the load begins.

use std::num::{NonZeroU32, NonZeroU64};

use libc::ECONNREFUSED;
use sixmark_document::provenance::Ended;
use sixmark_plan::plan::Plan;
use sixmark_plan::plan::ratio::PlanRatio;
use sixmark_units::family::Family;

use super::harness::{BEGIN, Ran, Sim, plan};
use super::script::{Dial, MICRO, Reply, SECOND, Script};

/// Forty requests over eight connections that are opened first.
fn preopened() -> Plan {
    let mut plan = plan();
    plan.connection.preopen = true;
    plan.load.connections = NonZeroU32::new(8).unwrap();
    plan.connection.most_open = plan.load.connections;
    plan.load.requests = NonZeroU64::new(40);
    plan
}

fn run(script: Script) -> Ran {
    Sim::new(preopened()).run(script)
}

/// When the load began, an exchange being what begins without a connect.
fn begun_at(ran: &Ran) -> u64 {
    let connects = ran.ledger.connections.len();
    ran.ledger.begun.get(connects).map_or(u64::MAX, |begun| begun.woke)
}

fn answers() -> impl FnMut(&super::script::Request, &mut super::random::Random) -> Reply {
    |request, _| Reply::ok(request)
}

#[test]
fn opens_all_connections_before_the_first_request_and_uses_each_equally() {
    for family in Family::BOTH {
        let plan = Plan { ratio: PlanRatio::only(family), ..preopened() };
        let ran = Sim::new(plan).run(Script::of_replies(answers()));
        let established = || ran.ledger.connections.iter().filter_map(|page| page.established);
        assert_eq!(established().count(), 8);
        assert!(established().all(|at| at <= begun_at(&ran)));
        let carried = ran.ledger.established(family, 0).map(|page| page.requests.len());
        assert_eq!(carried.collect::<Vec<_>>(), [5; 8], "{family}");
        let tally = &ran.tally()[family];
        assert_eq!((tally.sent, tally.completed()), (40, 40), "{family}");
        let connections = tally.connections;
        assert_eq!((connections.opened, connections.closed, connections.unopened), (8, 8, 0));
        assert_eq!(tally.phases.connect.count(), 8);
    }
}

#[test]
fn divides_preopened_connections_by_the_ratio() {
    let ran = run(Script::of_replies(answers()));
    for family in Family::BOTH {
        let carried: Vec<_> =
            ran.ledger.established(family, 0).map(|page| page.requests.len()).collect();
        assert_eq!((carried.len(), carried.iter().sum::<usize>()), (4, 20), "{family}");
    }
    assert_eq!(ran.ledger.most_open, 8);
}

#[test]
fn counts_unopened_connections_without_failing_requests() {
    let mut dialled = 0;
    let dial = move |way: &_, _: &mut _| {
        dialled += 1;
        match dialled {
            1..=3 => Dial::Fails { after: MICRO, errno: ECONNREFUSED },
            _ => Dial::connects(way, MICRO),
        }
    };
    let ran = run(Script::new(dial, answers()));
    let unopened: u64 = ran.tally().iter().map(|(_, tally)| tally.connections.unopened).sum();
    assert_eq!(unopened, 3);
    for (family, tally) in ran.tally().iter() {
        assert_eq!((tally.sent, tally.completed()), (20, 20), "{family}");
    }
}

#[test]
fn a_connect_that_is_never_answered_ends_at_the_timeout() {
    let mut dialled = 0;
    let dial = move |way: &_, _: &mut _| {
        dialled += 1;
        if dialled == 1 { Dial::Silent } else { Dial::connects(way, MICRO) }
    };
    let ran = run(Script::new(dial, answers()));
    let unopened: u64 = ran.tally().iter().map(|(_, tally)| tally.connections.unopened).sum();
    assert_eq!(unopened, 1);
    assert!(begun_at(&ran) >= BEGIN + 5 * SECOND, "the load began before the timeout");
    assert_eq!(ran.report.ended, Ended::Complete);
}

#[test]
fn gives_up_the_run_if_no_connection_can_be_opened() {
    let ran = run(Script::of_failures(ECONNREFUSED, MICRO));
    assert_eq!(ran.report.ended, Ended::Hopeless);
    for (family, tally) in ran.tally().iter() {
        assert_eq!((tally.connections.unopened, tally.connections.opened), (4, 0), "{family}");
        assert_eq!(tally.sent, tally.ended(), "{family}");
    }
}

#[test]
fn a_run_stopped_while_opening_connections_sends_nothing() {
    let mut sim = Sim::new(preopened());
    sim.stop_at = BEGIN + 10 * MICRO;
    let ran = sim.run(Script::new(|_, _| Dial::Silent, answers()));
    assert_eq!(ran.report.ended, Ended::Interrupted);
    assert!(ran.tally().iter().all(|(_, tally)| tally.sent == 0));
}

/// A server that takes the first few connections and then no more, as one without open files does.
fn takes(
    few: usize,
) -> impl FnMut(&sixmark_sys::driver::SocketRoute, &mut super::random::Random) -> Dial {
    let mut dialled = 0;
    move |way, _| {
        dialled += 1;
        if dialled > few { Dial::Silent } else { Dial::connects(way, MICRO) }
    }
}

#[test]
fn starts_the_load_with_the_connections_that_the_server_accepts() {
    let mut plan = preopened();
    // Far more than are tried at a time.
    plan.load.connections = NonZeroU32::new(1_000).unwrap();
    plan.connection.most_open = plan.load.connections;
    plan.load.timeout = std::time::Duration::from_secs(60);
    let ran = Sim::new(plan).run(Script::new(takes(100), answers()));
    let of = |count: fn(&sixmark_tally::tally::Connections) -> u64| {
        ran.tally().iter().map(|(_, tally)| count(&tally.connections)).sum::<u64>()
    };
    assert_eq!((of(|all| all.opened), of(|all| all.unopened)), (100, 900));
    assert_eq!(ran.report.ended, Ended::Complete);
    for (family, tally) in ran.tally().iter() {
        assert_eq!((tally.sent, tally.completed()), (20, 20), "{family}");
        // From the first of them to the end of a short load.
        let longest = tally.phases.lifetime.quantile(1.0).unwrap();
        assert!((10 * SECOND..12 * SECOND).contains(&longest), "{family}: {longest}");
    }
}

#[test]
fn a_silent_address_does_not_block_connecting_to_others() {
    let of = |ran: &Ran, family: Family| {
        let connections = &ran.tally()[family].connections;
        (connections.opened, connections.unopened)
    };
    // With a timeout that is shorter than what is waited for those under way, and with a longer one.
    for (dead, ipv6, ipv4) in [
        ("fd00::1", (250, 250), (500, 0)),
        ("fd00::2", (250, 250), (500, 0)),
        ("192.0.2.1", (500, 0), (0, 500)),
    ] {
        for timeout in [3, 60] {
            let mut plan = preopened();
            plan.targets[0].addresses.push("[fd00::2]:80".parse().unwrap());
            plan.load.connections = NonZeroU32::new(1_000).unwrap();
            plan.connection.most_open = plan.load.connections;
            plan.load.timeout = std::time::Duration::from_secs(timeout);
            let dead: std::net::IpAddr = dead.parse().unwrap();
            let dial = move |way: &sixmark_sys::driver::SocketRoute, _: &mut _| {
                if way.to.ip() == dead { Dial::Silent } else { Dial::connects(way, MICRO) }
            };
            let ran = Sim::new(plan).run(Script::new(dial, answers()));
            assert_eq!((of(&ran, Family::Ipv6), of(&ran, Family::Ipv4)), (ipv6, ipv4), "{dead}");
            let asked = ran.ledger.connections.iter().flat_map(|page| &page.requests);
            let first = asked.map(|asked| asked.begun).min().unwrap();
            assert!(first < BEGIN + (timeout.min(10) + 1) * SECOND, "{dead}: {first}");
        }
    }
}
