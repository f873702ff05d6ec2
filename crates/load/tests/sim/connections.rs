//! How many connections there are, and what is made of each.

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::time::Duration;

use sixmark_plan::plan::Close;
use sixmark_plan::plan::ratio::PlanRatio;
use sixmark_sys::driver::{self, SocketRoute};
use sixmark_units::family::{Family, PerFamily};

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
fn reuses_connections_with_keep_alive() {
    let ran = run(plan(), well());
    for family in Family::BOTH {
        let carried = carried(&ran, family);
        assert_eq!(carried.iter().sum::<usize>(), 50, "{family}");
        assert!(carried.len() <= 4, "{family}: {carried:?}");
    }
    assert_eq!(ran.ledger.most_in_flight, 4);
}

#[test]
fn each_request_has_its_own_connection_without_keep_alive() {
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
fn limits_requests_per_connection_and_marks_the_last_one() {
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
fn closes_connections_by_fin_or_rst_as_configured() {
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
fn a_server_that_closes_idle_connections_causes_no_failures() {
    // Long before the connection could be used again.
    let script = Script::of_replies(|request, _| Reply::ok(request).then(MICRO, Step::Fin));
    let ran = run(at_rate(100.0, Duration::from_secs(1)), script);
    for (family, tally) in ran.tally().iter() {
        assert_eq!(tally.completed(), 50, "{family}");
        assert_eq!(carried(&ran, family), [1; 50], "{family}");
    }
}

#[test]
fn counts_unsolicited_bytes_and_closes_the_connection() {
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
fn never_opens_more_connections_than_the_plan_allows() {
    // The world itself checks it whenever an exchange begins.
    each_seed(100, |seed| {
        let mut plan = lasting(Duration::from_millis(300));
        plan.load.connections = NonZeroU32::new(1 + seed as u32 % 5).unwrap();
        plan.targets[0].addresses.push("[fd00::2]:80".parse().unwrap());
        plan.targets[0].addresses.push("192.0.2.2:80".parse().unwrap());
        plan.connection.most_open = plan.load.connections.saturating_add(seed as u32 % 4);
        let places = plan.load.connections.get() as usize;
        let most_open = plan.connection.most_open.get() as usize;
        let dial = |way: &SocketRoute, random: &mut super::random::Random| {
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
    let dial = move |_: &SocketRoute, _: &mut _| Dial::Connects { after: MILLI, peer };
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
fn slices_add_up_although_the_peer_is_of_the_other_family() {
    for warmup in [0, 1_500] {
        let mut plan = lasting(Duration::from_secs(2));
        plan.load.warmup = Duration::from_millis(warmup);
        plan.connection.keep_alive = warmup > 0;
        let peer: IpAddr = "192.0.2.1".parse().unwrap();
        let dial = move |_: &SocketRoute, _: &mut _| Dial::Connects { after: SECOND * 3 / 7, peer };
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

/// A plan with no more connections than are to be used at once.
fn capped(connections: u32, ratio: (u32, u32)) -> sixmark_plan::plan::Plan {
    let mut plan = lasting(Duration::from_secs(2));
    plan.load.connections = NonZeroU32::new(connections).unwrap();
    plan.connection.most_open = plan.load.connections;
    plan.ratio = PlanRatio::new(ratio.0, ratio.1).unwrap();
    plan
}

/// Answers each family after this long, give or take half of it.
fn taking(nanos: PerFamily<u64>) -> Script {
    Script::of_replies(move |request, random| {
        let mut reply = Reply::ok(request);
        let mean = nanos[request.family];
        reply.steps[0].0 = mean / 2 + random.below(mean);
        reply
    })
}

const EVEN: PerFamily<u64> = PerFamily { ipv6: MILLI, ipv4: MILLI };

#[test]
fn keeps_all_connections_busy_at_the_ratio_without_spare_ones() {
    // Of (connections, ratio): which part of them is busy at least. With 99:1 the one of IPv4
    // idles.
    for (connections, ratio, busy) in [
        (10, (1, 1), 0.95),
        (3, (1, 1), 0.93),
        (2, (1, 1), 0.85),
        (1, (1, 1), 0.90),
        (10, (4, 1), 0.95),
        (7, (1, 4), 0.93),
        (10, (99, 1), 0.85),
    ] {
        for seed in 0..3 {
            let plan = capped(connections, ratio);
            let ran = Sim { seed, ..Sim::new(plan) }.run(taking(EVEN));
            balance::check(&ran);
            assert_eq!(ran.ledger.most_open, connections as usize);
            let sent = Family::BOTH.map(|family| ran.tally()[family].sent);
            let all = sent.iter().sum::<u64>();
            let most = f64::from(connections) * 2_000.0;
            assert!(all as f64 >= busy * most, "{connections} at {ratio:?}: {all} of {most}");
            let exact = all as f64 * f64::from(ratio.0) / f64::from(ratio.0 + ratio.1);
            let off = (sent[0] as f64 - exact).abs();
            // Deficits are settled before the time is over.
            assert!(off <= 1.0, "{connections} at {ratio:?}: {sent:?}");
        }
    }
}

#[test]
fn gives_a_slower_family_more_connections_and_as_many_requests() {
    for slower in Family::BOTH {
        let mut nanos = EVEN;
        nanos[slower] *= 3;
        let ran = Sim::new(capped(8, (1, 1))).run(taking(nanos));
        balance::check(&ran);
        let [slow, fast] = [slower, slower.other()].map(|family| &ran.tally()[family]);
        // Six and two of them, 2,000 a second each: with four and four it would be 1,333.
        assert!(slow.completed() > 3_500, "{}", slow.completed());
        assert!(slow.sent.abs_diff(fast.sent) <= 1, "{} {}", slow.sent, fast.sent);
        let ratio = slow.connections.held_ns as f64 / fast.connections.held_ns as f64;
        assert!((2.0..4.5).contains(&ratio), "{ratio}");
        // They change hands now and then, not at each request.
        let displaced = both(ran.tally(), |tally| tally.connections.displaced);
        assert!((1..400).contains(&displaced), "{displaced}");
    }
}

#[test]
fn equal_families_seldom_take_connections_from_each_other() {
    let ran = Sim::new(capped(10, (1, 1))).run(taking(EVEN));
    let displaced = both(ran.tally(), |tally| tally.connections.displaced);
    assert!(displaced < both(ran.tally(), |tally| tally.sent) / 50, "{displaced}");
    // Only near the end, where the order is kept more and more strictly.
    let awaited = both(ran.tally(), |tally| tally.connections.awaited_ns);
    let held = both(ran.tally(), |tally| tally.connections.held_ns);
    assert!(awaited * 100 < held, "{awaited} of {held}");
}

#[test]
fn several_addresses_of_a_family_share_its_connections() {
    for (connections, opened) in [(8, 400), (4, 8_000), (2, 4_000)] {
        let mut plan = capped(connections, (1, 1));
        plan.targets[0].addresses.push("[fd00::2]:80".parse().unwrap());
        plan.targets[0].addresses.push("192.0.2.2:80".parse().unwrap());
        let ran = Sim::new(plan).run(taking(EVEN));
        balance::check(&ran);
        assert_eq!(ran.ledger.most_open, connections as usize);
        let all = both(ran.tally(), |tally| tally.connections.opened);
        assert!(all <= opened, "{connections}: {all}");
    }
}

#[test]
fn an_open_loop_takes_idle_connections_of_the_other_family_or_waits() {
    for connections in [1, 2, 5] {
        let mut plan = capped(connections, (1, 1));
        plan.load.pace = at_rate(400.0 * f64::from(connections), Duration::ZERO).load.pace;
        let ran = Sim::new(plan).run(taking(EVEN));
        balance::check(&ran);
        assert!(ran.ledger.most_open <= connections as usize);
        let sent = Family::BOTH.map(|family| ran.tally()[family].sent);
        assert_eq!(sent, [400 * u64::from(connections); 2]);
        assert_eq!(both(ran.tally(), |tally| tally.late), 0);
    }
}

#[test]
fn taking_an_idle_connection_of_the_other_family_is_not_a_wait() {
    let mut plan = capped(1, (1, 1));
    plan.load.pace = at_rate(20.0, Duration::ZERO).load.pace;
    let ran = Sim::new(plan).run(well());
    balance::check(&ran);
    let counts = |count: fn(&sixmark_tally::tally::FamilyTally) -> u64| both(ran.tally(), count);
    assert!(counts(|tally| tally.connections.displaced) >= 10);
    assert_eq!((counts(|tally| tally.sent), counts(|tally| tally.waited)), (40, 0));
}

#[test]
fn counts_a_wait_if_all_connections_of_the_family_are_busy() {
    // The other family's only connection is idle, and its place is free.
    let mut plan = capped(2, (1, 1));
    plan.load.pace = at_rate(100.0, Duration::ZERO).load.pace;
    let slow = PerFamily { ipv6: 20 * MILLI, ipv4: MILLI };
    let ran = Sim::new(plan).run(taking(slow));
    balance::check(&ran);
    let [slow, fast] = [&ran.tally().ipv6, &ran.tally().ipv4];
    assert!(slow.waited > 20, "{}", slow.waited);
    assert!(slow.connections.awaited_ns > 0 && slow.late + fast.late == 0);
}
