//! How many connections there are, and what is made of each.

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::time::Duration;

use sixmark_core::family::{Family, PerFamily};
use sixmark_core::plan::Close;
use sixmark_sys::driver::{self, Way};

use super::balance;
use super::harness::{Ran, Sim, at_rate, lasting, plan, run};
use super::random::each_seed;
use super::script::{Dial, MICRO, MILLI, Reply, Response, SECOND, Script, Step};

fn well() -> Script {
    Script::of_replies(|request, _| Reply::ok(request))
}

/// How many requests each connection to `family` carried.
fn carried(ran: &Ran, family: Family) -> Vec<usize> {
    let counts = ran.ledger.established(family, 0).map(|page| page.requests.len());
    counts.collect()
}

#[test]
fn connections_that_may_be_kept_are_used_again() {
    let ran = run(plan(), well());
    for family in Family::BOTH {
        let carried = carried(&ran, family);
        assert_eq!(carried.iter().sum::<usize>(), 50, "{family}");
        assert!(carried.len() <= 4, "{family}: {carried:?}");
    }
    assert_eq!(ran.ledger.most_in_flight, 4);
}

#[test]
fn without_keep_alive_each_request_has_its_connection_and_says_so() {
    let mut plan = plan();
    plan.connection.keep_alive = false;
    let ran = run(plan, well());
    for family in Family::BOTH {
        assert_eq!(carried(&ran, family), [1; 50], "{family}");
        assert!(ran.ledger.requests(family, 0).all(|asked| asked.last));
    }
    assert_eq!((ran.ledger.most_in_flight, ran.ledger.most_open), (4, 4));
}

#[test]
fn a_connection_carries_as_many_requests_as_it_may_and_the_last_says_so() {
    for most in [1, 2, 7] {
        let mut plan = plan();
        plan.connection.requests = NonZeroU32::new(most);
        plan.load.connections = NonZeroU32::MIN;
        let ran = run(plan, well());
        for page in &ran.ledger.connections {
            assert!(page.requests.len() <= most as usize);
            for (asked, number) in page.requests.iter().zip(1..) {
                assert_eq!(asked.last, number == most, "{number} of {most}");
            }
        }
        let needed = 50usize.div_ceil(most as usize);
        for family in Family::BOTH {
            assert_eq!(carried(&ran, family).len(), needed, "{family}");
        }
    }
}

#[test]
fn connections_are_closed_as_the_plan_says() {
    for (close, expected) in
        [(Close::Fin, driver::Close::Orderly), (Close::Rst, driver::Close::Reset)]
    {
        let mut plan = plan();
        plan.connection.close = close;
        plan.connection.requests = NonZeroU32::new(3);
        let ran = run(plan, well());
        assert!(ran.ledger.connections.iter().all(|page| page.closed == Some(expected)));
    }
}

#[test]
fn a_server_that_lets_idle_connections_go_makes_nothing_fail() {
    // Long before the connection could be used again.
    let script = Script::of_replies(|request, _| Reply::ok(request).then(MICRO, Step::Fin));
    let ran = run(at_rate(100.0, Duration::from_secs(1)), script);
    for (family, tally) in ran.tally().iter() {
        assert_eq!(tally.completed(), 50, "{family}");
        assert_eq!(carried(&ran, family), [1; 50], "{family}");
    }
}

#[test]
fn bytes_that_nobody_asked_for_end_a_connection_and_are_counted() {
    let late = Script::of_replies(|request, _| {
        Reply::ok(request).then(MICRO, Step::Bytes(b"HTTP/1.1 408 \r\n\r\n".to_vec()))
    });
    let at_once = Script::of_replies(|_, _| {
        let two = [Response::default().bytes(), b"more".to_vec()].concat();
        Reply::of(MICRO, Step::LastBytes(two))
    });
    for script in [late, at_once] {
        let ran = run(at_rate(11.0, Duration::from_secs(1)), script);
        let unsolicited = both(ran.tally(), |tally| tally.connections.unsolicited);
        assert_eq!(both(ran.tally(), |tally| tally.completed()), 11);
        assert_eq!(unsolicited, 11);
    }
}

#[test]
fn never_are_there_more_connections_than_the_plan_allows() {
    // The world itself checks it whenever an exchange begins.
    each_seed(100, |seed| {
        let mut plan = lasting(Duration::from_millis(300));
        plan.load.connections = NonZeroU32::new(1 + seed as u32 % 5).unwrap();
        plan.targets[0].addresses.push("[fd00::2]:80".parse().unwrap());
        plan.targets[0].addresses.push("192.0.2.2:80".parse().unwrap());
        plan.connection.most_open = plan.load.connections.saturating_add(seed as u32 % 4);
        let places = plan.load.connections.get() as usize;
        let most_open = plan.connection.most_open.get() as usize;
        let dial = |way: &Way, random: &mut super::random::Random| {
            Dial::connects(way, random.below(20 * MILLI))
        };
        let ran = Sim { seed, ..Sim::new(plan) }.run(Script::new(dial, |r, _| Reply::ok(r)));
        balance::check(&ran);
        assert_eq!(ran.ledger.most_in_flight, places);
        assert!(ran.ledger.most_open <= most_open);
    });
}

#[test]
fn connections_from_the_warm_up_are_not_counted_when_they_close() {
    let mut plan = lasting(Duration::from_secs(1));
    plan.load.warmup = Duration::from_secs(1);
    plan.connection.requests = NonZeroU32::new(100);
    let ran = run(plan, well());
    for (family, tally) in ran.tally().iter() {
        let all = ran.ledger.established(family, 0).count() as u64;
        assert!(tally.connections.opened > 0 && tally.connections.opened < all, "{family}");
        assert_eq!(tally.connections.opened, tally.connections.closed, "{family}");
    }
}

/// Whatever is dialled, `peer` answers.
fn answers(peer: &str) -> Script {
    let peer: IpAddr = peer.parse().unwrap();
    let dial = move |_: &Way, _: &mut _| Dial::Connects { after: MILLI, peer };
    Script::new(dial, |request, _| Reply::ok(request))
}

#[test]
fn an_exchange_counts_for_the_family_of_the_peer_that_answers() {
    for (peer, family) in
        [("::ffff:192.0.2.1", Family::Ipv4), ("192.0.2.1", Family::Ipv4), ("fd00::1", Family::Ipv6)]
    {
        for keep_alive in [true, false] {
            let mut plan = plan();
            plan.connection.keep_alive = keep_alive;
            let ran = run(plan, answers(peer));
            assert_eq!(ran.tally()[family].completed(), 100, "{peer}");
            assert_eq!(ran.tally()[family.other()].sent, 0, "{peer}");
        }
    }
}

#[test]
fn a_peer_of_the_other_family_is_counted_right_across_seconds_and_the_warm_up() {
    for warmup in [0, 1_500] {
        let mut plan = lasting(Duration::from_secs(2));
        plan.load.warmup = Duration::from_millis(warmup);
        plan.connection.keep_alive = warmup > 0;
        let peer: IpAddr = "192.0.2.1".parse().unwrap();
        let dial = move |_: &Way, _: &mut _| Dial::Connects { after: SECOND * 3 / 7, peer };
        let ran = Sim::new(plan).run(Script::new(dial, |request, _| Reply::ok(request)));
        balance::check_tally(&ran);
        let ipv4 = &ran.tally()[Family::Ipv4];
        assert!(ipv4.completed() > 0);
        // Before a connect ends its exchange counts as the endpoint's, and a second that is over by
        // then keeps saying so: only both families together are right in every slice.
        let of_slices: u64 = ran.slices.iter().map(|s| both(&s.families, |f| f.sent)).sum();
        assert_eq!(of_slices, both(ran.tally(), |tally| tally.sent));
    }
}

fn both<T>(families: &PerFamily<T>, count: impl Fn(&T) -> u64) -> u64 {
    families.iter().map(|(_, counts)| count(counts)).sum()
}
