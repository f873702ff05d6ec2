//! What a run counted, as tests look at it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use sixmark_model::family_result::FamilyResult;
use sixmark_model::result::RunResult;
use sixmark_units::family::Family;

use crate::json;

/// Tests with thousands of connections take turns: together they would want more ports and
/// descriptors than many machines have.
pub fn take_turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The result of `sixmark run` with these arguments.
pub fn run(arguments: &[&str]) -> RunResult {
    serde_json::from_value(json(arguments)).unwrap()
}

/// A family's figures, of which there must be some.
pub fn of(result: &RunResult, family: Family) -> &FamilyResult {
    result.families.of(family).unwrap_or_else(|| panic!("no figures of {family}"))
}

/// How many requests ended so.
pub fn outcome(figures: &FamilyResult, name: &str) -> u64 {
    figures.outcomes.get(name).copied().unwrap_or(0)
}

/// Fails unless every one of `count` requests ended NORMAL.
pub fn assert_normal(figures: &FamilyResult, count: u64) {
    let normal = (figures.requests.sent, outcome(figures, "NORMAL"));
    assert_eq!(normal, (count, count), "{:?}", figures.failures);
}
