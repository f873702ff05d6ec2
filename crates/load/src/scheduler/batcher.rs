//! Freed permits that are given out in groups, so that requests which share a connection leave
//! together.
//!
//! A closed loop with many exchanges on each connection, begun one by one as responses come, ends in
//! a pattern where nearly every response is read by itself and every request sent by itself: the
//! kernel's work for each outweighs all else, on both sides. What waits here has not begun, so no
//! time is measured wrong by it; only a small share of the permits is unused.

/// One in so many of a worker's permits may wait for others.
const SHARE: usize = 16;
/// The most that are given out together: more saves nothing.
const MOST: usize = 16;
/// How long a group may take to fill, in nanoseconds. More than a tick of the kernel's clock, since
/// a timer before that costs as much as is saved. Where it runs out, responses are too rare for
/// groups, and there are none for a while.
const PATIENCE: u64 = 10_000_000;
/// The first such while, in nanoseconds. Each time it happens again it doubles.
const PAUSE: u64 = 1_000_000_000;

/// The permits that wait to be given out.
#[derive(Debug)]
pub(super) struct Batcher {
    /// How many make a group.
    group: usize,
    waiting: usize,
    /// When those that wait have waited long enough.
    until: u64,
    /// No groups are made before.
    paused_until: u64,
    pause: u64,
}

impl Batcher {
    /// Every permit is given out at once.
    pub(super) fn none() -> Batcher {
        Batcher { group: 1, waiting: 0, until: 0, paused_until: 0, pause: PAUSE }
    }

    /// For a worker with that many permits.
    pub(super) fn of(permits: usize) -> Batcher {
        Batcher { group: (permits / SHARE).clamp(1, MOST), ..Batcher::none() }
    }

    /// A permit was given back at `now`: how many may be taken.
    pub(super) fn add(&mut self, now: u64) -> usize {
        if self.waiting == 0 {
            self.until = now.saturating_add(PATIENCE);
        }
        self.waiting += 1;
        let all = self.waiting >= self.group || now < self.paused_until;
        if all { self.take() } else { 0 }
    }

    /// How many may be taken that no longer wait at `now`.
    pub(super) fn wake(&mut self, now: u64) -> usize {
        if self.waiting == 0 || now < self.until {
            return 0;
        }
        self.paused_until = now.saturating_add(self.pause);
        self.pause = self.pause.saturating_mul(2);
        self.take()
    }

    /// All that wait: nothing is there any more to wait for.
    pub(super) fn take(&mut self) -> usize {
        std::mem::take(&mut self.waiting)
    }

    /// When those that wait are to be taken at the latest.
    pub(super) fn next(&self) -> Option<u64> {
        (self.waiting > 0).then_some(self.until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_given_out_when_it_is_whole() {
        let mut batcher = Batcher::of(48);
        assert_eq!([batcher.add(1), batcher.add(2), batcher.add(3)], [0, 0, 3]);
        assert_eq!(batcher.next(), None);
        assert_eq!(batcher.add(4), 0);
        assert_eq!(batcher.next(), Some(4 + PATIENCE));
    }

    #[test]
    fn few_places_make_no_groups_and_many_no_large_ones() {
        assert_eq!(Batcher::of(31).add(0), 1);
        assert_eq!(Batcher::of(32).add(0), 0);
        let mut many = Batcher::of(1_000_000);
        let given: Vec<_> = (0..MOST).map(|_| many.add(0)).collect();
        assert_eq!(given.iter().sum::<usize>(), MOST);
        assert_eq!(given.last(), Some(&MOST));
    }

    #[test]
    fn where_groups_do_not_fill_there_are_none_for_longer_and_longer() {
        let mut batcher = Batcher::of(64);
        let mut now = 0;
        for pause in [PAUSE, 2 * PAUSE, 4 * PAUSE] {
            assert_eq!(batcher.add(now), 0);
            now += PATIENCE;
            assert_eq!([batcher.wake(now - 1), batcher.wake(now)], [0, 1]);
            assert_eq!(batcher.add(now + pause - 1), 1);
            now += pause;
        }
        assert_eq!(batcher.add(now), 0);
    }
}
