use super::*;
use sixmark_units::random::Random;

fn exchange(wait: u64, transfer: u64) -> PerPart<u64> {
    PerPart { wait, transfer, ..PerPart::default() }
}

/// Returns the account of exchanges, and their response times in ascending order.
fn account(all: &[PerPart<u64>]) -> (AccountTally, Vec<u64>) {
    let mut tally = AccountTally::default();
    all.iter().for_each(|parts| tally.record(parts, u32::from(parts.flights > 0)));
    let mut totals: Vec<u64> = all.iter().map(PerPart::sum).collect();
    totals.sort_unstable();
    (tally, totals)
}

#[test]
fn classes_are_ordered_and_at_most_a_sixteenth_wide() {
    let mut last = 0;
    for nanos in (0..4_096).chain((12..64).map(|bit| 1_u64 << bit)).chain([u64::MAX]) {
        let class = class_of(nanos);
        assert!(class >= last && class < MOST_CLASSES, "{nanos}");
        last = class;
    }
    for nanos in [100_u64, 12_345, 1 << 40] {
        let wide = (nanos..).step_by((nanos as usize / 1_000).max(1));
        let same = wide.take_while(|of| class_of(*of) == class_of(nanos)).last().unwrap();
        assert!((same - nanos) as f64 <= nanos as f64 / 15.0, "{nanos} to {same}");
    }
}

#[test]
fn the_account_of_the_mean_adds_up_to_the_mean() {
    let all: Vec<_> = (1..500).map(|n| exchange(n * 1_000, n * n)).collect();
    let (tally, totals) = account(&all);
    let mean = totals.iter().sum::<u64>() as f64 / totals.len() as f64;
    let found = tally.of_mean().unwrap();
    assert!((found.parts.total() - mean).abs() < 1e-6 * mean);
    assert_eq!((found.count, found.connecting), (499, 0.0));
}

/// Exchanges are fast, or slow because of one part: the account of the median knows nothing of the
/// slow ones, that of p99 knows nothing but them.
#[test]
fn accounts_of_quantiles_are_those_of_the_exchanges_around_them() {
    let mut random = Random::new(1, 0);
    let all: Vec<_> = (0..20_000)
        .map(|_| {
            let slow = random.unit() < 0.05;
            let transfer = if slow { 50e6 * (1.0 + random.unit()) } else { 1e6 };
            exchange((10e6 * (1.0 + 0.2 * random.unit())) as u64, transfer as u64)
        })
        .collect();
    let (tally, totals) = account(&all);
    for (share, wait_ms, transfer_ms) in [(0.5, 11.0, 1.0), (0.99, 11.0, 90.0)] {
        let figure = totals[(share * totals.len() as f64) as usize] as f64;
        let found = tally.around(share, figure).unwrap();
        assert!((found.parts.total() - figure).abs() < 1e-6 * figure, "{share}: {found:?}");
        let [wait, transfer] = [found.parts.wait, found.parts.transfer].map(|ns| ns / 1e6);
        assert!((wait - wait_ms).abs() < 0.1 * wait_ms, "{share}: {wait}");
        assert!((transfer - transfer_ms).abs() < 0.1 * transfer_ms, "{share}: {transfer}");
    }
}

#[test]
fn an_account_adds_up_with_one_exchange_and_outside_of_its_classes() {
    let (tally, _) = account(&[exchange(3_000, 1_000)]);
    let found = tally.around(0.5, 4_400.0).unwrap();
    assert!(
        (found.parts.total() - 4_400.0).abs() < 1e-9 && (found.parts.wait - 3_300.0).abs() < 1e-9
    );
    assert_eq!(AccountTally::default().around(0.5, 1.0), None);
    assert_eq!(AccountTally::default().of_mean(), None);
    let (nothing, _) = account(&[exchange(0, 0)]);
    assert_eq!(nothing.around(0.5, 0.0).unwrap().parts.total(), 0.0);
}

#[test]
fn merged_and_subtracted_accounts_are_those_of_all_exchanges() {
    let all: Vec<_> = (1..300).map(|n| exchange(n * 777, 5)).collect();
    let ((first, _), (second, _), (both, _)) =
        (account(&all[..100]), account(&all[100..]), account(&all));
    let mut merged = second.clone();
    merged += &first;
    assert_eq!(merged, both);
    assert_eq!(both.since(&first).of_mean(), second.of_mean());
}

#[test]
fn an_account_is_carried_over_the_wire_and_a_foreign_class_is_refused() {
    let opening = PerPart { connect: 2_000, tls: 3_000, flights: 7, pauses: 8, ..exchange(40, 50) };
    let (tally, _) = account(&[opening, exchange(9, 9), exchange(1 << 50, 0)]);
    let text = serde_json::to_string(&tally).unwrap();
    assert_eq!(serde_json::from_str::<AccountTally>(&text).unwrap(), tally);
    let foreign = "[[976,[[1,0,0,0],[0,0,0,0,0,0,0,0,0]]]]";
    assert!(serde_json::from_str::<AccountTally>(foreign).is_err());
    let many = format!("[{}]", vec!["[1,[[1,0,0,0],[0,0,0,0,0,0,0,0,0]]]"; 977].join(","));
    assert!(serde_json::from_str::<AccountTally>(&many).is_err());
}

/// Rounding of averages must not make a part negative that only slower exchanges have.
#[test]
fn no_part_of_an_account_is_negative() {
    let mut random = Random::new(3, 0);
    for _ in 0..2_000 {
        let all: Vec<_> = (0..1 + random.below(6))
            .map(|_| PerPart {
                connect: random.below(2) * random.below(30_000),
                ..exchange(random.below(400_000), random.below(2) * random.below(9_000))
            })
            .collect();
        let (tally, totals) = account(&all);
        for (share, at) in [(0.5, totals.len() / 2), (0.99, totals.len() - 1), (0.5, 0)] {
            let found = tally.around(share, totals[at] as f64).unwrap();
            assert!(found.parts.iter().all(|(_, ns)| *ns >= 0.0), "{all:?} {found:?}");
        }
    }
}

#[test]
fn an_exchange_on_an_open_connection_is_recorded_alike_either_way() {
    let mut random = Random::new(3, 0);
    let (mut whole, mut usual) = (AccountTally::default(), AccountTally::default());
    for _ in 0..1_000 {
        let [queue, send, wait, transfer] =
            [1_000, 2_000, 30_000_000, 50_000].map(|most| random.below(most));
        whole.record(&PerPart { queue, send, wait, transfer, ..PerPart::default() }, 0);
        usual.record_usual([queue, send, wait, transfer]);
    }
    assert_eq!(whole, usual);
}
