//! How long the driver may batch completions in a closed loop.

use sixmark_plan::plan::timestamps::Timestamps;
use sixmark_sys::driver::{CompletionBatch, Driver};
use sixmark_tally::tally::SliceTally;
use sixmark_units::family::PerFamily;

use super::Worker;

/// Number of requests handed to the kernel together in a closed loop. More would save little, and
/// the timestamps of the last ones would be too early.
const TOGETHER: usize = 8;
/// Maximum time for which completions are batched in a closed loop without `--linger`, in
/// nanoseconds.
const LONGEST_LINGER_NS: u64 = 200_000;
/// Minimum of that time, in nanoseconds. A shorter timer costs more than it saves.
const SHORTEST_LINGER_NS: u64 = 20_000;
/// The part of that time where exchanges share a connection that does not depend on the wait, in
/// nanoseconds. So short a timer costs the client CPU time, but saves the server's.
const SHARED_LINGER_NS: u64 = 4_000;
/// Time between two looks at what the time should be, in nanoseconds.
const INTERVAL_NS: u64 = 100_000_000;
/// Minimum number of responses by which it is set.
const FEWEST: u64 = 50;

impl<D: Driver> Worker<'_, D> {
    /// Sets how much the driver may batch at first: there is no response yet by which it could
    /// linger.
    pub(super) fn set_first_batch(&mut self) {
        self.batch_due = self.recorder.begin() + INTERVAL_NS;
        self.network.driver.keep_to(self.batch(0));
    }

    /// Every tenth of a second, sets how much the driver may batch by the responses of the current
    /// second, if there are enough.
    pub(super) fn keep_batch(&mut self, now: u64) {
        if now < self.batch_due {
            return;
        }
        // Tenths of the second that are recorded end at the same times, but after this.
        let begin = self.recorder.begin();
        self.batch_due = begin + (now.saturating_sub(begin) / INTERVAL_NS + 1) * INTERVAL_NS;
        let families = self.recorder.current();
        if families.iter().map(|(_, of)| of.wait.count()).sum::<u64>() >= FEWEST {
            let shared = self.prepared.plan.http.streams.get() > 1 && !self.network.is_over_quic();
            self.network.driver.keep_to(self.batch(unnoticed_linger(families, shared)));
        }
    }

    /// Returns how much the driver may batch: nothing in an open loop. In a closed loop it may delay
    /// completions for as long as the plan sets or, by default, by `unnoticed` nanoseconds, unless
    /// times are the kernel's.
    fn batch(&self, unnoticed: u64) -> CompletionBatch {
        if self.scheduler.is_timed() {
            return CompletionBatch { sends: 1, linger: 0 };
        }
        let load = &self.prepared.plan.load;
        let linger = match (load.linger, load.timestamps) {
            (Some(linger), _) => linger.as_nanos() as u64,
            (None, Timestamps::User) => unnoticed,
            (None, Timestamps::Kernel) => 0,
        };
        CompletionBatch { sends: TOGETHER, linger }
    }
}

/// Returns for how many nanoseconds completions may be delayed beside the times in `families`: a
/// hundredth of the shortest response or, where exchanges share a TCP connection, 4 us and a
/// twenty-fifth of the median wait. There, a server reads together what the client sends together:
/// a client that wakes up for each response makes it slower.
fn unnoticed_linger(families: &PerFamily<SliceTally>, shared: bool) -> u64 {
    let families = families.iter().map(|(_, family)| family);
    let unnoticed = if shared {
        let wait = families.filter_map(|of| of.wait.quantile(0.5)).min();
        wait.map_or(0, |wait| SHARED_LINGER_NS + wait / 25)
    } else {
        let shortest = families.filter_map(|of| of.response.min()).min();
        Some(shortest.unwrap_or(0) / 100)
            .filter(|&linger| linger >= SHORTEST_LINGER_NS)
            .unwrap_or(0)
    };
    unnoticed.min(LONGEST_LINGER_NS)
}

#[cfg(test)]
mod tests {
    use sixmark_units::family::Family;

    use super::*;

    /// Counts of both families, with the waits and responses of `us` microseconds over IPv6 and of
    /// twice that over IPv4.
    fn families(us: &[u64]) -> PerFamily<SliceTally> {
        let mut families: PerFamily<SliceTally> = PerFamily::default();
        for (family, factor) in [(Family::Ipv6, 1_000), (Family::Ipv4, 2_000)] {
            for time in us {
                families[family].wait.record(time * factor);
                families[family].response.record(time * factor);
            }
        }
        families
    }

    /// The times are at most a thousandth off in a histogram.
    fn assert_near(linger: u64, expected: u64) {
        assert!(linger.abs_diff(expected) <= expected / 500, "{linger} is not {expected}");
    }

    #[test]
    fn a_shared_connection_lingers_by_the_faster_familys_median_wait() {
        assert_near(unnoticed_linger(&families(&[10, 100, 100, 100, 9_000]), true), 8_000);
        assert_near(unnoticed_linger(&families(&[25]), true), 5_000);
        assert_eq!(unnoticed_linger(&families(&[90_000]), true), LONGEST_LINGER_NS);
        assert_eq!(unnoticed_linger(&families(&[]), true), 0);
    }

    #[test]
    fn an_unshared_connection_lingers_by_the_shortest_response() {
        assert_near(unnoticed_linger(&families(&[3_000, 9_000]), false), 30_000);
        assert_eq!(unnoticed_linger(&families(&[1_900, 9_000]), false), 0);
        assert_eq!(unnoticed_linger(&families(&[90_000]), false), LONGEST_LINGER_NS);
        assert_eq!(unnoticed_linger(&families(&[]), false), 0);
    }
}
