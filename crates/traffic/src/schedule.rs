//! The times at which the messages of a flow are due.

use super::{Burst, Flow, FlowPhase, Gap, Length, Pattern, Steady};
use sixmark_units::random::Random;

/// The number of consecutive bursts without a message after which the flow is taken to have no more
/// messages. [`Flow::check`] ensures that the expected number is at most a thousandth of this.
const MOST_EMPTY: u32 = 1_000_000;

/// The due times of one flow, in ascending order. They are computed from the number of the message
/// or from the unrounded sum of random gaps, never from the time at which a message was sent, so
/// that they do not drift.
#[derive(Clone, Debug)]
pub struct FlowSchedule {
    phases: Vec<FlowPhase>,
    /// The index of the phase that `next` belongs to.
    at: usize,
    stop_ns: u64,
    left: u64,
    random: Random,
    state: State,
    next: Option<u64>,
}

/// The state of a pattern. Times are in nanoseconds from the start of all traffic.
#[derive(Clone, Debug)]
struct State {
    /// The time from which messages are counted; for random gaps, the sum of the start and all gaps
    /// so far.
    base: f64,
    /// The number of the next message, counted from `base`.
    number: u64,
    /// The start of the current burst and, in `ends`, its end; infinite without bursts.
    began: f64,
    ends: f64,
}

impl FlowSchedule {
    /// Creates the schedule of `flow`. Random gaps are derived from `seed` and the flow's number.
    pub fn new(flow: &Flow, seed: u64) -> FlowSchedule {
        let mut schedule = FlowSchedule {
            phases: flow.phases.clone(),
            at: 0,
            stop_ns: flow.stop_ns.unwrap_or(u64::MAX),
            left: flow.count.unwrap_or(u64::MAX),
            random: Random::new(seed, u64::from(flow.id)),
            state: State { base: 0.0, number: 0, began: 0.0, ends: 0.0 },
            next: None,
        };
        schedule.enter(0);
        schedule
    }

    /// Returns when the next message is due, in nanoseconds from the start of all traffic, and its
    /// size in bytes. Returns `None` after the last message.
    pub fn next(&self) -> Option<(u64, u32)> {
        let due = self.next.filter(|&due| due < self.stop_ns && self.left > 0)?;
        Some((due, self.phases.get(self.at)?.bytes))
    }

    /// Advances to the following message.
    pub fn advance(&mut self) {
        self.left = self.left.saturating_sub(1);
        self.find();
    }

    /// Starts the phase with index `at`.
    fn enter(&mut self, at: usize) {
        self.at = at;
        let Some(phase) = self.phases.get(at).copied() else {
            self.next = None;
            return;
        };
        let begin = phase.from_ns as f64;
        self.state = State { base: begin, number: 0, began: begin, ends: f64::INFINITY };
        if let Pattern::Burst(burst) = phase.pattern {
            self.state.ends = begin + self.length(&burst);
        }
        let within = phase.pattern.within();
        self.state.base += within.offset * finite(within.gap_ns());
        self.find();
    }

    /// Sets `next` to the next due time, in this phase or a later one.
    fn find(&mut self) {
        let Some(phase) = self.phases.get(self.at).copied() else { return };
        let until = self.phases.get(self.at + 1).map(|next| next.from_ns);
        let due = self.due(&phase.pattern, until.unwrap_or(self.stop_ns));
        match (due, until) {
            (Some(due), Some(until)) if due >= until => self.enter(self.at + 1),
            (None, Some(_)) => self.enter(self.at + 1),
            (due, _) => self.next = due,
        }
    }

    /// Returns the pattern's next due time. Returns `None` if its rate is 0, or if no burst before
    /// `until` has another message.
    fn due(&mut self, pattern: &Pattern, until: u64) -> Option<u64> {
        let within = pattern.within();
        if within.per_s <= 0.0 {
            return None;
        }
        let mut due = self.step(&within);
        if let Pattern::Burst(burst) = pattern {
            let mut empty = 0;
            while due >= self.state.ends {
                let beyond = due - self.state.ends;
                self.begin_burst(burst);
                empty += 1;
                if self.state.began >= until as f64 || empty > MOST_EMPTY {
                    return None;
                }
                due = if burst.carry { self.carry(beyond) } else { self.step(&within) };
            }
        }
        Some(due.round() as u64)
    }

    fn step(&mut self, steady: &Steady) -> f64 {
        let gap = steady.gap_ns();
        match steady.gap {
            Gap::Regular => {
                self.state.number += 1;
                self.state.base + (self.state.number - 1) as f64 * gap
            }
            // The first message also comes after a random gap: a Poisson process has no memory.
            Gap::Random => {
                self.state.base += self.random.exponential() * gap;
                self.state.base
            }
        }
    }

    fn begin_burst(&mut self, burst: &Burst) {
        let every = burst.every_ns.max(1) as f64;
        let gap = match burst.every {
            Gap::Regular => every,
            Gap::Random => every * self.random.exponential(),
        };
        let began = (self.state.began + gap).max(self.state.ends);
        let ends = began + self.length(burst);
        let base = began + burst.within.offset * finite(burst.within.gap_ns());
        self.state = State { base, number: 0, began, ends };
    }

    /// Returns the next due time if a burst continues the previous one.
    fn carry(&mut self, beyond: f64) -> f64 {
        self.state.base = self.state.began + beyond;
        self.state.number = 1;
        self.state.base
    }

    fn length(&mut self, burst: &Burst) -> f64 {
        let mean = burst.length_ns as f64;
        match burst.length {
            Length::Fixed => mean,
            Length::Exponential => mean * self.random.exponential(),
        }
    }
}

impl Pattern {
    fn within(&self) -> Steady {
        match self {
            Pattern::Steady(steady) => *steady,
            Pattern::Burst(burst) => burst.within,
        }
    }
}

fn finite(ns: f64) -> f64 {
    if ns.is_finite() { ns } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::super::{FlowProtocol, TrafficSide};
    use super::*;
    use sixmark_units::family::Family;

    const SECOND: u64 = 1_000_000_000;

    fn flow(pattern: Pattern, stop_ns: u64) -> Flow {
        Flow {
            id: 1,
            family: Family::Ipv6,
            protocol: FlowProtocol::Udp,
            from: TrafficSide::Near,
            phases: vec![FlowPhase { from_ns: 0, pattern, bytes: 100 }],
            stop_ns: Some(stop_ns),
            count: None,
        }
    }

    fn steady(per_s: f64, gap: Gap) -> Steady {
        Steady { per_s, gap, offset: 0.0 }
    }

    fn dues(flow: &Flow, seed: u64) -> Vec<u64> {
        let mut schedule = FlowSchedule::new(flow, seed);
        let next = || {
            let next = schedule.next();
            schedule.advance();
            next.map(|(due, _)| due)
        };
        std::iter::from_fn(next).collect()
    }

    #[test]
    fn regular_messages_do_not_drift_at_a_fractional_rate() {
        let found =
            dues(&flow(Pattern::Steady(steady(30_000.0 / 7.0, Gap::Regular)), 70 * SECOND), 0);
        assert_eq!(found.len(), 300_000);
        assert_eq!((found[0], found[30_000], found[299_970]), (0, 7 * SECOND, 69_993_000_000));
    }

    #[test]
    fn random_messages_have_the_mean_rate_and_repeat_with_their_seed() {
        let of = flow(Pattern::Steady(steady(10_000.0, Gap::Random)), 10 * SECOND);
        let (one, again, other) = (dues(&of, 7), dues(&of, 7), dues(&of, 8));
        assert_eq!(one, again);
        assert_ne!(one, other);
        // The bound is five standard deviations of a Poisson count.
        assert!(one.len().abs_diff(100_000) < 1_600, "{}", one.len());
        assert!(one.is_sorted());
    }

    #[test]
    fn sends_only_within_bursts() {
        let every_ns = SECOND;
        let within = steady(1_000.0, Gap::Regular);
        let burst = |every, length, length_ns| {
            let burst = Burst { within, every, every_ns, length, length_ns, carry: false };
            dues(&flow(Pattern::Burst(burst), 100 * SECOND), 3)
        };
        let regular = burst(Gap::Regular, Length::Fixed, SECOND / 4);
        assert_eq!(regular.len(), 100 * 250);
        assert!(regular.iter().all(|due| due % SECOND < SECOND / 4));
        let random = burst(Gap::Random, Length::Exponential, SECOND / 4);
        assert!((10_000..40_000).contains(&random.len()), "{}", random.len());
        // A burst longer than the interval is followed immediately by the next.
        assert_eq!(burst(Gap::Regular, Length::Fixed, 2 * SECOND).len(), 100_000);
    }

    #[test]
    fn a_flow_switches_to_a_new_rate_at_the_scheduled_time() {
        let mut of = flow(Pattern::Steady(steady(10.0, Gap::Regular)), 4 * SECOND);
        let phase = |from_ns, per_s| {
            let pattern = Pattern::Steady(steady(per_s, Gap::Regular));
            FlowPhase { from_ns, pattern, bytes: 200 }
        };
        of.phases.extend([phase(SECOND, 0.0), phase(2 * SECOND, 2.0)]);
        let found = dues(&of, 0);
        let late = [2 * SECOND, 5 * SECOND / 2, 3 * SECOND, 7 * SECOND / 2];
        assert_eq!((found.len(), &found[10..]), (14, &late[..]));
        of.count = Some(12);
        assert_eq!(dues(&of, 0).len(), 12);
    }

    #[test]
    fn a_rate_of_zero_schedules_no_messages() {
        for gap in [Gap::Regular, Gap::Random] {
            assert!(dues(&flow(Pattern::Steady(steady(0.0, gap)), SECOND), 0).is_empty());
        }
    }
}
