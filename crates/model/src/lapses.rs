//! What the load generator itself did to the times of exchanges: it stood still, or was occupied with the
//! contents of some while others waited.

/// What one worker, or all of them, did. Nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lapses {
    /// How often the worker did nothing, or one thing, for long.
    pub stalls: u64,
    /// For how long in all.
    pub stalled_ns: u64,
    /// How long decoding and checking contents took, in all.
    pub checking_ns: u64,
    /// How long it took of one response, at most.
    pub longest_check_ns: u64,
}

impl Lapses {
    /// The worker came back after so long.
    pub fn stood_still(&mut self, nanos: u64) {
        self.stalls += 1;
        self.stalled_ns += nanos;
    }

    /// Checking one response took so long.
    pub fn checked(&mut self, nanos: u64) {
        self.checking_ns += nanos;
        self.longest_check_ns = self.longest_check_ns.max(nanos);
    }

    /// Another worker's of the same load: what stops one usually stops all, at the same time.
    pub fn add_worker(&mut self, other: &Lapses) {
        self.stalls = self.stalls.max(other.stalls);
        self.stalled_ns = self.stalled_ns.max(other.stalled_ns);
        self.add_checks(other);
    }

    /// Those of a load that came after.
    pub fn add_later(&mut self, other: &Lapses) {
        self.stalls += other.stalls;
        self.stalled_ns += other.stalled_ns;
        self.add_checks(other);
    }

    fn add_checks(&mut self, other: &Lapses) {
        self.checking_ns += other.checking_ns;
        self.longest_check_ns = self.longest_check_ns.max(other.longest_check_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stopped_all_workers_is_one_stall_and_loads_after_one_another_have_theirs() {
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
    }
}
