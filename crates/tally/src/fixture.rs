//! Figures of families for tests, which are easy to verify by hand.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::counted::family_result;
use crate::family_result::FamilyResult;
use crate::outcome::{Failure, FailurePhase, Outcome};
use crate::tally::FamilyTally;

/// Returns 990 complete responses in one second, each of `response_ns` nanoseconds and 1,000 bytes,
/// and 10 resets. No connection was opened, there was no TLS, and the loop was closed.
pub fn side(response_ns: u64) -> FamilyResult {
    let mut tally = FamilyTally { sent: 1_000, ..FamilyTally::default() };
    tally.status.add(200, 990);
    tally.bytes.body = 990_000;
    tally.failures.add(Failure::new(Outcome::Reset, FailurePhase::Wait), 10);
    (0..990).for_each(|_| tally.phases.response.record(response_ns));
    family_result(&tally, Vec::new(), 1.0, false)
}

/// Returns the result of a family without any exchange.
pub fn silent() -> FamilyResult {
    family_result(&FamilyTally::default(), Vec::new(), 1.0, false)
}
