use super::*;
use crate::Settings;
use crate::judge::compare;
use sixmark_tally::response_part::PerPart;
use sixmark_units::random::Random;
use sixmark_why::part::WhyPart;

/// What a side takes, in milliseconds.
#[derive(Clone, Copy)]
struct PathSide {
    round_trip: f64,
    server: f64,
    transfer: f64,
    /// The share of the exchanges that wait for a new connection.
    connecting: f64,
    /// What connecting takes beyond its round trip.
    connect: f64,
}

const NEAR: PathSide =
    PathSide { round_trip: 30.0, server: 5.0, transfer: 2.0, connecting: 0.0, connect: 0.0 };

fn block(of: PathSide, random: &mut Random) -> Stretch {
    let mut block = Stretch { elapsed_s: 1.0, ..Stretch::default() };
    let ns = |ms: f64| (ms * 1e6) as u64;
    // What a block has in common: blocks differ by more than chance within them.
    let level = 1.0 + 0.02 * (random.unit() - 0.5);
    let mut noisy = |ms: f64| ms * level * (1.0 + 0.1 * (random.unit() - 0.5));
    for at in 0..200 {
        let opens = f64::from(at) < 200.0 * of.connecting;
        let parts = PerPart {
            connect: if opens { ns(noisy(of.round_trip + of.connect)) } else { 0 },
            send: 1_000,
            wait: ns(noisy(of.round_trip) + noisy(of.server)),
            transfer: ns(noisy(of.transfer)),
            ..PerPart::default()
        };
        let whole: u64 = parts.iter().map(|(_, ns)| ns).sum();
        block.account.record(&parts, 0);
        block.phases.response.record(whole);
        (block.sent, block.completed) = (block.sent + 1, block.completed + 1);
    }
    block.round_trip_ns = Some(noisy(of.round_trip) * 1e6);
    block
}

fn explained(a: PathSide, b: PathSide, seed: u64) -> Option<DividedDifference> {
    let mut random = Random::new(seed, 0);
    let pair = |_| BlockPair { a: block(a, &mut random), b: block(b, &mut random) };
    let pairs: Vec<BlockPair> = (0..12).map(pair).collect();
    compare(("ipv6", "ipv4"), &pairs, 0, &Settings::usual(seed)).why
}

fn causes(why: &DividedDifference) -> Vec<WhyPart> {
    why.causes().into_iter().map(|of| of.part).collect()
}

#[test]
fn names_the_part_that_differs_and_no_other() {
    let slow_path = PathSide { round_trip: 40.0, ..NEAR };
    let slow_server = PathSide { server: 15.0, ..NEAR };
    let slow_transfer = PathSide { transfer: 12.0, ..NEAR };
    for (a, cause) in [
        (slow_path, WhyPart::RoundTrips),
        (slow_server, WhyPart::Server),
        (slow_transfer, WhyPart::Transfer),
    ] {
        let why = explained(a, NEAR, 7).unwrap();
        assert_eq!(causes(&why), [cause], "{why:?}");
        let first = why.causes()[0].difference_us;
        assert!(first.low <= 10_000.0 && 10_000.0 <= first.high, "{first:?}");
        assert!((why.unexplained_us / why.difference_us.value).abs() < 0.05, "{why:?}");
    }
}

#[test]
fn divides_a_difference_among_two_causes() {
    let why = explained(PathSide { round_trip: 40.0, server: 10.0, ..NEAR }, NEAR, 3).unwrap();
    assert_eq!(causes(&why), [WhyPart::RoundTrips, WhyPart::Server]);
    let shares: Vec<f64> = why.causes().iter().map(|of| of.share).collect();
    assert!(
        (shares[0] - 2.0 / 3.0).abs() < 0.1 && (shares[1] - 1.0 / 3.0).abs() < 0.1,
        "{shares:?}"
    );
}

/// A new connection costs another round trip, which is not the server's.
#[test]
fn counts_the_round_trips_of_connections() {
    let [a, b] = [40.0, 30.0].map(|round_trip| PathSide { round_trip, connecting: 1.0, ..NEAR });
    let why = explained(a, b, 5).unwrap();
    assert_eq!(causes(&why), [WhyPart::RoundTrips]);
    assert!((why.difference_us.value - 20_000.0).abs() < 1_000.0, "{why:?}");
    let [a, b] = why.round_trip_us.unwrap();
    assert!((a - 40_000.0).abs() < 800.0 && (b - 30_000.0).abs() < 800.0, "{a} {b}");
    let slow_accept = PathSide { connecting: 1.0, connect: 10.0, ..NEAR };
    let why = explained(slow_accept, PathSide { connecting: 1.0, ..NEAR }, 5).unwrap();
    assert_eq!(causes(&why), [WhyPart::Connect]);
}

#[test]
fn equal_sides_have_no_why() {
    for seed in 0..20 {
        assert_eq!(explained(NEAR, NEAR, seed), None);
    }
}

#[test]
fn without_round_trip_times_the_wait_is_the_servers() {
    let mut random = Random::new(1, 0);
    let slow = PathSide { round_trip: 40.0, ..NEAR };
    let pair = |_| BlockPair { a: block(slow, &mut random), b: block(NEAR, &mut random) };
    let mut pairs: Vec<BlockPair> = (0..12).map(pair).collect();
    pairs[3].b.round_trip_ns = None;
    let why = compare(("ipv6", "ipv4"), &pairs, 0, &Settings::usual(1)).why.unwrap();
    assert_eq!((causes(&why), why.round_trip_us), (vec![WhyPart::Server], None));
}

/// The parts of a difference add up to it, with what they do not explain.
#[test]
fn the_parts_add_up_to_the_difference() {
    let why = explained(PathSide { round_trip: 33.0, server: 9.0, ..NEAR }, NEAR, 11).unwrap();
    let parts: f64 = why.parts.iter().map(|of| of.difference_us.value).sum();
    assert!((parts + why.unexplained_us - why.difference_us.value).abs() < 1e-6);
}
