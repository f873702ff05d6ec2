//! A quick calibration with fixed seeds; the bounds are five standard errors away.

use crate::design::Design;
use crate::looks::{Looked, MOST, any_of_several};
use crate::noise::{ALL, Noise};
use crate::trials::Trial;
use crate::whole::Whole;

const TRIALS: u64 = 200;

/// Returns the largest accepted count of events whose probability is 5 %.
fn most(trials: u64) -> u64 {
    let mean = 0.05 * trials as f64;
    (mean + 5.0 * (mean * 0.95).sqrt()) as u64
}

#[test]
fn random_order_keeps_its_error_rate_under_every_noise() {
    for (name, noise) in ALL {
        for pairs in [6, 12] {
            let equal = Trial { noise, spread: 0.03, design: Design::Random, pairs, effect: 0.0 };
            let found = equal.repeated(TRIALS);
            assert!(found.different <= most(TRIALS), "{name}, {pairs}: {found:?}");
            assert!(found.trials - found.covered <= most(TRIALS), "{name}, {pairs}: {found:?}");
            let apart = Trial { effect: 0.05_f64.ln_1p(), ..equal }.repeated(TRIALS);
            assert!(apart.equivalent <= most(TRIALS), "{name}, {pairs}: {apart:?}");
        }
    }
}

#[test]
fn abba_order_keeps_its_error_rate_unless_noise_has_its_period() {
    for (name, noise) in ALL {
        let equal = Trial { noise, spread: 0.03, design: Design::Abba, pairs: 12, effect: 0.0 };
        let found = equal.repeated(TRIALS);
        // The order ABBABAAB has a period of eight blocks, and so does this noise.
        let resonant = noise == Noise::Periodic(8);
        assert_eq!(found.different > most(TRIALS), resonant, "{name}: {found:?}");
    }
}

#[test]
fn judging_after_each_pair_keeps_its_error_rate_under_every_noise() {
    for (name, noise) in ALL {
        let equal = Looked { noise, spread: 0.03, effect: 0.0, most: MOST };
        let found = equal.repeated(TRIALS);
        assert!(found.different.len() as u64 <= most(TRIALS), "{name}: {found:?}");
        assert!(found.missed <= most(TRIALS), "{name}: {found:?}");
        let apart = Looked { effect: 0.05_f64.ln_1p(), ..equal }.repeated(TRIALS);
        assert!(apart.equivalent.len() as u64 <= most(TRIALS), "{name}: {apart:?}");
        assert!(apart.missed <= most(TRIALS) && apart.opposite <= most(TRIALS), "{name}");
        assert!(any_of_several(noise, 6, 50) <= most(50), "{name}");
    }
}

#[test]
fn judging_after_each_pair_usually_decides_within_forty_pairs() {
    let real = Looked { noise: Noise::Normal, spread: 0.03, effect: 0.05, most: 40 };
    let found = real.repeated(TRIALS);
    assert!(found.different.len() as u64 * 100 >= TRIALS * 95, "{found:?}");
    let equal = Looked { effect: 0.0, ..real }.repeated(TRIALS);
    assert!(equal.equivalent.len() as u64 * 100 >= TRIALS * 95, "{equal:?}");
}

#[test]
fn usually_finds_a_real_difference_and_a_real_equivalence() {
    let (noise, design) = (Noise::Normal, Design::Random);
    let real = Trial { noise, spread: 0.03, design, pairs: 12, effect: 0.05 };
    let found = real.repeated(TRIALS);
    assert!(found.different * 10 >= TRIALS * 8, "{found:?}");
    let equal = Trial { effect: 0.0, ..real }.repeated(TRIALS);
    assert!(equal.equivalent * 10 >= TRIALS * 8, "{equal:?}");
}

#[test]
fn whole_comparisons_of_equal_sides_seldom_find_a_difference() {
    let (noise, design) = (Noise::Normal, Design::Random);
    let equal = Whole { noise, spread: 0.03, design, pairs: 10, effect: 0.0 };
    let found = equal.repeated(40);
    assert!(found.any <= most(40), "{found:?}");
    assert_eq!(found.trials, 40);
}
