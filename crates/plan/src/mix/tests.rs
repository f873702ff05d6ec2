use super::*;

const RATIOS: [(u32, u32); 12] = [
    (1, 1),
    (4, 1),
    (1, 4),
    (1, 0),
    (0, 1),
    (50, 50),
    (3, 7),
    (31, 33),
    (997, 13),
    (500, 501),
    (1, 1_000_000),
    (u32::MAX, u32::MAX - 1),
];

fn mix(v6: u32, v4: u32, seed: u64, total: Option<u64>) -> FamilyMix {
    FamilyMix::new(PlanRatio::new(v6, v4).unwrap(), seed, total)
}

fn count(mix: &mut FamilyMix, draws: u64) -> u64 {
    (0..draws).filter(|_| mix.draw() == Family::Ipv6).count() as u64
}

#[test]
fn every_period_has_the_ratio_exactly() {
    for (v6, v4) in RATIOS.into_iter().filter(|&(v6, _)| v6 < u32::MAX) {
        let (part, period) = PlanRatio::new(v6, v4).unwrap().lowest();
        for seed in 0..3 {
            for first in [0, 7, u64::MAX / 2 / period] {
                let mut mix = mix(v6, v4, seed, None).starting_at(first * period);
                for k in 0..(2_000 / period).max(1) {
                    assert_eq!(count(&mut mix, period), part, "{v6}:{v4} in period {first}+{k}");
                }
            }
        }
    }
}

#[test]
fn long_periods_stay_close_to_the_ratio_throughout() {
    for (v6, v4) in RATIOS {
        let mut mix = mix(v6, v4, 5, None).starting_at(12_345);
        let mut drawn = 0;
        for k in 1..=20_000u64 {
            drawn += u64::from(mix.draw() == Family::Ipv6);
            let exact = k as f64 * f64::from(v6) / (f64::from(v6) + f64::from(v4));
            assert!((drawn as f64 - exact).abs() <= 34.0, "{v6}:{v4} after {k}: {drawn}");
        }
    }
}

#[test]
fn total_per_family_is_exact_for_any_number_of_workers() {
    for (v6, v4, total, expected) in [
        (4, 1, 10_000, 8_000),
        (1, 1, 10_000, 5_000),
        (1, 1, 9_999, 5_000),
        (1, 4, 10_000, 2_000),
        (2, 1, 10_000, 6_667),
        (997, 13, 100, 99),
        (1, 1_000_000, 600_000, 1),
        (1, 1_000_000, 400_000, 0),
    ] {
        for workers in [1, 2, 3, 8, 64] {
            let drawn: u64 = (0..workers)
                .map(|worker| share_of_worker(total, workers, worker))
                .map(|(at, n)| count(&mut mix(v6, v4, 1, Some(total)).starting_at(at), n))
                .sum();
            assert_eq!(drawn, expected, "{v6}:{v4} over {workers}");
        }
    }
}

#[test]
fn sequential_and_indexed_draws_agree_for_any_number_of_workers() {
    for (v6, v4) in RATIOS {
        for total in [None, Some(2_345)] {
            let whole: Vec<Family> = {
                let mut mix = mix(v6, v4, 9, total);
                (0..2_345).map(|_| mix.draw()).collect()
            };
            for workers in 1..=8 {
                for worker in 0..workers {
                    let (at, n) = share_of_worker(2_345, workers, worker);
                    let mut in_a_row = mix(v6, v4, 9, total).starting_at(at);
                    let mut by_number = mix(v6, v4, 9, total);
                    for k in at..at + n {
                        let expected = whole[k as usize];
                        assert_eq!(in_a_row.draw(), expected, "{v6}:{v4} {k}");
                        // Forwards and backwards.
                        let other = (k * 7_919) % 2_345;
                        assert_eq!(by_number.family_at(other), whole[other as usize]);
                        assert_eq!(by_number.family_at(k), expected, "{v6}:{v4} {k}");
                    }
                }
            }
        }
    }
}

#[test]
fn family_order_repeats_for_a_seed_and_differs_between_seeds() {
    let drawn = |seed| {
        let mut mix = mix(1, 1, seed, None);
        (0..200).map(|_| mix.draw()).collect::<Vec<_>>()
    };
    let mut all: Vec<_> = (0..200).map(drawn).collect();
    assert_eq!(all[7], drawn(7));
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 200);
}

/// Every position of a period is IPv6 equally often, and adjacent pairs are as frequent as chance
/// predicts.
#[test]
fn each_position_in_a_period_is_ipv6_as_often_as_the_ratio_says() {
    for (v6, v4) in [(1u32, 1u32), (4, 1), (1, 4), (2, 3), (60, 61)] {
        let period = u64::from(v6 + v4);
        let part = f64::from(v6) / period as f64;
        let n = 20_000u64;
        let mut at = vec![0u64; period as usize];
        for seed in 0..n {
            let mut mix = mix(v6, v4, seed, None);
            for place in &mut at {
                *place += u64::from(mix.draw() == Family::Ipv6);
            }
        }
        let error = (part * (1.0 - part) / n as f64).sqrt();
        for (place, &count) in at.iter().enumerate() {
            let found = count as f64 / n as f64;
            assert!((found - part).abs() < 5.0 * error, "{v6}:{v4} at {place}: {found}");
        }
    }
}

#[test]
fn family_order_within_a_pair_is_independent_of_other_pairs() {
    let mut mix = mix(1, 1, 11, None);
    let first: Vec<bool> = (0..100_000).map(|k| mix.family_at(2 * k) == Family::Ipv6).collect();
    for apart in [1, 2, 3, 16, 31, 32, 33, 64] {
        let same = first.windows(apart + 1).filter(|pair| pair[0] == pair[apart]).count() as f64;
        let n = (first.len() - apart) as f64;
        assert!((same / n - 0.5).abs() < 0.008, "{apart} apart: {}", same / n);
    }
}

/// With a fixed order, the period of the recording itself, of any length, could be in phase with
/// it.
#[test]
fn gives_each_request_of_a_recording_both_families_by_the_ratio() {
    for (v6, v4) in [(1, 1), (4, 1), (1, 3), (1, 0), (33, 34)] {
        let sum = u64::from(v6 + v4);
        let mut mix = mix(v6, v4, 9, None);
        let mut is_v6 = |k: u64| mix.family_at(k) == Family::Ipv6;
        let all = (0..100 * sum).filter(|&k| is_v6(k)).count() as u64;
        assert_eq!(all, 100 * u64::from(v6));
        let part = f64::from(v6) / f64::from(v6 + v4);
        for requests in 2..7 {
            for request in 0..requests {
                let of = (0..20_000).filter(|k| k % requests == request);
                let (mut seen, mut found) = (0.0, 0.0);
                for k in of {
                    seen += 1.0;
                    found += f64::from(u8::from(is_v6(k)));
                }
                let error = 5.0 * (part * (1.0 - part) / seen).sqrt();
                assert!((found / seen - part).abs() <= error, "{v6}:{v4} {request}: {found}");
            }
        }
    }
}

#[test]
fn worker_shares_are_contiguous_and_add_up_to_the_total() {
    for (total, workers) in [(0, 3), (1, 3), (10, 3), (10_000, 7), (u64::MAX, 2)] {
        let mut next = 0;
        for worker in 0..workers {
            let (at, n) = share_of_worker(total, workers, worker);
            assert_eq!(at, next);
            next = at + n;
        }
        assert_eq!(next, total);
    }
}
