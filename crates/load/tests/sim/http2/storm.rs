//! Everything that can go wrong on connections that are shared, at random and together: the books
//! must balance all the same.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::num::{NonZeroU32, NonZeroU64};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use sixmark_document::provenance::Ended;
use sixmark_http::HttpVersion;
use sixmark_plan::plan::http::Http;
use sixmark_plan::plan::{Body, Plan, PlanRequests, Request};
use sixmark_tally::outcome::Outcome;
use sixmark_tally::tally::FamilyTally;
use sixmark_units::family::Family;

use super::books::{Books, Fate, Page};
use super::server::{GOODBYES, Mood, server};
use crate::balance;
use crate::harness::{BEGIN, Ran, Sim};
use crate::random::{Random, each_seed};
use crate::script::{Dial, MICRO, MILLI, SECOND, Script};
use crate::storm::{any_plan, failed_dial};

struct Storm {
    ran: Ran,
    plan: Plan,
    books: Books,
    mood: Mood,
}

/// Any plan of HTTP/2 that can be.
fn plan_of_streams(random: &mut Random) -> Plan {
    let mut plan = any_plan(random);
    let many = 1 + random.below(40) as u32;
    let streams = random.pick(&[1, 1, 2, 3, 7, many]);
    let streams = NonZeroU32::new(streams).unwrap();
    plan.http = Http { version: HttpVersion::Http2, prior_knowledge: true, streams };
    let body = random.pick(&[0, 0, 0, 0, 1, 5_000, 70_000]);
    if body > 0 {
        let body = Some(Body::Constant(Arc::new(vec![b'x'; body])));
        plan.requests = PlanRequests::one(Request { body, ..Request::plain("POST") });
    }
    plan.connection.preopen = random.chance(20);
    if plan.load.requests.is_none() && plan.load.pace.open().is_none() {
        // A closed loop of many exchanges is quick.
        let duration = Duration::from_nanos(1 + random.below(30 * MILLI));
        plan.load.duration = Some(duration);
        plan.load.warmup = plan.load.warmup.min(Duration::from_millis(5));
    } else if plan.load.pace.open().is_none() {
        plan.load.requests = NonZeroU64::new(1 + random.below(300));
        plan.load.warmup = plan.load.warmup.min(Duration::from_millis(5));
    }
    plan
}

fn storm(seed: u64) -> Storm {
    let mut random = Random::new(seed ^ 0x2222);
    let plan = plan_of_streams(&mut random);
    let mut sim = Sim::new(plan.clone());
    (sim.seed, sim.cost) = (seed, random.pick(&[0, 0, 300, 20 * MICRO]));
    if plan.load.pace.open().is_some_and(|open| !open.spin.is_zero()) {
        sim.cost = 20 * MICRO;
    }
    if random.chance(30) {
        sim.stop_at = BEGIN + random.below(SECOND / 10);
    }
    let mood = Mood {
        trouble: random.pick(&[0, 3, 10, 40, 100]),
        hesitates: random.pick(&[0, 0, 10]),
        fails: random.chance(20),
        body: random.pick(&[0, 100, 100, 100, 40_000]),
    };
    let books = Rc::new(RefCell::new(Books::default()));
    let unlucky = mood.trouble.min(60) / 2;
    let dial = move |way: &_, random: &mut Random| {
        if random.chance(unlucky) {
            failed_dial(random)
        } else {
            Dial::connects(way, random.below(3 * MILLI))
        }
    };
    let script = Script::new(dial, |_, _| unreachable!()).seeing(server(mood)).watched(&books);
    let ran = sim.run(script);
    let books = books.take();
    Storm { ran, plan, books, mood }
}

fn check(storm: &Storm) {
    let Storm { ran, plan, books, .. } = storm;
    assert!(ran.ledger.connections.iter().all(|page| page.closed.is_some()), "left open");
    let streams = plan.http.streams.get() as usize;
    assert!(books.most_on_one <= streams || !is_seen(storm), "{}", books.most_on_one);
    for family in Family::BOTH {
        balance::exchanges(ran, family);
        balance::slices(ran, family);
        if !plan.connection.preopen {
            balance::connections(ran, family);
        }
        if is_seen(storm) {
            bounds(storm, family);
        }
        if is_exact(storm) {
            exact(storm, family);
        }
    }
}

/// All that happens is measured.
fn is_exact(storm: &Storm) -> bool {
    is_seen(storm) && storm.plan.load.warmup.is_zero()
}

/// Nothing that a worker wants to send waits unseen for room.
fn is_seen(storm: &Storm) -> bool {
    storm.mood.hesitates == 0 && !storm.mood.fails
}

fn count(fates: &BTreeMap<Fate, u64>, of: impl Fn(Fate) -> bool) -> u64 {
    fates.iter().filter(|&(&fate, _)| of(fate)).map(|(_, &count)| count).sum()
}

/// Exchanges whose response came whole, be it what was expected or not.
fn whole(tally: &FamilyTally) -> u64 {
    tally.completed() + tally.outcome(Outcome::Content)
}

/// Where all is seen that a worker does, but not all of it is measured.
fn bounds(storm: &Storm, family: Family) {
    let tally = &storm.ran.tally()[family];
    let fates = storm.books.fates(family);
    let answered = count(&fates, |fate| fate == Fate::Answered);
    assert!(whole(tally) <= answered, "{family}: {} of {answered}", whole(tally));
    let disowned = count(&fates, |fate| fate == Fate::Disowned);
    assert!(tally.resent <= disowned, "{family}: {} resent of {disowned}", tally.resent);
    let goaway = pages(storm, family).filter(|page| page.goaway).count() as u64;
    assert!(tally.connections.drained <= goaway, "{family}: drained");
}

fn exact(storm: &Storm, family: Family) {
    let tally = &storm.ran.tally()[family];
    let fates = storm.books.fates(family);
    // A response that ended after its deadline is a timeout, though the server gave it.
    let late = count(&fates, |fate| fate == Fate::Answered) - whole(tally);
    // What was disowned too often is given up, by the code of the last goodbye.
    let mut given_up = 0;
    for code in [0, 1, 2, 7, 8, 11] {
        let told = count(&fates, |fate| fate == Fate::Reset(code));
        let more = reset_by(storm, family, code.into()).checked_sub(told);
        let more = more.unwrap_or_else(|| panic!("{family}: not all {told} resets by {code}"));
        assert!(more == 0 || GOODBYES.contains(&code), "{family}: {more} resets by {code}");
        given_up += more;
    }
    let disowned = count(&fates, |fate| fate == Fate::Disowned);
    assert_eq!(tally.resent + given_up, disowned, "{family}: disowned");
    let malformed = count(&fates, |fate| fate == Fate::Malformed);
    let violated = count(&fates, |fate| matches!(fate, Fate::Violated(_)));
    let protocol = tally.outcome(Outcome::Protocol);
    assert!(protocol >= malformed + violated, "{family}: {protocol}, {malformed}, {violated}");
    // What waited on the connection ends with it, unseen.
    let violation = pages(storm, family).any(|page| page.violation);
    assert!(violation || protocol == malformed, "{family}: {protocol}, {malformed} and no breach");
    let cut = tally.outcome(Outcome::Timeout) + tally.outcome(Outcome::Abandoned);
    let cancelled = count(&fates, |fate| fate == Fate::Cancelled);
    assert!(cut >= cancelled + late, "{family}: {cancelled} cancelled, {late} late, {cut} cut");
    assert!(late <= tally.outcome(Outcome::Timeout), "{family}: {late} late");
    let seen = fates.values().sum::<u64>();
    assert!(seen <= tally.sent + tally.resent, "{family}: {seen} of {}", tally.sent);
    bytes(storm, family);
    assert!(
        pages(storm, family).all(|page| !page.overdrawn),
        "{family}: more streams than allowed"
    );
    let goaway = pages(storm, family).filter(|page| page.goaway).count() as u64;
    let connection = &storm.plan.connection;
    let retiring = tally.outcome(Outcome::Timeout) > 0 || connection.requests.is_some();
    if !retiring && connection.keep_alive {
        assert_eq!(tally.connections.drained, goaway, "{family}: drained");
    }
}

fn pages(storm: &Storm, family: Family) -> impl Iterator<Item = &Page> {
    storm.books.connections.values().filter(move |page| page.family == family)
}

fn reset_by(storm: &Storm, family: Family, code: u64) -> u64 {
    let failures = storm.ran.tally()[family].failures.iter();
    failures
        .filter(|(failure, _)| (failure.outcome, failure.code) == (Outcome::Reset, Some(code)))
        .map(|(_, count)| count)
        .sum()
}

fn bytes(storm: &Storm, family: Family) {
    let found = storm.ran.tally()[family].bytes;
    // A measurement that awaited its first request began while events were processed, which takes
    // time. What was received or sent meanwhile may count.
    let put_off = storm.ran.report.put_off_ns.unwrap_or(0);
    let from = storm.ran.measured_from + put_off;
    let moments = [from + if put_off > 0 { MILLI } else { 0 }, from];
    let sums = |times: fn(&Page) -> &[(u64, usize)]| {
        moments.map(|from| {
            let all = pages(storm, family).flat_map(times);
            all.filter(|&&(at, _)| at >= from).map(|&(_, n)| n as u64).sum::<u64>()
        })
    };
    let [least, most] = sums(|page| &page.received);
    assert!((least..=most).contains(&found.received), "{family}: bytes received");
    let [least, most] = sums(|page| &page.sent);
    assert!((least..=most).contains(&found.sent), "{family}: bytes sent");
}

#[test]
fn all_counts_balance_under_random_stream_failures() {
    each_seed(2_000, |seed| check(&storm(seed)));
}

#[test]
fn a_completed_counted_run_sends_exactly_its_requests_over_streams() {
    each_seed(500, |seed| {
        let Storm { ran, plan, .. } = storm(seed);
        let (Some(requests), None) = (plan.load.requests, plan.load.duration) else { return };
        if ran.report.ended == Ended::Complete {
            let of = |tally: &FamilyTally| tally.sent - tally.carried + tally.dropped;
            let sent: u64 = ran.tally().iter().map(|(_, tally)| of(tally)).sum();
            assert_eq!(sent, requests.get());
        }
    });
}
