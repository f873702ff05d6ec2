//! Which request an exchange sends and when, in mixes, replays and after redirects.

use std::num::{NonZeroU32, NonZeroU64};
use std::time::Duration;

use libc::ECONNRESET;
use sixmark_document::provenance::Ended;
use sixmark_plan::pace::{OpenLoop, Timetable};
use sixmark_plan::plan::{Plan, PlanRequests, Request};
use sixmark_plan::template::Template;
use sixmark_tally::outcome::Outcome;
use sixmark_tally::tally::FamilyTally;
use sixmark_units::family::Family;

use super::harness::{BEGIN, Ran, Sim, at_rate, lasting, opened, plan, run};
use super::script::{MILLI, Reply, Response, SECOND, Script, Step};

/// Requests of these paths, each as often.
fn mix(paths: &[&str]) -> PlanRequests {
    let request = |path: &&str| Request {
        name: (*path).to_owned(),
        path: Some(Template::constant(*path)),
        ..Request::plain("GET")
    };
    PlanRequests::new(paths.iter().map(request).collect()).unwrap()
}

/// When each request was sent, in that order, and what it asked for.
fn sent(ran: &Ran) -> Vec<(u64, String)> {
    let all = ran.ledger.connections.iter().flat_map(|connection| &connection.requests);
    let mut all: Vec<_> = all.map(|asked| (asked.begun - BEGIN, asked.line.clone())).collect();
    all.sort();
    all
}

fn both(ran: &Ran, of: impl Fn(&FamilyTally) -> u64) -> u64 {
    ran.tally().iter().map(|(_, tally)| of(tally)).sum()
}

/// Answers after so many nanoseconds, with a redirect wherever `leads` says so of the number of
/// responses before.
fn answers(after: u64, leads: impl Fn(u64) -> bool + 'static) -> Script {
    let mut before = 0;
    Script::of_replies(move |request, _| {
        before += 1;
        let redirect = leads(before - 1);
        let response = Response { close: request.last, redirect, ..Response::default() };
        Reply::of(after, Step::LastBytes(response.bytes()))
    })
}

fn replay(speed: u32, entries: &[(u64, u32)]) -> Plan {
    let entries = entries.iter().map(|&(at, request)| (BEGIN + at * MILLI, request)).collect();
    let table = Timetable::new(entries, speed.into()).unwrap();
    let mut plan = opened(plan(), OpenLoop::replay(table));
    plan.load.requests = None;
    plan.load.duration = plan.load.pace.open().unwrap().duration();
    plan.requests = mix(&["/a", "/b", "/c"]);
    plan
}

#[test]
fn a_replay_sends_each_entry_at_its_time_whatever_the_number_of_workers() {
    let entries = [(0, 2), (5, 0), (700, 1), (700, 2), (1_300, 0), (1_301, 0)];
    for speed in [1, 2] {
        for workers in [1, 2, 3] {
            let mut plan = replay(speed, &entries);
            plan.load.threads = NonZeroU32::new(workers).unwrap();
            let runs = (0..workers).map(|worker| {
                let sim = Sim { worker, ..Sim::new(plan.clone()) };
                sent(&sim.run(answers(MILLI, |_| false)))
            });
            let mut all: Vec<_> = runs.flatten().collect();
            all.sort();
            let path = |request: u32| ["/a", "/b", "/c"][request as usize];
            let expected = entries.map(|(at, request)| {
                (at * MILLI / u64::from(speed), format!("GET {}", path(request)))
            });
            assert_eq!(all, expected, "{workers} workers at {speed} times the speed");
        }
    }
}

#[test]
fn an_alternating_recording_sends_each_request_over_both_families() {
    let entries: Vec<_> = (0..400).map(|k| (k, (k % 2) as u32)).collect();
    let ran = run(replay(1, &entries), answers(MILLI / 10, |_| false));
    for family in Family::BOTH {
        let of = |line: &str| {
            ran.ledger.requests(family, BEGIN).filter(|asked| asked.line == line).count()
        };
        let found = [of("GET /a"), of("GET /b")];
        assert_eq!(found.iter().sum::<usize>(), 200);
        assert!(found.iter().all(|&count| (75..=125).contains(&count)), "{family}: {found:?}");
    }
}

#[test]
fn warm_up_and_measurement_each_have_the_request_mix() {
    let mut plan = at_rate(100.0, Duration::from_secs(1));
    plan.load.warmup = Duration::from_secs(1);
    plan.requests = mix(&["/a", "/b"]);
    let ran = Sim::new(plan).run(answers(MILLI, |_| false));
    let lines = sent(&ran);
    assert_eq!(lines.len(), 200);
    for half in lines.chunks(100) {
        let a = half.iter().filter(|(_, line)| line == "GET /a").count();
        assert_eq!(a, 50);
    }
}

#[test]
fn follows_a_redirect_as_soon_as_it_is_read() {
    let mut plan = at_rate(100.0, Duration::from_secs(1));
    plan.location = true;
    let ran = run(plan, answers(MILLI, |number| number % 2 == 0));
    let times: Vec<u64> = sent(&ran).iter().skip(8).map(|(at, _)| at % (10 * MILLI)).collect();
    assert!(times.chunks(2).all(|pair| pair == [0, MILLI]), "{times:?}");
    assert_eq!(both(&ran, |tally| tally.sent), 200);
    assert_eq!(both(&ran, |tally| tally.followed), 100);
    for (_, tally) in ran.tally().iter() {
        assert_eq!(tally.phases.slip.quantile(1.0), Some(0));
        assert_eq!(tally.phases.service.count(), tally.sent);
    }
}

#[test]
fn redirect_chains_end_on_time_and_do_not_use_up_the_request_count() {
    let mut timed = lasting(Duration::from_millis(100));
    timed.location = true;
    let ran = run(timed, answers(MILLI, |_| true));
    assert!(sent(&ran).iter().all(|(at, _)| *at < 100 * MILLI));
    assert!(both(&ran, |tally| tally.followed) > 100);
    assert_eq!(both(&ran, |tally| tally.outcome(Outcome::Abandoned)), 4);
    let mut counted = plan();
    counted.location = true;
    counted.load.requests = NonZeroU64::new(20);
    let ran = run(counted, answers(MILLI, |_| true));
    assert_eq!(ran.report.ended, Ended::Complete);
    let found = [both(&ran, |tally| tally.sent), both(&ran, |tally| tally.followed)];
    assert_eq!(found, [220, 200]);
    assert!(ran.report.elapsed_ns < SECOND);
}

#[test]
fn each_request_of_a_mix_is_counted_by_itself() {
    let mut plan = plan();
    plan.requests = mix(&["/a", "/b", "/c"]);
    let mut number = 0;
    let script = Script::of_replies(move |request, _| {
        number += 1;
        match number % 10 {
            0 => Reply::of(MILLI, Step::Error(ECONNRESET)),
            _ => Reply::of(
                number * MILLI,
                Step::LastBytes(Response { close: request.last, ..Response::default() }.bytes()),
            ),
        }
    });
    let ran = run(plan, script);
    for (family, tally) in ran.tally().iter() {
        for (of, path) in tally.requests.iter().zip(["/a", "/b", "/c"]) {
            let asked = ran.ledger.requests(family, BEGIN);
            let asked = asked.filter(|asked| asked.line == format!("GET {path}")).count() as u64;
            let failed: u64 = of.failures.iter().map(|(_, n)| n).sum();
            assert!(asked > 10, "{family}: {path}");
            assert_eq!(of.status.sorted()[&200] + failed, asked, "{family}: {path}");
        }
        assert!(tally.outcome(Outcome::Reset) > 0);
        assert_eq!(tally.requests.len(), 3);
    }
}

#[test]
fn keeps_no_separate_counts_for_a_single_request() {
    let ran = run(plan(), answers(MILLI, |_| false));
    assert!(ran.tally().iter().all(|(_, tally)| tally.requests.is_empty()));
}

#[test]
fn counts_followed_redirects_for_the_original_request() {
    let mut plan = plan();
    plan.location = true;
    plan.requests = mix(&["/a", "/b"]);
    let ran = run(plan, answers(MILLI, |number| number % 3 == 0));
    assert!(both(&ran, |tally| tally.followed) > 30);
    let lines = sent(&ran);
    for (name, line) in ["GET /a", "GET /b"].into_iter().enumerate() {
        let count = |status| {
            let of =
                |tally: &FamilyTally| tally.requests[name].status.sorted().get(&status).copied();
            both(&ran, |tally| of(tally).unwrap_or(0))
        };
        let asked = lines.iter().filter(|(_, asked)| asked == line).count() as u64;
        let (led, all) = (count(302), count(302) + count(200));
        assert_eq!((asked, all), (50, 50 + led), "{line}");
    }
}

#[test]
fn excludes_stalled_times_from_the_figures_of_each_request() {
    let mut plan = lasting(Duration::from_secs(10));
    plan.requests = mix(&["/a", "/b"]);
    // The answers that are awaited while the worker stands still come after it.
    let (from, until) = (BEGIN + 2 * SECOND, BEGIN + 5 * SECOND);
    let script = Script::of_replies(move |request, _| {
        let after = if request.at + 10 * MILLI < from || request.at > from {
            10 * MILLI
        } else {
            until - request.at + 10 * MILLI
        };
        Reply::of(after, Step::LastBytes(Response::default().bytes()))
    });
    let ran = Sim { pause: Some([from, until - from]), ..Sim::new(plan) }.run(script);
    super::balance::check(&ran);
    assert_eq!(both(&ran, |tally| tally.untimed), 4);
    let longest = |tally: &FamilyTally| {
        tally.requests.iter().filter_map(|of| of.response.quantile(1.0)).max()
    };
    assert!(ran.tally().iter().all(|(_, tally)| longest(tally) < Some(SECOND)));
}
