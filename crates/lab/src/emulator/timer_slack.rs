//! The time to sleep before a frame is due. Timers fire late, so the last part is spent awake.

use std::time::Duration;

/// An estimator of how late the timers of this machine fire.
#[derive(Debug)]
pub(super) struct TimerSlack {
    /// The smoothed lateness in nanoseconds.
    late_ns: u64,
}

/// The action to take until the next frame is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    /// Stay awake.
    Awake,
    /// Sleep for this time, unless a frame arrives.
    Sleep(Duration),
    /// No frame is due: sleep until one arrives.
    Idle,
}

/// The maximum time spent awake, however late timers fire, so as not to occupy a core.
const LONGEST_NS: u64 = 50_000;
const FIRST_NS: u64 = 20_000;
/// The minimum time spent awake, used on a machine whose timers are never late.
const SHORTEST_NS: u64 = 3_000;

impl TimerSlack {
    pub(super) fn new() -> TimerSlack {
        TimerSlack { late_ns: FIRST_NS }
    }

    /// Returns the action to take if a frame is due at `due_ns`.
    pub(super) fn rest(&self, due_ns: Option<u64>, now_ns: u64) -> Rest {
        let Some(due_ns) = due_ns else { return Rest::Idle };
        match due_ns.saturating_sub(now_ns).checked_sub(self.margin_ns()) {
            None | Some(0) => Rest::Awake,
            Some(left) => Rest::Sleep(Duration::from_nanos(left)),
        }
    }

    /// Records that a sleep that ran to its end was this much late.
    pub(super) fn overslept(&mut self, late_ns: u64) {
        self.late_ns = (self.late_ns * 15 + late_ns.min(2 * LONGEST_NS)) / 16;
    }

    fn margin_ns(&self) -> u64 {
        (self.late_ns * 3 / 2).clamp(SHORTEST_NS, LONGEST_NS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_idle_when_no_frame_is_due() {
        assert_eq!(TimerSlack::new().rest(None, 7), Rest::Idle);
    }

    #[test]
    fn sleeps_until_a_margin_before_the_due_time_then_stays_awake() {
        let slack = TimerSlack::new();
        let margin = slack.margin_ns();
        let rest = slack.rest(Some(5_000_000), 1_000_000);
        assert_eq!(rest, Rest::Sleep(Duration::from_nanos(4_000_000 - margin)));
        assert_eq!(slack.rest(Some(5_000_000), 5_000_000 - margin), Rest::Awake);
        assert_eq!(slack.rest(Some(5_000_000), 9_000_000), Rest::Awake);
    }

    #[test]
    fn the_margin_follows_the_measured_oversleep_within_limits() {
        let mut slack = TimerSlack::new();
        (0..200).for_each(|_| slack.overslept(20_000));
        assert!((25_000..=30_000).contains(&slack.margin_ns()), "{slack:?}");
        (0..200).for_each(|_| slack.overslept(0));
        assert_eq!(slack.margin_ns(), SHORTEST_NS);
        (0..200).for_each(|_| slack.overslept(u64::MAX));
        assert_eq!(slack.margin_ns(), LONGEST_NS);
    }
}
