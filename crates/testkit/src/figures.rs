//! Access to the counters of a run.

use std::sync::{Mutex, MutexGuard, PoisonError};

use sixmark_result::result::RunResult;
use sixmark_tally::family_result::FamilyResult;
use sixmark_units::family::Family;

use crate::json;

/// Locks out other tests with thousands of connections. Together they would need more ports and
/// descriptors than many machines have.
pub fn take_turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the result of `sixmark run` with these arguments.
pub fn run(arguments: &[&str]) -> RunResult {
    serde_json::from_value(json(arguments)).unwrap()
}

/// Returns a family's figures, which must be present.
pub fn of(result: &RunResult, family: Family) -> &FamilyResult {
    result.families.of(family).unwrap_or_else(|| panic!("no figures of {family}"))
}

/// Returns the number of requests with this outcome.
pub fn outcome(figures: &FamilyResult, name: &str) -> u64 {
    figures.outcomes.get(name).copied().unwrap_or(0)
}

/// Asserts that `count` requests were sent and that all of them ended NORMAL.
pub fn assert_normal(figures: &FamilyResult, count: u64) {
    let normal = (figures.requests.sent, outcome(figures, "NORMAL"));
    assert_eq!(normal, (count, count), "{:?}", figures.failures);
}
