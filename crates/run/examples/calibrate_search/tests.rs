//! A few searches of each server, with fixed seeds.

use super::*;

/// Enough that a search whose brackets miss the capacity in a fifth of the cases fails.
const SEARCHES: u64 = 5;

#[test]
fn brackets_contain_the_capacity_and_equal_families_do_not_differ() {
    for (name, server, _) in SERVERS {
        let of = calibrated(server, 1.0, SEARCHES).unwrap();
        // Trials of 8 and 16 s do not see how often a pause comes that is rarer, so that such a
        // bracket may miss the capacity; but it is then not confirmed.
        let is_seen = !matches!(server, Server::Pausing(_, every_s) if every_s > 10.0);
        assert!(of.coverage() >= 0.9 || !is_seen, "{name}: {of:?}");
        assert!(of.closed - of.closed_covered <= 1.0, "{name}: {of:?}");
        assert!(of.different <= 1.0, "{name}: {of:?}");
        assert!(of.ratio_covered >= of.ratios - 1.0, "{name}: {of:?}");
    }
}

#[test]
fn distinguishes_families_that_differ_by_20_percent() {
    for (name, server, _) in &SERVERS[2..5] {
        let of = calibrated(*server, 1.2, SEARCHES).unwrap();
        assert!(of.different >= 0.8 * SEARCHES as f64, "{name}: {of:?}");
        assert!(of.closed > 0.0, "{name}: {of:?}");
    }
}

/// What fails 1 % at random is at the limit at each rate: there is no bracket to compare.
#[test]
fn leaves_a_failure_rate_at_the_limit_undecided() {
    let of = calibrated(Server::Failing(500.0, 0.01), 1.0, SEARCHES).unwrap();
    assert!(of.ratios <= 1.0 && of.different == 0.0, "{of:?}");
}
