//! The tenths of a second that short runs report.

use std::num::NonZeroU64;
use std::time::Duration;

use sixmark_tally::tally::{Slice, SliceTally};
use sixmark_units::family::{Family, PerFamily};

use super::balance;
use super::harness::{Ran, Sim, lasting};
use super::script::{MILLI, Reply, Response, SECOND, Script, Step};

const TENTH_NS: u64 = SECOND / 10;

/// Answers after 7 ms.
fn answering() -> Script {
    Script::of_replies(|_, _| Reply::of(7 * MILLI, Step::LastBytes(Response::default().bytes())))
}

/// Runs for this time, and for this many requests if there is a number.
fn ran(millis: u64, requests: Option<u64>, tenths: bool) -> Ran {
    let mut plan = lasting(Duration::from_millis(millis));
    plan.load.warmup = Duration::from_millis(30);
    plan.load.requests = requests.and_then(NonZeroU64::new);
    let ran = Sim { tenths, ..Sim::new(plan) }.run(answering());
    balance::check(&ran);
    ran
}

fn counts(of: &PerFamily<SliceTally>) -> [(u64, u64, u64, u64); 2] {
    Family::BOTH.map(|family| {
        let of = &of[family];
        (of.sent, of.completed, of.failed, of.response.count())
    })
}

/// Asserts that the tenths of a second count what the second counts.
fn adds_up(slice: &Slice) {
    let mut sum = PerFamily::<SliceTally>::default();
    slice.tenths.iter().for_each(|tenth| sum += &tenth.families);
    assert_eq!(counts(&sum), counts(&slice.families), "{}", slice.second);
    let length: u64 = slice.tenths.iter().map(|tenth| tenth.length_ns).sum();
    assert_eq!(length, slice.length_ns, "{}", slice.second);
}

#[test]
fn each_second_of_a_short_run_has_its_tenths() {
    let found = ran(2_350, None, true);
    let slices = &found.slices;
    slices.iter().for_each(adds_up);
    let tenths: Vec<_> = slices.iter().flat_map(|slice| &slice.tenths).collect();
    assert!(tenths.iter().map(|tenth| tenth.tenth).take(23).eq(0..23), "{}", tenths.len());
    let near = |ns: u64| ns.abs_diff(TENTH_NS) < 5 * MILLI;
    assert!(tenths.iter().take(23).all(|tenth| near(tenth.length_ns)));
    let sent = |tenth: &&sixmark_tally::tally::TenthSlice| tenth.families.ipv6.sent > 0;
    assert!(tenths.iter().take(23).all(sent));
    // The same load is counted, by second as without them.
    let plain = ran(2_350, None, false);
    assert!(plain.slices.iter().all(|slice| slice.tenths.is_empty()));
    let seconds = |ran: &Ran| ran.slices.iter().map(|slice| slice.second).collect::<Vec<_>>();
    assert_eq!(seconds(&plain), seconds(&found));
    let all = |ran: &Ran| Family::BOTH.map(|family| ran.tally()[family].completed());
    let [a, b] = [all(&plain), all(&found)];
    assert!(a.iter().zip(b).all(|(a, b)| a.abs_diff(b) <= 8), "{a:?} {b:?}");
}

#[test]
fn records_no_tenths_after_ten_seconds() {
    // A number of requests may be done at any time.
    let found = ran(12_000, Some(1 << 40), true);
    let with: Vec<u64> = found.slices.iter().map(|slice| slice.tenths.len() as u64).collect();
    assert!(with.len() >= 12 && with[..10].iter().all(|&tenths| tenths == 10), "{with:?}");
    assert!(with[10..].iter().all(|&tenths| tenths == 0), "{with:?}");
    // Of a long run none are wanted.
    let long = ran(12_000, None, true);
    assert!(long.slices.iter().all(|slice| slice.tenths.is_empty()));
}
