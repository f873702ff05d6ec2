//! A server that both families share is gone for a while: what fails then is no family's own.

use std::cell::Cell;
use std::num::{NonZeroU32, NonZeroU64};
use std::rc::Rc;
use std::time::Duration;

use libc::{ECONNREFUSED, ECONNRESET};
use sixmark_plan::pace::{ArrivalProcess, OpenLoop, RateStage, RequestRate};
use sixmark_plan::plan::Plan;
use sixmark_plan::plan::ratio::PlanRatio;
use sixmark_sys::driver::SocketRoute;
use sixmark_tally::outcome::Outcome;
use sixmark_units::family::Family;

use super::balance;
use super::harness::{BEGIN, Ran, Sim, lasting, opened};
use super::random::{Random, each_seed};
use super::script::{Dial, MICRO, Reply, Request, SECOND, Script, Step};

/// When the server goes, and when it is back.
const GONE: u64 = BEGIN + 2 * SECOND;
const BACK: u64 = GONE + SECOND;

const RATIOS: [(u32, u32); 4] = [(1, 1), (1, 3), (3, 1), (2, 5)];

/// A server of both families that answers `slow` a tenth later, so that it lags behind the ratio.
/// It is gone for that time: connections break with what is on them, and new ones are refused.
fn outage(slow: Family, [from, until]: [u64; 2]) -> Script {
    let clock = Rc::new(Cell::new(0));
    let time = Rc::clone(&clock);
    let dial = move |way: &SocketRoute, random: &mut Random| match time.get() {
        now if (from..until).contains(&now) => {
            Dial::Fails { after: random.below(50 * MICRO), errno: ECONNREFUSED }
        }
        _ => Dial::connects(way, 30 * MICRO + random.below(30 * MICRO)),
    };
    let reply = move |request: &Request, random: &mut Random| {
        let lag = if request.family == slow { 150 * MICRO } else { 0 };
        let wait = 1_500 * MICRO + lag + random.below(200 * MICRO);
        let gone = from.max(request.at);
        if request.at + wait >= from && request.at < until {
            Reply::of(gone - request.at, Step::Error(ECONNRESET))
        } else {
            let mut reply = Reply::ok(request);
            reply.steps[0].0 = wait;
            reply
        }
    };
    Script { clock, ..Script::new(dial, reply) }
}

/// Eight in flight at this ratio for four and a half seconds.
fn eight((v6, v4): (u32, u32)) -> Plan {
    let mut plan = lasting(Duration::from_millis(4_500));
    plan.ratio = PlanRatio::new(v6, v4).unwrap();
    plan.load.connections = NonZeroU32::new(8).unwrap();
    plan
}

/// As a URL for each family, this one's first.
fn apart(mut plan: Plan, first: Family) -> Plan {
    let whole = plan.targets.remove(0);
    let is_of = |family| move |address: &std::net::SocketAddr| Family::of(address.ip()) == family;
    for family in [first, first.other()] {
        let addresses = whole.addresses.iter().copied().filter(is_of(family)).collect();
        plan.targets.push(sixmark_plan::plan::Target { addresses, ..whole.clone() });
    }
    plan
}

fn ran(plan: &Plan, seed: u64, script: Script) -> Ran {
    let plan = Plan { seed, ..plan.clone() };
    let ran = Sim { seed, ..Sim::new(plan) }.run(script);
    balance::check(&ran);
    ran
}

/// What failed is there at the ratio but for what chance explains: three and a half standard
/// deviations. Returns how much did.
fn check_failures(ran: &Ran, (v6, v4): (u32, u32), of: &str) -> u64 {
    let failed = |family: Family| {
        let failures = ran.tally()[family].failures.iter();
        failures.filter(|(of, _)| of.outcome != Outcome::Abandoned).map(|(_, n)| n).sum::<u64>()
    };
    let [of_v6, of_v4] = Family::BOTH.map(failed);
    let (all, share) = ((of_v6 + of_v4) as f64, f64::from(v6) / f64::from(v6 + v4));
    let chance = 3.5 * (all * share * (1.0 - share)).sqrt();
    let off = of_v6 as f64 - all * share;
    assert!(off.abs() <= chance, "{of}: {of_v6} and {of_v4} at {v6}:{v4}");
    of_v6 + of_v4
}

fn check_ratio(ran: &Ran, (v6, v4): (u32, u32), most: u64) {
    let [of_v6, of_v4] = Family::BOTH.map(|family| ran.tally()[family].sent);
    let off = (of_v6 * u64::from(v4)).abs_diff(of_v4 * u64::from(v6)) / u64::from(v6 + v4);
    assert!(off <= most, "{of_v6} and {of_v4} at {v6}:{v4}");
}

#[test]
fn a_short_outage_fails_both_families_by_the_ratio() {
    for ratio in RATIOS {
        for slow in Family::BOTH {
            each_seed(3, |seed| {
                let ran = ran(&eight(ratio), seed, outage(slow, [GONE, BACK]));
                let failed = check_failures(&ran, ratio, &format!("{slow} is slow"));
                assert!((100..200).contains(&failed), "{failed}");
                // A response less for each connection at most.
                check_ratio(&ran, ratio, 1);
            });
        }
    }
}

#[test]
fn a_short_outage_fails_families_equally_with_a_url_for_each() {
    for first in Family::BOTH {
        let plan = apart(eight((1, 1)), first);
        each_seed(3, |seed| {
            let ran = ran(&plan, seed, outage(first, [GONE, BACK]));
            check_failures(&ran, (1, 1), &format!("{first} comes first"));
            check_ratio(&ran, (1, 1), 1);
        });
    }
}

#[test]
fn an_outage_until_the_end_fails_families_by_the_ratio() {
    for ratio in RATIOS {
        each_seed(3, |seed| {
            // In the last part of the time, when deficits are settled.
            let from = BEGIN + 4 * SECOND;
            let ran = ran(&eight(ratio), seed, outage(Family::Ipv4, [from, u64::MAX]));
            check_failures(&ran, ratio, "to the end");
            // The deficit when it went, which would have to be settled with failures.
            let sent: u64 = ran.tally().iter().map(|(_, tally)| tally.sent).sum();
            check_ratio(&ran, ratio, sent / 64);
        });
    }
}

#[test]
fn a_counted_load_keeps_the_exact_ratio_through_an_outage() {
    for ratio in [(1, 1), (1, 3)] {
        each_seed(3, |seed| {
            let mut plan = eight(ratio);
            plan.load.duration = None;
            plan.load.requests = NonZeroU64::new(14_000);
            let ran = ran(&plan, seed, outage(Family::Ipv4, [GONE, BACK]));
            check_failures(&ran, ratio, "a number of requests");
            check_ratio(&ran, ratio, 0);
        });
    }
}

#[test]
fn an_outage_fails_families_by_the_ratio_in_an_open_loop() {
    for arrivals in [ArrivalProcess::Constant, ArrivalProcess::Poisson] {
        for ratio in RATIOS {
            each_seed(1, |seed| {
                let stage = RateStage::endless(RequestRate::new(400.0).unwrap());
                let open = OpenLoop { arrivals, ..OpenLoop::new(vec![stage]).unwrap() };
                let plan = opened(eight(ratio), open);
                let ran = ran(&plan, seed, outage(Family::Ipv6, [GONE, BACK]));
                let failed = check_failures(&ran, ratio, &format!("{arrivals:?}"));
                assert!((300..500).contains(&failed), "{failed}");
            });
        }
    }
}

/// Only its own failures are a family's own, and what goes to it is what the ratio says.
#[test]
fn a_family_that_fails_alone_still_gets_its_share_of_requests() {
    for (gone, ratio) in Family::BOTH.into_iter().flat_map(|of| RATIOS.map(|ratio| (of, ratio))) {
        each_seed(1, |seed| {
            let mut script = outage(gone, [u64::MAX, u64::MAX]);
            let (clock, mut dial) = (Rc::clone(&script.clock), script.dial);
            let is_away = move |of: Family, at: u64| of == gone && (GONE..BACK).contains(&at);
            script.dial = Box::new(move |way, random| {
                if is_away(Family::of(way.to.ip()), clock.get()) {
                    Dial::Fails { after: 0, errno: ECONNREFUSED }
                } else {
                    dial(way, random)
                }
            });
            let mut reply = script.reply;
            script.reply = Box::new(move |request, random| {
                if is_away(request.family, request.at) {
                    Reply::of(0, Step::Error(ECONNRESET))
                } else {
                    reply(request, random)
                }
            });
            let ran = ran(&eight(ratio), seed, script);
            check_ratio(&ran, ratio, 1);
            let failed = |family: Family| ran.tally()[family].outcome(Outcome::Refused);
            assert!(failed(gone) > 50, "{gone}: {}", failed(gone));
            assert_eq!(failed(gone.other()), 0, "{gone}");
        });
    }
}
