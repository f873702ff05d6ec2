//! Tallies of a peer: what is refused is told in one line, and what is read is written so that it
//! reads the same, can be merged without an overflow, and has a difference and figures.

use sixmark_tally::tally::{SliceTally, Tally};
use sixmark_tally::tally_part::TallyPart;

/// Reads an input. Panics where what this module says does not hold.
pub fn check(input: &[u8]) {
    let mut tally: Tally = match serde_json::from_slice(input) {
        Ok(tally) => tally,
        Err(wrong) => return assert!(!wrong.to_string().contains(['\n', '\r']), "{wrong}"),
    };
    let written = serde_json::to_vec(&tally).unwrap_or_default();
    let read: Tally = serde_json::from_slice(&written).unwrap_or_default();
    assert_eq!(read, tally);
    (0..4).for_each(|_| tally += &read);
    let since = tally.ipv6.since(&read.ipv6);
    SliceTally::of(&since);
    for of in [&mut tally.ipv6, &mut tally.ipv4] {
        of.classify_in_flight();
        of.outcome_counts().by_name();
        of.failed();
        of.phases.response.summary();
    }
}
