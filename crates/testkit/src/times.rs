//! Timeouts and durations for tests, which suit both fast and slow machines.

use std::fmt::Debug;

/// The times to try, one after the other. A machine that stalled once may not stall again, so the
/// first ones are short. Only a broken build needs the last one.
pub const TIMES: [&str; 6] = ["500ms", "500ms", "500ms", "500ms", "5s", "50s"];

/// Asserts that `run` returns `expected` with one of [`TIMES`] as its timeout or duration. Usually
/// the first one suffices. A longer one is needed if the machine stalls meanwhile, or is so slow
/// that the expected events do not happen in time.
pub fn assert_with_enough_time<T: Debug + PartialEq>(
    expected: &T,
    what: &str,
    run: impl Fn(&str) -> T,
) {
    let mut found = None;
    for time in TIMES {
        found = Some(run(time));
        if found.as_ref() == Some(expected) {
            return;
        }
    }
    assert_eq!(found.as_ref(), Some(expected), "{what}");
}
