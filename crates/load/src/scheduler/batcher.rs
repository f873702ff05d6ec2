//! Freed concurrency slots that are given out in groups, so that requests which share a connection
//! are sent together.
//!
//! A closed loop with many exchanges on each connection, started one by one as responses arrive,
//! settles into a state where nearly every response is read separately and every request is sent
//! separately. The kernel's work for each then outweighs everything else, on both sides. Exchanges
//! that wait here have not started, so no measured time is distorted; only a small share of the
//! concurrency slots is unused.

/// At most one in this many of a worker's concurrency slots may wait for others.
const SHARE: usize = 16;
/// Maximum size of a group. Larger ones save nothing more.
const MOST: usize = 16;
/// Maximum time that a group may take to fill, in nanoseconds. It is longer than a tick of the
/// kernel's clock, since a timer shorter than that costs as much as is saved. If it expires,
/// responses are too rare for groups, and none are formed for a while.
const PATIENCE_NS: u64 = 10_000_000;
/// The first such pause, in nanoseconds. It doubles each time.
const PAUSE_NS: u64 = 1_000_000_000;

/// The concurrency slots that wait to be given out.
#[derive(Debug)]
pub(super) struct Batcher {
    /// The number of concurrency slots in a group.
    group: usize,
    pending: usize,
    /// The time at which the waiting concurrency slots are given out in any case.
    until: u64,
    /// No groups are formed before this time.
    paused_until: u64,
    pause: u64,
}

impl Batcher {
    /// Creates a batcher that gives out every concurrency slot at once.
    pub(super) fn none() -> Batcher {
        Batcher { group: 1, pending: 0, until: 0, paused_until: 0, pause: PAUSE_NS }
    }

    /// Creates the batcher of a worker with this number of concurrency slots.
    pub(super) fn of(concurrency_slots: usize) -> Batcher {
        Batcher { group: (concurrency_slots / SHARE).clamp(1, MOST), ..Batcher::none() }
    }

    /// Adds a concurrency slot that was given back at `now`. Returns how many may be taken.
    pub(super) fn add(&mut self, now: u64) -> usize {
        if self.pending == 0 {
            self.until = now.saturating_add(PATIENCE_NS);
        }
        self.pending += 1;
        let all = self.pending >= self.group || now < self.paused_until;
        if all { self.take() } else { 0 }
    }

    /// Returns how many may be taken because they have waited long enough at `now`.
    pub(super) fn wake(&mut self, now: u64) -> usize {
        if self.pending == 0 || now < self.until {
            return 0;
        }
        self.paused_until = now.saturating_add(self.pause);
        self.pause = self.pause.saturating_mul(2);
        self.take()
    }

    /// Takes all that wait, because there is nothing more to wait for.
    pub(super) fn take(&mut self) -> usize {
        std::mem::take(&mut self.pending)
    }

    /// Returns when the waiting concurrency slots are to be taken at the latest.
    pub(super) fn next(&self) -> Option<u64> {
        (self.pending > 0).then_some(self.until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_a_group_when_it_is_complete() {
        let mut batcher = Batcher::of(48);
        assert_eq!([batcher.add(1), batcher.add(2), batcher.add(3)], [0, 0, 3]);
        assert_eq!(batcher.next(), None);
        assert_eq!(batcher.add(4), 0);
        assert_eq!(batcher.next(), Some(4 + PATIENCE_NS));
    }

    #[test]
    fn does_not_group_few_slots_and_limits_the_size_of_groups() {
        assert_eq!(Batcher::of(31).add(0), 1);
        assert_eq!(Batcher::of(32).add(0), 0);
        let mut many = Batcher::of(1_000_000);
        let given: Vec<_> = (0..MOST).map(|_| many.add(0)).collect();
        assert_eq!(given.iter().sum::<usize>(), MOST);
        assert_eq!(given.last(), Some(&MOST));
    }

    #[test]
    fn pauses_grouping_for_doubling_times_if_groups_do_not_fill() {
        let mut batcher = Batcher::of(64);
        let mut now = 0;
        for pause in [PAUSE_NS, 2 * PAUSE_NS, 4 * PAUSE_NS] {
            assert_eq!(batcher.add(now), 0);
            now += PATIENCE_NS;
            assert_eq!([batcher.wake(now - 1), batcher.wake(now)], [0, 1]);
            assert_eq!(batcher.add(now + pause - 1), 1);
            now += pause;
        }
        assert_eq!(batcher.add(now), 0);
    }
}
