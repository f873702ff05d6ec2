//! Searches against simulated servers, whose behaviour at each rate is known.

mod agreement;
mod unfinished;

use std::num::NonZeroU32;
use std::time::Duration;

use sixmark_plan::plan::http::Http;
use sixmark_plan::plan::timestamps::Timestamps;
use sixmark_plan::plan::{Close, Connection, Driver, LoadPlan, PlanRequests, Request, Target};
use sixmark_tally::by_step::StepTally;
use sixmark_tally::outcome::{Failure, FailurePhase, Outcome};
use sixmark_tally::seconds::SliceCollector;
use sixmark_tally::tally::{FamilyTally, Slice};

use super::*;
use crate::Circumstances;

const MS: u64 = 1_000_000;
/// The number of exchanges of a trial.
const SENT: u64 = 800;
/// A number of trials that no search reaches.
const ENDLESS: usize = 500;

fn plan(ratio: PlanRatio) -> Plan {
    let some = |number| NonZeroU32::new(number).unwrap();
    let open = OpenLoop::new(vec![RateStage::endless(RequestRate::new(100.0).unwrap())]).unwrap();
    Plan {
        targets: vec![Target {
            url: "http://a.example/".into(),
            authority: "a.example".into(),
            server_name: None,
            path: "/".into(),
            weight: 1,
            addresses: ["[::1]:80", "127.0.0.1:80"].map(|a| a.parse().unwrap()).to_vec(),
        }],
        ratio,
        load: LoadPlan {
            requests: None,
            duration: Some(Duration::from_secs(2)),
            warmup: Duration::from_millis(200),
            pace: Pace::Open(open),
            connections: some(50),
            threads: some(1),
            timeout: Duration::from_secs(5),
            drain: Duration::ZERO,
            driver: Driver::Epoll,
            timestamps: Timestamps::User,
            linger: None,
        },
        requests: PlanRequests::one(Request::plain("GET")),
        location: false,
        accept_status: Default::default(),
        cookies: false,
        http: Http::default(),
        connection: Connection {
            keep_alive: true,
            requests: None,
            close: Close::Fin,
            most_open: some(100),
            preopen: false,
            resend: false,
        },
        tls: None,
        sources: PerFamily::default(),
        seed: 7,
    }
}

/// Returns the family that a trial loads, and its rate.
fn of(plan: &Plan) -> (Family, f64) {
    let families: Vec<Family> = plan.families().collect();
    assert_eq!(families.len(), 1, "a trial is of one family");
    (families[0], plan.load.pace.open().unwrap().first_rate().per_s())
}

/// Returns the load of a trial whose exchanges are all answered after `response_ns`.
fn loaded(family: Family, sent: u64, response_ns: u64) -> Loaded {
    let mut tally = FamilyTally { sent, ..FamilyTally::default() };
    tally.status.add(200, sent);
    for phase in [&mut tally.phases.response, &mut tally.phases.service] {
        phase.record_many(response_ns, sent);
    }
    tally.phases.slip.record_many(0, sent);
    for _ in 0..8 {
        let mut step = StepTally::default();
        step.exchanges.status.add(200, sent / 8);
        step.exchanges.response.record_many(response_ns, sent / 8);
        tally.steps.push(step);
    }
    let mut slice = Slice { length_ns: 1_000 * MS, ..Slice::default() };
    slice.families[family].sent = sent;
    slice.families[family].completed = sent;
    let mut seconds = SliceCollector::new(1);
    seconds.add(&slice);
    let intervals = seconds.end();
    let mut all = sixmark_tally::tally::Tally::default();
    all[family] = tally;
    Loaded {
        tally: all,
        intervals,
        elapsed_ns: 2_000 * MS,
        driver: "fake",
        ..sixmark_load::one_after_the_other([].iter())
    }
}

/// Returns the load of a server that answers after 1 ms up to `capacity`, and after 1 s above it.
fn server(family: Family, rate: f64, capacity: f64) -> Loaded {
    loaded(family, SENT, if rate <= capacity { MS } else { 1_000 * MS })
}

/// Returns the load with every exchange late although a connection was free for it.
fn late(mut loaded: Loaded, family: Family) -> Loaded {
    loaded.tally[family].late = loaded.tally[family].sent;
    loaded
}

/// Returns the load with a worker that was busy all the time.
fn busy(loaded: Loaded) -> Loaded {
    Loaded { busiest: 1.0, ..loaded }
}

/// Searches from 100/s with `response.p99 < 10ms`. Returns the result and each trial in order.
fn searched(
    ratio: PlanRatio,
    mut load: impl FnMut(Family, f64, usize) -> Loaded,
) -> (RunResult, Vec<(Family, f64)>) {
    let (plan, asked) = (plan(ratio), asked(Duration::MAX));
    let (mut number, mut order) = (0, Vec::new());
    let load = |plan: &Plan, _: &mut dyn FnMut(SearchEvent<'_>)| {
        let (family, rate) = of(plan);
        number += 1;
        assert!(number < ENDLESS);
        Ok(load(family, rate, number))
    };
    let mut watch = |event: SearchEvent<'_>| {
        if let SearchEvent::Over(family, trials, _) = event {
            order.push((family, trials.last().unwrap().rate));
        }
    };
    let searched = search(&plan, &asked, &|| Duration::ZERO, load, &mut watch).unwrap();
    (result(&plan, &asked, searched), order)
}

fn asked(at_most: Duration) -> SearchAsked {
    let conditions = vec!["response.p99 < 10ms".parse().unwrap()];
    SearchAsked { conditions, more_places: false, at_most }
}

/// Returns the document of a search.
fn result(plan: &Plan, asked: &SearchAsked, searched: Searched) -> RunResult {
    crate::assemble(
        Circumstances::default(),
        assemble_search(plan, asked, searched, SearchCost::default()),
    )
}

fn found(result: &RunResult, family: Family) -> &FoundRate {
    result.find_max.as_ref().unwrap().families.of(family).unwrap()
}

#[test]
fn the_bracket_of_each_family_contains_its_capacity() {
    for capacities in [[5_000.0, 4_000.0], [50.0, 333.0], [9.0, 123_456.0]] {
        let capacity = |family| capacities[usize::from(family == Family::Ipv4)];
        let (result, _) =
            searched(PlanRatio::EVEN, |family, rate, _| server(family, rate, capacity(family)));
        for family in Family::BOTH {
            let of = found(&result, family);
            let (holds, fails) = (of.holds.unwrap(), of.fails.unwrap());
            assert!(holds <= capacity(family) && capacity(family) < fails, "{holds} {fails}");
            assert!(fails <= holds * 1.05, "{holds} {fails}");
            assert_eq!(of.limited_by, Some(Limit::Condition));
            // The figures are those of the rate that held.
            let shown = of.shown().unwrap();
            assert_eq!((shown.rate, shown.held), (holds, true));
            let figures = result.families.of(family).unwrap();
            assert!(figures.response_us.p99 < Some(1_100.0));
            assert_eq!(figures.requests_per_s, SENT as f64 / 2.0);
        }
        let [least, most] = result.find_max.as_ref().unwrap().ratio.unwrap();
        let ratio = capacities[0] / capacities[1];
        assert!(least <= ratio && ratio <= most, "{least} {ratio} {most}");
        // Both trials, one after the other.
        assert_eq!((result.total.requests.sent, result.elapsed_s), (2 * SENT, 4.0));
        assert_eq!(result.total.requests_per_s, SENT as f64 / 2.0);
        assert_eq!(result.intervals.iter().map(|i| i.second).collect::<Vec<_>>(), [0, 1]);
    }
}

#[test]
fn alternates_the_families_and_varies_which_goes_first() {
    let (_, order) = searched(PlanRatio::EVEN, |family, rate, _| server(family, rate, 1_000.0));
    let pairs: Vec<[Family; 2]> = order.chunks(2).map(|two| [two[0].0, two[1].0]).collect();
    assert!(pairs.iter().all(|[one, other]| one != other), "{pairs:?}");
    let first = pairs.iter().filter(|[one, _]| *one == Family::Ipv6).count();
    assert!(first > 0 && first < pairs.len(), "{pairs:?}");
    let (_, alone) =
        searched(PlanRatio::only(Family::Ipv4), |family, rate, _| server(family, rate, 1_000.0));
    assert!(alone.iter().all(|&(family, _)| family == Family::Ipv4));
}

#[test]
fn the_search_of_one_family_continues_after_the_other_ends() {
    let (result, order) = searched(PlanRatio::EVEN, |family, rate, _| {
        server(family, rate, if family == Family::Ipv6 { 100.0 } else { 1e6 })
    });
    assert!(found(&result, Family::Ipv6).fails < Some(106.0));
    assert!(found(&result, Family::Ipv4).holds > Some(9e5));
    assert_eq!(order.last().unwrap().0, Family::Ipv4);
}

#[test]
fn consecutive_trials_have_different_seeds() {
    let mut seeds = Vec::new();
    let load = |plan: &Plan, _: &mut dyn FnMut(SearchEvent<'_>)| {
        seeds.push(plan.seed);
        Ok(server(Family::Ipv4, of(plan).1, 150.0))
    };
    let plan = plan(PlanRatio::only(Family::Ipv4));
    search(&plan, &asked(Duration::MAX), &|| Duration::ZERO, load, &mut |_| {}).unwrap();
    let number = seeds.len();
    seeds.dedup();
    assert!(number > 2 && seeds.len() == number, "{seeds:?}");
}

#[test]
fn a_signal_ends_the_search_and_keeps_the_results_so_far() {
    let (result, order) = searched(PlanRatio::EVEN, |family, rate, number| {
        let ended = if number == 11 { Ended::Interrupted } else { Ended::Complete };
        Loaded { ended, ..server(family, rate, 1e9) }
    });
    assert_eq!((result.ended, order.len()), (Ended::Interrupted, 11));
    let (v6, v4) = (found(&result, Family::Ipv6), found(&result, Family::Ipv4));
    // Five trials of each are over, up to 1,600/s.
    assert_eq!(
        [v6.holds, v6.fails, v4.holds, v4.fails],
        [Some(1_600.0), None, Some(1_600.0), None]
    );
    assert_eq!(v6.shown().map(|trial| trial.rate), Some(1_600.0));
    assert_eq!([v6.ended, v4.ended], [Some(SearchEnd::Interrupted); 2]);
    let cut = [v6, v4].into_iter().flat_map(|of| &of.trials).filter(|trial| !trial.held);
    assert_eq!(cut.map(|trial| trial.reason).collect::<Vec<_>>(), [Some(Limit::Interrupted)]);
}

#[test]
fn a_signal_in_the_first_trial_keeps_its_figures_but_finds_no_rate() {
    let (result, _) = searched(PlanRatio::EVEN, |family, rate, _| Loaded {
        ended: Ended::Interrupted,
        ..server(family, rate, 1e9)
    });
    let mut tried = Family::BOTH.map(|family| found(&result, family)).into_iter();
    let tried = tried.find(|of| !of.trials.is_empty()).unwrap();
    assert_eq!(
        (tried.holds, tried.fails, tried.limited_by, tried.shown),
        (None, None, None, Some(0))
    );
    let [v6, v4] =
        [&result.families.ipv6, &result.families.ipv4].map(|of| of.as_ref().unwrap().requests.sent);
    assert_eq!(v6 + v4, SENT, "the first trial is of either family");
}

#[test]
fn a_saturated_generator_makes_the_found_rate_a_lower_bound() {
    let (result, _) = searched(PlanRatio::EVEN, |family, rate, _| {
        if rate > 1_000.0 { busy(server(family, rate, 1_000.0)) } else { server(family, rate, 1e9) }
    });
    for family in Family::BOTH {
        let of = found(&result, family);
        assert_eq!((of.holds, of.fails), (Some(800.0), None));
        assert_eq!((of.limited_by, of.ended), (Some(Limit::Generator), Some(SearchEnd::Generator)));
    }
    assert_eq!(result.find_max.as_ref().unwrap().ratio, None);
    assert!(!result.is_saturated());
    let warnings = sixmark_result::warnings::of_result(&result);
    let limited = warnings.iter().filter(|warning| warning.code == "generator_limited");
    assert_eq!(limited.count(), 2);
}

/// Returns the load of a server that answers `capacity` exchanges per second. The mean response
/// time follows from those in flight; the rest waits for a connection.
fn queueing(family: Family, rate: f64, capacity: f64, in_flight: u64) -> Loaded {
    if rate <= capacity {
        return server(family, rate, capacity);
    }
    let mut loaded = loaded(family, SENT, 500 * MS);
    let tally = &mut loaded.tally[family];
    (tally.waited, tally.phases.service) = (SENT, Default::default());
    let service_ns = in_flight as f64 / capacity * 1e9;
    tally.phases.service.record_many(service_ns as u64, SENT);
    loaded
}

/// With a server of 20,000 exchanges per second, fifty in flight mean 2.5 ms. With no more than
/// that the generator waits, and the families' rates can't be compared.
#[test]
fn connections_limit_the_rate_only_if_none_may_be_added() {
    for (more_places, limit) in [(false, Limit::Connections), (true, Limit::Condition)] {
        let asked = SearchAsked { more_places, ..asked(Duration::MAX) };
        let plan = plan(PlanRatio::EVEN);
        let load = |plan: &Plan, _: &mut dyn FnMut(SearchEvent<'_>)| {
            let (family, rate) = of(plan);
            Ok(queueing(family, rate, 20_000.0, plan.in_flight()))
        };
        let searched = search(&plan, &asked, &|| Duration::ZERO, load, &mut |_| {}).unwrap();
        let result = result(&plan, &asked, searched);
        for family in Family::BOTH {
            let of = found(&result, family);
            assert_eq!(of.limited_by, Some(limit));
            let places = of.failing().unwrap().in_flight.unwrap();
            assert_eq!(places > 400, more_places, "{places}");
        }
        assert_eq!(result.find_max.as_ref().unwrap().ratio.is_some(), more_places);
        let limited = sixmark_result::warnings::of_result(&result);
        let limited = limited.iter().any(|warning| warning.code == "connections_limited");
        assert_eq!(limited, !more_places);
    }
}

#[test]
fn sizes_connections_by_rate_and_response_time_condition() {
    let places = |conditions: &[&str], rate, streams| {
        let mut plan = plan(PlanRatio::EVEN);
        plan.http.streams = NonZeroU32::new(streams).unwrap();
        let conditions: Vec<Condition> =
            conditions.iter().map(|one| one.parse().unwrap()).collect();
        let plan = places::with_room(plan, &conditions, rate);
        assert!(plan.connection.most_open >= plan.load.connections);
        plan.load.connections.get()
    };
    assert_eq!(places(&["response.p99 < 10ms"], 1_000.0, 1), 50);
    assert_eq!(places(&["response.p99 < 10ms"], 20_000.0, 1), 400);
    assert_eq!(places(&["response.p50 < 1ms", "response.p99 < 10ms"], 20_000.0, 1), 400);
    assert_eq!(places(&["response.p99 < 10ms"], 20_000.0, 4), 100);
    assert_eq!(places(&["failures < 1%"], 1e6, 1), 50);
    assert!(places(&["response.p99 < 1s"], 1e9, 1) <= 16_384);
}

/// A rate that held although exchanges began late counts as held; if one did not hold and all were
/// late, sixmark was the limit.
#[test]
fn late_starts_invalidate_only_trials_that_did_not_hold() {
    let (result, order) =
        searched(PlanRatio::EVEN, |family, rate, _| late(server(family, rate, 1_000.0), family));
    for family in Family::BOTH {
        let of = found(&result, family);
        assert_eq!((of.holds, of.fails), (Some(800.0), None), "{of:?}");
        assert_eq!((of.limited_by, of.ended), (Some(Limit::Generator), Some(SearchEnd::Generator)));
    }
    assert!(order.len() < 20, "{order:?}");
    assert!(!result.is_saturated());
}

/// One exchange in two hundred is late: that can't be why all are slow.
#[test]
fn a_few_late_exchanges_do_not_hide_the_limit_of_the_server() {
    let (result, _) = searched(PlanRatio::EVEN, |family, rate, _| {
        let mut loaded = server(family, rate, 1_000.0);
        loaded.tally[family].late = SENT / 200;
        loaded
    });
    for family in Family::BOTH {
        let of = found(&result, family);
        assert!(of.holds <= Some(1_000.0) && of.fails > Some(1_000.0), "{of:?}");
        assert_eq!(of.ended, Some(SearchEnd::Confirmed));
    }
}

#[test]
fn a_search_ends_at_its_time_limit_and_keeps_the_results_so_far() {
    let (plan, asked) = (plan(PlanRatio::EVEN), asked(Duration::from_secs(60)));
    let clock = std::cell::Cell::new(Duration::ZERO);
    let load = |plan: &Plan, _: &mut dyn FnMut(SearchEvent<'_>)| {
        let load = &plan.load;
        clock.set(clock.get() + load.warmup + load.duration.unwrap());
        let (family, rate) = of(plan);
        Ok(server(family, rate, 3_000.0))
    };
    let searched = search(&plan, &asked, &|| clock.get(), load, &mut |_| {}).unwrap();
    let result = result(&plan, &asked, searched);
    assert!(clock.get() <= asked.at_most);
    for family in Family::BOTH {
        let of = found(&result, family);
        assert_eq!(of.ended, Some(SearchEnd::Budget));
        assert!(of.holds <= Some(3_000.0) && of.fails > Some(3_000.0), "{of:?}");
    }
    assert_eq!(result.find_max.unwrap().ratio, None);
}

#[test]
fn follows_short_trials_with_longer_ones_at_constant_rates() {
    let mut lengths = Vec::new();
    let load = |plan: &Plan, _: &mut dyn FnMut(SearchEvent<'_>)| {
        let (open, whole) = (plan.load.pace.open().unwrap(), plan.load.duration.unwrap());
        assert_eq!(open.duration(), Some(whole));
        assert!(open.stages.iter().all(|stage| stage.from == open.first_rate()));
        lengths.push((whole.as_secs(), open.stages.len()));
        let (family, rate) = of(plan);
        Ok(server(family, rate, 150.0))
    };
    let plan = plan(PlanRatio::only(Family::Ipv4));
    search(&plan, &asked(Duration::MAX), &|| Duration::ZERO, load, &mut |_| {}).unwrap();
    assert_eq!(lengths[0], (2, 8));
    assert!(lengths.contains(&(8, 16)), "{lengths:?}");
}

/// A trial without a pause does not show that pauses are rare.
#[test]
fn a_pause_in_one_trial_leaves_the_lower_bound_unconfirmed() {
    let pausing = |paused_in: usize| {
        let (result, _) = searched(PlanRatio::only(Family::Ipv4), |family, rate, number| {
            let mut loaded = server(family, rate, 150.0);
            if number == paused_in {
                let mut paused = StepTally::default();
                paused.exchanges.status.add(200, SENT / 8);
                paused.exchanges.response.record_many(100 * MS, SENT / 8);
                loaded.tally[family].steps[3] = paused;
            }
            loaded
        });
        let of = found(&result, Family::Ipv4);
        (of.ended, of.holds.unwrap() <= 150.0 && of.fails.unwrap() > 150.0)
    };
    assert_eq!(pausing(ENDLESS), (Some(SearchEnd::Confirmed), true));
    assert_eq!(pausing(1), (Some(SearchEnd::Pauses), true));
}

/// If nearly all exchanges waited for a connection, a single late one among the others proves
/// nothing.
#[test]
fn one_late_exchange_does_not_make_the_generator_the_limit() {
    let (result, _) = searched(PlanRatio::only(Family::Ipv6), |family, rate, _| {
        let mut loaded = server(family, rate, 1_000.0);
        let tally = &mut loaded.tally[family];
        (tally.waited, tally.late) = (tally.sent - 1, 1);
        loaded
    });
    assert_eq!(found(&result, Family::Ipv6).limited_by, Some(Limit::Condition));
}

#[test]
fn gives_up_a_family_that_never_answers_and_continues_the_other() {
    let (result, order) = searched(PlanRatio::EVEN, |family, rate, _| {
        if family == Family::Ipv4 {
            return server(family, rate, 1_000.0);
        }
        let mut refused = Loaded { ended: Ended::Hopeless, ..loaded(family, 0, 0) };
        let failure = Failure::new(Outcome::Refused, FailurePhase::Connect);
        refused.tally[family].sent = 50;
        refused.tally[family].failures.add(failure, 50);
        refused
    });
    assert_eq!(order.iter().filter(|(family, _)| *family == Family::Ipv6).count(), 2);
    let v6 = found(&result, Family::Ipv6);
    assert_eq!((v6.holds, v6.ended), (None, Some(SearchEnd::NoAnswer)));
    assert!(found(&result, Family::Ipv4).holds > Some(950.0));
    assert_eq!(result.families.ipv6.unwrap().outcomes["REFUSED"], 50);
    assert_eq!(result.ended, Ended::Complete);
}

#[test]
fn a_search_where_no_rate_holds_ends_at_the_lowest_useful_rate() {
    let (result, order) = searched(PlanRatio::EVEN, |family, rate, _| server(family, rate, 0.0));
    for family in Family::BOTH {
        let of = found(&result, family);
        // Ten exchanges in two seconds.
        assert_eq!((of.holds, of.fails), (None, Some(5.0)));
        assert_eq!(of.shown, Some(of.trials.len() - 1));
    }
    assert!(order.len() <= 20, "{order:?}");
}
