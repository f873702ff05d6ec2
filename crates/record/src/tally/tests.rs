//! Random tallies: they come back from JSON, and merging them does not depend on the order.

use super::*;
use crate::check::Mismatch;
use crate::clocks::Clocks;
use crate::in_flight::InFlight;
use crate::lapses::Lapses;
use crate::outcome::{FailurePhase, LocalCause};
use crate::quic::QuicEnding;
use crate::tcp::{Handshake, TcpSample};
use crate::tls::{Cause, Certificate, Facts, Reason};
use sixmark_units::family::Family;
use sixmark_units::random::Random;

/// Counts a few exchanges and connections of any kind.
fn count(tally: &mut FamilyTally, random: &mut Random) {
    for _ in 0..random.below(20) {
        match random.below(8) {
            0 => count_numbers(tally, random),
            1 | 2 => complete(tally, random),
            3 => fail(tally, random),
            4 => connect(tally, random),
            5 => shake_hands(tally, random),
            6 => close(tally, random),
            _ => mismatch(tally, random),
        }
    }
}

fn count_numbers(tally: &mut FamilyTally, random: &mut Random) {
    let FamilyTally { sent, dropped, unsent, waited, late, resent, followed, .. } = tally;
    [sent, dropped, unsent, waited, late, resent, followed]
        .into_iter()
        .for_each(|n| *n += random.below(9));
    let FamilyTally { cut_chains, stalled, untimed, given_up, carried, warm_up, .. } = tally;
    [cut_chains, stalled, untimed, given_up, carried]
        .into_iter()
        .for_each(|n| *n += random.below(3));
    *warm_up += WarmUpTally { sent: 2, completed: 1, answered_ns: random.below(1 << 40) };
    let of = &mut tally.connections;
    [&mut of.reset_sent, &mut of.unsolicited, &mut of.unopened, &mut of.drained, &mut of.displaced]
        .into_iter()
        .for_each(|n| *n += random.below(3));
    [&mut of.held_ns, &mut of.awaited_ns].into_iter().for_each(|n| *n += random.below(1 << 40));
    // An exchange that is moved to the other family is no longer counted.
    tally.sent = tally.sent.saturating_sub(random.below(12));
    tally.followed = tally.followed.saturating_sub(random.below(12));
    tally.warm_up.sent = tally.warm_up.sent.saturating_sub(random.below(4));
}

fn complete(tally: &mut FamilyTally, random: &mut Random) {
    let (status, body) = ([200, 204, 301, 404][random.below(4) as usize], random.below(1 << 30));
    tally.sent += 1;
    tally.status.add(status, 1);
    tally.unaccepted += u64::from(status == 404);
    tally.bytes.body += body;
    tally.bytes.received += body + 100;
    tally.bytes.sent += 80;
    let there = tally.endpoint(random.below(5) as usize);
    there.status.add(status, 1);
    there.unaccepted += u64::from(status == 404);
    there.sizes.add(body);
    there.waiting.answered_ns += random.below(1 << 40);
    let nanos = random.bits() >> (4 + random.below(60));
    let request = tally.request(random.below(4) as usize);
    request.status.add(status, 1);
    request.response.record(nanos);
    let Phases { wait, ttfb, transfer, response, service, slip, .. } = &mut tally.phases;
    [wait, ttfb, transfer, response, service, slip]
        .into_iter()
        .for_each(|phase| phase.record(nanos));
}

fn fail(tally: &mut FamilyTally, random: &mut Random) {
    let outcome = Outcome::ALL[1 + random.below(12) as usize];
    let mut failure = Failure::new(outcome, FailurePhase::Wait);
    match random.below(4) {
        0 => failure.errno = Some(104),
        1 => failure.code = Some(random.bits()),
        2 => failure.cause = Some(LocalCause::Stalled),
        _ => tally.breaches.add(["a field has no colon", "no frame"][random.below(2) as usize], 1),
    }
    tally.sent += 1;
    tally.failures.add(failure, 1);
    tally.endpoint(random.below(7) as usize).failures.add(failure, 1);
    tally.endpoint(0).waiting.silent_ns += random.below(1 << 40);
    tally.request(random.below(4) as usize).failures.add(failure, 1);
}

fn connect(tally: &mut FamilyTally, random: &mut Random) {
    let nanos = random.below(1 << 34);
    tally.connections.opened += 1;
    tally.phases.connect.record(nanos);
    let said = [Handshake::Took(nanos), Handshake::SentAgain, Handshake::Untimed];
    tally.tcp.handshake.record(said[random.below(3) as usize], nanos + 7);
}

fn shake_hands(tally: &mut FamilyTally, random: &mut Random) {
    let one_in = |random: &mut Random, n| random.below(n) == 0;
    let facts = Facts {
        version: ["TLSv1.2", "TLSv1.3"][random.below(2) as usize],
        cipher: "TLS_AES_128_GCM_SHA256",
        group: one_in(random, 2).then_some("X25519"),
        alpn: one_in(random, 2).then_some(1),
        resumed: one_in(random, 2),
        offered: one_in(random, 3),
        retried: one_in(random, 3),
        certificate: one_in(random, 2)
            .then_some(Certificate { sha256: [random.below(3) as u8; 32], not_after: Some(-1) }),
    };
    match random.below(4) {
        0 => tally.tls.finished_untimed(&facts),
        1 => tally.tls.failed(one_in(random, 2).then_some(CAUSE)),
        _ => tally.tls.finished(&facts, random.below(1 << 30)),
    }
}

const CAUSE: Cause = Cause { reason: Reason::CertificateIssuer, alert: Some(48) };

fn close(tally: &mut FamilyTally, random: &mut Random) {
    tally.connections.closed += 1;
    tally.phases.lifetime.record(random.below(1 << 50));
    tally.tcp.record(&TcpSample {
        rtt: (random.below(2) == 0).then_some(random.below(1 << 30)),
        min_rtt: Some(9_000),
        retransmitted: random.below(3) as u32,
        duplicates: (random.below(2) == 0).then_some(1),
        delivered: (random.below(2) == 0).then_some(0),
        mss: 1_400 + random.below(3) as u32,
    });
    tally.quic.mismatched += random.below(2);
    tally.quic.record(&QuicEnding {
        mtu: 1_252,
        version: 1,
        rtt: random.below(1 << 30),
        sent: 7,
        lost: random.below(2),
        retried: random.below(2) == 0,
        dropped: random.below(2),
    });
}

fn mismatch(tally: &mut FamilyTally, random: &mut Random) {
    let check = ["size=1", "status=200"][random.below(2) as usize].into();
    let found = random.below(100).to_string();
    tally.content.add(random.below(1_000_000_007), "é", 200, Mismatch { check, found });
}

/// Adds what is counted only at the end of a load.
fn end(tally: &mut FamilyTally, random: &mut Random) {
    for _ in 0..random.below(4) {
        tally.in_flight.push(InFlight {
            age_ns: random.below(1 << 40),
            silent_ns: random.below(1 << 40),
            phase: FailurePhase::Transfer,
            endpoint: random.below(5) as usize,
            name: (random.below(2) == 0).then_some(2),
            counted: random.below(2) == 0,
        });
    }
    tally.oldest_unanswered_ns = random.below(1 << 40);
    tally.phases.response.record_at_least(random.below(1 << 40));
}

/// Returns the tally of a whole load.
fn random_tally(random: &mut Random) -> Tally {
    let mut tally = Tally::default();
    for family in Family::BOTH {
        (0..3).for_each(|_| count(&mut tally[family], random));
        end(&mut tally[family], random);
    }
    tally
}

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
fn a_tally_comes_back_as_it_was() {
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
fn so_do_the_parts_beside_it() {
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
fn a_tally_that_no_load_has_is_refused() {
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
fn sums_of_what_peers_count_stop_at_the_largest_number() {
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
fn the_earlier_and_what_came_since_are_the_whole() {
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
fn the_figures_of_a_second_are_those_of_its_difference() {
    let mut random = Random::new(5, 0);
    for _ in 0..50 {
        let tally = random_tally(&mut random).ipv6;
        let slice = SliceTally::of(&tally);
        let abandoned = tally.outcome(Outcome::Abandoned);
        assert_eq!(slice.completed + slice.failed + abandoned, tally.ended());
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
fn what_was_sent_is_the_sum_of_the_outcomes() {
    let tally = sample(4);
    assert_eq!((tally.completed(), tally.outcome(Outcome::Reset)), (6, 1));
    assert_eq!(tally.ended(), tally.sent);
}

#[test]
fn redirects_are_told_by_their_status() {
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
