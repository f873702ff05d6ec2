//! How long concurrency slots wait for a connection when no more may be opened.
//!
//! There are never more connections than the plan allows. A server with few slots gives them to the
//! connections that exist, including idle ones; the others would look as if their family failed.

use sixmark_units::family::Family;

use crate::recorder::Recorder;

/// Normally, idle connections are taken from a family slowly, one at a time, and its last one
/// never. If exchanges of the other family wait, and no exchange starts for this many times the
/// shortest response time, they are taken faster: the waiting exchanges may need a slot on the
/// server that an idle connection occupies.
const RESPONSES: u64 = 4;
/// Minimum and maximum of that time, in nanoseconds. The maximum also applies before the first
/// response, and after it even a family's last connection is taken.
const SHORT_STALL_NS: u64 = 5_000_000;
const LONG_STALL: u64 = 1_000_000_000;

/// Concurrency slots that wait for a connection of a family.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blocked {
    family: Family,
    concurrency_slots: usize,
    /// The start of the waiting that has not been counted yet.
    since: u64,
    /// The time since which no exchange has started.
    stalled_since: u64,
}

impl Blocked {
    /// Creates the state for `concurrency_slots` concurrency slots that wait from `now` on.
    /// `before` is the state that it replaces, if there is one.
    pub(super) fn new(
        family: Family,
        concurrency_slots: usize,
        now: u64,
        before: Option<Blocked>,
    ) -> Blocked {
        let stalled_since = before.map_or(now, |blocked| blocked.stalled_since);
        Blocked { family, concurrency_slots, since: now, stalled_since }
    }

    /// Counts the waiting until `now`.
    pub(super) fn count(&self, now: u64, recorder: &mut Recorder) {
        recorder.count_blocked(self.family, self.concurrency_slots, [self.since, now]);
    }

    /// Returns how long no exchange has started, in nanoseconds.
    pub(super) fn stalled_for(&self, now: u64) -> u64 {
        now.saturating_sub(self.stalled_since)
    }

    /// Returns when to try again, after `now`, even if nothing happens.
    pub(super) fn stalled_until(&self, now: u64, recorder: &Recorder) -> Option<u64> {
        let stalls = [patience(recorder), LONG_STALL];
        let stalls = stalls.map(|stall| self.stalled_since.saturating_add(stall));
        stalls.into_iter().find(|&until| until > now)
    }
}

/// Returns how long no exchange may start before idle connections are taken from a family faster,
/// in nanoseconds.
pub(super) fn patience(recorder: &Recorder) -> u64 {
    let shortest = Family::BOTH.into_iter().filter_map(|of| recorder.shortest_response(of)).max();
    let several = shortest.map_or(LONG_STALL, |shortest| shortest.saturating_mul(RESPONSES));
    several.clamp(SHORT_STALL_NS, LONG_STALL)
}

/// Returns true if no exchange has started for so long that even a family's last connection is
/// taken.
pub(super) fn is_long(stalled: u64) -> bool {
    stalled >= LONG_STALL
}

#[cfg(test)]
mod tests {
    use sixmark_plan::fixture::secure_plan;
    use sixmark_plan::plan::tls::PlanTls;

    use super::*;
    use crate::prepare::PreparedLoad;

    fn recorder(begin: u64) -> Recorder {
        Recorder::new(begin, 0, &PreparedLoad::new(&secure_plan(PlanTls::default())).unwrap())
    }

    #[test]
    fn does_not_count_waiting_before_the_measurement() {
        for family in Family::BOTH {
            let mut recorder = recorder(1_000);
            Blocked::new(family, 3, 400, None).count(900, &mut recorder);
            assert_eq!(recorder.counts_of(family).connections.awaited_ns, 0);
            Blocked::new(family, 3, 400, None).count(1_100, &mut recorder);
            assert_eq!(recorder.counts_of(family).connections.awaited_ns, 300);
            assert_eq!(recorder.counts_of(family.other()).connections.awaited_ns, 0);
        }
    }

    #[test]
    fn permits_that_wait_later_keep_the_start_of_the_stall() {
        let first = Blocked::new(Family::Ipv6, 1, 400, None);
        let then = Blocked::new(Family::Ipv4, 2, 700, Some(first));
        assert_eq!(then.stalled_for(1_000), 600);
        // Without a response, the patience is unknown: only a long stall ends it.
        assert_eq!(then.stalled_until(1_000, &recorder(0)), Some(400 + LONG_STALL));
        assert_eq!(then.stalled_until(400 + LONG_STALL, &recorder(0)), None);
    }
}
