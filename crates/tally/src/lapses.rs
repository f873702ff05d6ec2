//! Effects of the load generator on the times of exchanges: stalls, and time spent on the contents
//! of some responses while others waited.

use serde::{Deserialize, Serialize};

use sixmark_document::untrusted::is_default;

/// Stalls and checking times of one worker, or of all, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Lapses {
    /// How often the worker was stalled, or occupied by a single task for long.
    #[serde(skip_serializing_if = "is_default")]
    pub stalls: u64,
    /// The total duration of stalls.
    #[serde(skip_serializing_if = "is_default")]
    pub stalled_ns: u64,
    /// The total time spent on decoding and checking contents.
    #[serde(skip_serializing_if = "is_default")]
    pub checking_ns: u64,
    /// The longest time spent on the content of one response.
    #[serde(skip_serializing_if = "is_default")]
    pub longest_check_ns: u64,
}

impl Lapses {
    /// Records a stall of `nanos`.
    pub fn stood_still(&mut self, nanos: u64) {
        self.stalls += 1;
        self.stalled_ns += nanos;
    }

    /// Records that checking one response took `nanos`.
    pub fn checked(&mut self, nanos: u64) {
        self.checking_ns += nanos;
        self.longest_check_ns = self.longest_check_ns.max(nanos);
    }

    /// Adds the lapses of another worker of the same load. Takes the maximum of stalls, because a
    /// cause of stalls usually affects all workers at the same time.
    pub fn add_worker(&mut self, other: &Lapses) {
        self.stalls = self.stalls.max(other.stalls);
        self.stalled_ns = self.stalled_ns.max(other.stalled_ns);
        self.add_checks(other);
    }

    /// Adds the lapses of a later load.
    pub fn add_later(&mut self, other: &Lapses) {
        self.stalls = self.stalls.saturating_add(other.stalls);
        self.stalled_ns = self.stalled_ns.saturating_add(other.stalled_ns);
        self.add_checks(other);
    }

    /// Returns what was counted since these lapses were `earlier`, for
    /// [`add_later`](Lapses::add_later): of the longest check only a new maximum.
    #[must_use]
    pub fn since(&self, earlier: &Lapses) -> Lapses {
        let longest = self.longest_check_ns;
        Lapses {
            stalls: self.stalls.saturating_sub(earlier.stalls),
            stalled_ns: self.stalled_ns.saturating_sub(earlier.stalled_ns),
            checking_ns: self.checking_ns.saturating_sub(earlier.checking_ns),
            longest_check_ns: if longest > earlier.longest_check_ns { longest } else { 0 },
        }
    }

    fn add_checks(&mut self, other: &Lapses) {
        self.checking_ns = self.checking_ns.saturating_add(other.checking_ns);
        self.longest_check_ns = self.longest_check_ns.max(other.longest_check_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_a_common_stall_of_workers_once_and_adds_those_of_later_loads() {
        let mut one = Lapses::default();
        one.stood_still(5);
        one.checked(3);
        let mut other = Lapses::default();
        other.stood_still(4);
        other.stood_still(2);
        other.checked(7);
        let (mut beside, mut after) = (one, one);
        beside.add_worker(&other);
        after.add_later(&other);
        let all = |of: Lapses| [of.stalls, of.stalled_ns, of.checking_ns, of.longest_check_ns];
        assert_eq!(all(beside), [2, 6, 10, 7]);
        assert_eq!(all(after), [3, 11, 10, 7]);
        let mut again = one;
        again.add_later(&after.since(&one));
        assert_eq!(all(again), all(after));
    }
}
