//! Times that a test needs on a fast machine, and on a slow one.

use std::fmt::Debug;

/// Short times, since a machine that stood still once need not do so again, and longer ones. The
/// last one is needed by a broken build alone.
pub const TIMES: [&str; 6] = ["500ms", "500ms", "500ms", "500ms", "5s", "50s"];

/// Asserts that `run` returns `expected` with one of [`TIMES`] as its timeout or duration. The
/// first one does, unless the machine stands still meanwhile, or is so slow that what has to happen
/// within it happens later.
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
