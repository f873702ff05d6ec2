//! Random tallies: they come back from JSON, and merging them does not depend on the order.

mod generate;

use super::*;
use crate::clocks::Clocks;
use crate::lapses::Lapses;
use crate::outcome::FailurePhase;
use crate::tally_part::TallyPart as _;
use generate::{count, end, random_tally};
use sixmark_units::family::Family;
use sixmark_units::random::Random;

fn sum(tallies: &[&Tally]) -> Tally {
    let mut sum = Tally::default();
    tallies.iter().for_each(|tally| sum += *tally);
    sum
}

fn carry<T: Serialize + serde::de::DeserializeOwned>(value: &T) -> T {
    let text = serde_json::to_string(value).unwrap();
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn a_tally_survives_serialization() {
    let mut random = Random::new(1, 0);
    for _ in 0..100 {
        let tally = random_tally(&mut random);
        assert_eq!(carry(&tally), tally);
    }
    let nothing = serde_json::to_value(Tally::default()).unwrap();
    assert_eq!(nothing, serde_json::json!({"ipv6": {}, "ipv4": {}}));
    assert_eq!(serde_json::from_value::<Tally>(nothing).unwrap(), Tally::default());
}

#[test]
fn clocks_lapses_and_slices_survive_serialization() {
    let clocks = Clocks { missing: 3, inverted: 0, steps: 1 };
    let mut lapses = Lapses::default();
    lapses.stood_still(u64::MAX);
    assert_eq!((carry(&clocks), carry(&lapses)), (clocks, lapses));
    let mut slice =
        Slice { worker: 3, second: 9, length_ns: 7, opened: Some(0), ..Slice::default() };
    slice.families.ipv4 = SliceTally { sent: 2, body: u64::MAX, ..SliceTally::default() };
    slice.families.ipv4.wait.record(5);
    assert_eq!(carry(&slice), slice);
}

#[test]
fn tallies_are_merged_in_any_order() {
    let mut random = Random::new(2, 0);
    for _ in 0..50 {
        let [a, b, c] = [(); 3].map(|()| random_tally(&mut random));
        let all = sum(&[&a, &b, &c]);
        assert_eq!(all, sum(&[&c, &a, &b]));
        assert_eq!(all, sum(&[&sum(&[&b, &c]), &a]));
    }
}

#[test]
fn rejects_an_impossible_tally() {
    let long = "x".repeat(201);
    let refused = |text: &str| {
        let error = serde_json::from_str::<FamilyTally>(text).unwrap_err().to_string();
        assert!(!error.contains('\n') && error.len() < 200, "{error}");
        error
    };
    for (text, part) in [
        (format!("{{\"endpoints\":[{}{{}}]}}", "{},".repeat(65_536)), "65537 entries"),
        (format!("{{\"requests\":[{}{{}}]}}", "{},".repeat(101)), "102 entries"),
        (format!("{{\"breaches\":[[\"{long}\",1]]}}"), "201 bytes"),
        (format!("{{\"sent\":{}}}", u64::MAX), "invalid value"),
        (in_flight(65_536, "null"), "65536 is not below"),
        (in_flight(0, "101"), "101 is not below"),
    ] {
        let error = refused(&text);
        assert!(error.contains(part), "{error}");
    }
    assert!(serde_json::from_str::<FamilyTally>(&in_flight(65_535, "100")).is_ok());
}

fn in_flight(endpoint: usize, name: &str) -> String {
    format!(
        "{{\"in_flight\":[{{\"age_ns\":1,\"silent_ns\":1,\"phase\":\"wait\",\
         \"endpoint\":{endpoint},\"name\":{name},\"counted\":true}}]}}"
    )
}

/// Replaces the whole numbers among the fields.
fn raise(fields: &mut serde_json::Value) {
    let fields = fields.as_object_mut().into_iter().flat_map(|fields| fields.values_mut());
    fields.filter(|value| value.is_u64()).for_each(|number| *number = i64::MAX.into());
}

#[test]
fn sums_of_reported_counts_saturate_instead_of_overflowing() {
    let mut random = Random::new(3, 0);
    let text = serde_json::to_string(&random_tally(&mut random)).unwrap();
    let mut most: serde_json::Value = serde_json::from_str(&text).unwrap();
    for family in ["ipv6", "ipv4"] {
        raise(&mut most[family]);
        ["connections", "bytes", "warm_up"]
            .into_iter()
            .for_each(|part| raise(&mut most[family][part]));
    }
    let most: Tally = serde_json::from_value(most).unwrap();
    let mut all = sum(&[&most, &most, &most, &most]);
    assert_eq!(all.ipv6.unaccepted, u64::MAX);
    all.ipv6.classify_in_flight();
    all.ipv6.outcome_counts().by_name();
    all.ipv6.failed();
}

/// Returns the sum of what several workers have counted.
fn merged(workers: &[Tally]) -> Tally {
    sum(&workers.iter().collect::<Vec<_>>())
}

#[test]
fn differences_add_up_to_the_whole_tally() {
    let mut random = Random::new(4, 0);
    for _ in 0..20 {
        let mut workers = [(); 3].map(|()| Tally::default());
        let (mut earlier, mut differences) = (Tally::default(), Vec::new());
        for step in 0..5 {
            for tally in &mut workers {
                Family::BOTH.iter().for_each(|&family| count(&mut tally[family], &mut random));
                if step == 4 {
                    Family::BOTH.iter().for_each(|&family| end(&mut tally[family], &mut random));
                }
            }
            let all = merged(&workers);
            let since = all.since(&earlier);
            assert_eq!(carry(&since), since);
            earlier += &since;
            assert_eq!(earlier, all);
            assert_eq!(all.since(&all).ipv6.phases, Phases::default());
            differences.insert(random.below(step + 1) as usize, since);
        }
        assert_eq!(merged(&differences), earlier);
    }
}

#[test]
fn a_count_that_decreases_has_a_negative_difference() {
    let of = |sent| FamilyTally { sent, followed: sent, ..FamilyTally::default() };
    let since = of(3).since(&of(5));
    let written = serde_json::to_value(&since).unwrap();
    assert_eq!(written, serde_json::json!({"sent": -2, "followed": -2}));
    let mut whole = of(5);
    whole += &carry(&since);
    assert_eq!(whole, of(3));
    assert_eq!(SliceTally::of(&since).sent, 0);
}

#[test]
fn a_slice_has_the_figures_of_its_tally() {
    let mut random = Random::new(5, 0);
    for _ in 0..50 {
        let tally = random_tally(&mut random).ipv6;
        let slice = SliceTally::of(&tally);
        let abandoned = tally.outcome(Outcome::Abandoned);
        assert_eq!(slice.ended() + abandoned, tally.ended());
        assert_eq!((slice.body, slice.unaccepted), (tally.bytes.body, tally.unaccepted));
        assert_eq!(slice.tls.count(), tally.tls.full.count() + tally.tls.resumed.count());
        assert_eq!((&slice.connect, &slice.wait), (&tally.phases.connect, &tally.phases.wait));
    }
}

fn sample(seed: u64) -> FamilyTally {
    let mut tally = FamilyTally { sent: 3 + seed, ..FamilyTally::default() };
    tally.status.add(200, 1 + seed);
    tally.status.add(404, 1);
    let failure = Failure { errno: Some(104), ..Failure::new(Outcome::Reset, FailurePhase::Wait) };
    tally.failures.add(failure, 1);
    tally.phases.response.record(1_000 * (seed + 1));
    // Not every tally has counts of every request.
    let request = tally.request((seed % 3) as usize);
    request.status.add(200, 1 + seed);
    request.failures.add(failure, 1);
    request.response.record(1_000 * (seed + 1));
    tally
}

#[test]
fn sent_requests_equal_the_sum_of_the_outcomes() {
    let tally = sample(4);
    assert_eq!((tally.completed(), tally.outcome(Outcome::Reset)), (6, 1));
    assert_eq!(tally.ended(), tally.sent);
}

#[test]
fn counts_redirects_by_their_status() {
    let mut tally = sample(0);
    [301, 302, 303, 304, 307, 308].iter().for_each(|&status| tally.status.add(status, 2));
    assert_eq!(tally.redirects(), 10);
}

#[test]
fn merging_does_not_depend_on_order() {
    let (a, b, c) = (sample(1), sample(20), sample(300));
    let sum = |parts: [&FamilyTally; 3]| {
        parts.iter().fold(FamilyTally::default(), |mut sum, part| {
            sum += part;
            sum
        })
    };
    assert_eq!(sum([&a, &b, &c]), sum([&c, &a, &b]));
    let all = sum([&a, &b, &c]);
    assert_eq!(all.sent, a.sent + b.sent + c.sent);
    // The seeds 1, 300 and 20 are counted for the requests 1, 0 and 2.
    let counts: Vec<_> = all.requests.iter().map(|of| of.response.count()).collect();
    assert_eq!(counts, [1, 1, 1]);
    assert_eq!(sum([&a, &a, &b]).requests[1].status.sorted()[&200], 4);
}
