//! Conversion of the kernel's timestamps, which are times of CLOCK_REALTIME, to CLOCK_MONOTONIC.
//!
//! The two clocks share a timekeeper and are slewed together, so that the offset between them is
//! constant until the clock is set. The offset is measured periodically to detect that.

use crate::clock;

/// The time between two measurements of the offset, nanoseconds.
const PERIOD_NS: u64 = 100_000_000;
/// The number of readings in a measurement, of which the shortest is used.
const READINGS: usize = 8;
/// An offset that changes by more than this within a second counts as set, nanoseconds.
const STEP: u64 = 50_000;
/// A timestamp further ahead than this is rejected, nanoseconds. The two clocks are read one after
/// the other, so that a small difference is normal.
const AHEAD_NS: u64 = 1_000;

/// The offset between the two clocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Realtime {
    /// CLOCK_REALTIME minus CLOCK_MONOTONIC, nanoseconds.
    offset: i128,
    measured: u64,
    steps: u64,
}

/// A reading of CLOCK_REALTIME between two readings of CLOCK_MONOTONIC.
#[derive(Clone, Copy, Debug)]
struct Reading {
    before: u64,
    real: u64,
    after: u64,
}

impl Realtime {
    /// Measures the offset.
    pub(crate) fn new() -> Realtime {
        let reading = read_both_clocks();
        Realtime { offset: reading.offset(), measured: reading.after, steps: 0 }
    }

    /// Measures the offset again if the last measurement is older than [`PERIOD_NS`].
    pub(crate) fn keep(&mut self, now: u64) {
        if now.saturating_sub(self.measured) >= PERIOD_NS {
            self.take(read_both_clocks());
        }
    }

    /// Converts a timestamp to CLOCK_MONOTONIC; 0 for a time before the boot.
    pub(crate) fn monotonic(&self, real: u64) -> u64 {
        u64::try_from(i128::from(real) - self.offset).unwrap_or(0)
    }

    /// Converts a timestamp to CLOCK_MONOTONIC. Returns `None` if it is absent or lies in the future,
    /// because the clock was set.
    pub(crate) fn believe(&self, real: Option<u64>) -> Option<u64> {
        let (at, now) = (self.monotonic(real?), clock::now());
        (at <= now + AHEAD_NS).then(|| at.min(now))
    }

    /// Returns the number of times that the clock was set.
    pub(crate) fn steps(&self) -> u64 {
        self.steps
    }

    fn take(&mut self, reading: Reading) {
        let (offset, seconds) = (reading.offset(), (reading.after - self.measured) / 1_000_000_000);
        let moved = (offset - self.offset).unsigned_abs();
        // A reading that was interrupted is less accurate than the previous one.
        let doubt = u128::from(reading.after - reading.before) / 2;
        if moved > u128::from(STEP * (seconds + 1)) + doubt {
            self.steps += 1;
        } else if doubt > u128::from(STEP) {
            return;
        }
        (self.offset, self.measured) = (offset, reading.after);
    }
}

impl Reading {
    fn offset(self) -> i128 {
        i128::from(self.real) - i128::from(self.before + (self.after - self.before) / 2)
    }
}

fn read_both_clocks() -> Reading {
    let once = || {
        let before = clock::now();
        let real = clock::real();
        Reading { before, real, after: clock::now() }
    };
    let first = once();
    let others = (1..READINGS).map(|_| once());
    others.fold(first, |best, next| {
        if next.after - next.before < best.after - best.before { next } else { best }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn at(before: u64, real: u64, after: u64) -> Reading {
        Reading { before, real, after }
    }

    fn started() -> Realtime {
        Realtime { offset: i128::from(100 * SECOND), measured: SECOND, steps: 0 }
    }

    #[test]
    fn converts_a_timestamp_to_the_monotonic_clock() {
        let realtime = started();
        assert_eq!(realtime.monotonic(103 * SECOND), 3 * SECOND);
        assert_eq!(realtime.monotonic(SECOND), 0);
    }

    #[test]
    fn detects_a_clock_step_and_follows_the_clock() {
        for real in [102 * SECOND + 60_000, 102 * SECOND - 60_000, 7 * SECOND] {
            let mut realtime = started();
            realtime.take(at(2 * SECOND - 20, real, 2 * SECOND + 20));
            let steps = realtime.steps();
            // 60 us within slightly more than a second are below the limit for two seconds.
            assert_eq!(steps, u64::from(real == 7 * SECOND), "{real}");
            assert_eq!(realtime.monotonic(real), 2 * SECOND);
        }
        let mut realtime = started();
        realtime.take(at(SECOND + 100, 101 * SECOND + 60_100, SECOND + 100));
        assert_eq!(realtime.steps(), 1);
    }

    #[test]
    fn ignores_an_interrupted_clock_reading() {
        let mut realtime = started();
        realtime.take(at(2 * SECOND, 102 * SECOND + 400_000, 2 * SECOND + 500_000));
        assert_eq!((realtime.steps(), realtime.offset), (0, i128::from(100 * SECOND)));
    }

    /// However long the machine stands still between two readings: the error of an offset is at most
    /// half the duration of its measurement, and the kernel slews the two clocks apart by at most
    /// one part in 2,000 of the time since (adjtimex(2), 500 ppm).
    #[test]
    fn conversion_agrees_with_the_clocks_of_this_machine() {
        let reading = read_both_clocks();
        let (offset, measured) = (reading.offset(), reading.after);
        let realtime = Realtime { offset, measured, steps: 0 };
        let (before, stamp, after) = (clock::now(), clock::real(), clock::now());
        let doubt = (reading.after - reading.before) / 2 + 1;
        let slewed = (after - reading.before) / 2_000;
        let around = before - doubt - slewed..=after + doubt + slewed;
        let found = realtime.monotonic(stamp);
        assert!(around.contains(&found), "{found} is not in {around:?}");
    }

    #[test]
    fn rejects_a_timestamp_from_the_future() {
        let (realtime, now) = (Realtime::new(), clock::real());
        assert!(realtime.believe(Some(now)).is_some());
        assert_eq!(realtime.believe(Some(now + 60 * SECOND)), None);
        assert_eq!(realtime.believe(None), None);
    }

    #[test]
    fn measures_the_offset_again_only_after_a_period() {
        let mut realtime = Realtime::new();
        let first = realtime.measured;
        realtime.keep(first + PERIOD_NS - 1);
        assert_eq!(realtime.measured, first);
        // A reading that was interrupted is not taken; some reading is not.
        let begin = clock::now();
        while realtime.measured == first && clock::now() < begin + 300 * SECOND {
            realtime.keep(first + PERIOD_NS);
        }
        assert!(realtime.measured > first);
    }
}
