//! Pauses of a connection within responses: times without any byte that are long enough to have a cause
//! of their own, of which each is attributed to one.

use sixmark_sys::driver::TcpHandshake;

/// Shorter pauses are part of receiving: on paths as short as this they cost more to classify than they
/// take. In nanoseconds.
const SHORTEST_NS: u64 = 1_000_000;

/// What pauses of a connection are measured against. Times are in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct PauseClock {
    /// The time at which bytes were received last.
    received: u64,
    /// The shortest pause: a quarter of a round trip. A sender that waits for an acknowledgement waits
    /// for a round trip less what its flight takes to arrive, which is half a round trip if it paces
    /// its slow start (Linux sends twice the window in a round trip then).
    shortest: u64,
    /// Longer pauses are not those of a sender that waits for an acknowledgement alone.
    longest_of_flight: u64,
    /// The segments that had arrived out of order, when TCP was asked last.
    out_of_order: u32,
}

/// The pauses within a response. Times are in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PauseSums {
    /// The number of pauses of at most a round trip and a half, and how long they were.
    pub(super) flights: u32,
    pub(super) flights_ns: u64,
    /// Those during which segments arrived out of order.
    pub(super) recovery_ns: u64,
    /// All others.
    pub(super) others_ns: u64,
}

impl Default for PauseClock {
    fn default() -> PauseClock {
        PauseClock { received: 0, shortest: u64::MAX, longest_of_flight: 0, out_of_order: 0 }
    }
}

impl PauseClock {
    /// Returns the clock of a connection whose handshake took this, or `client_took` by the client's
    /// clock.
    pub(super) fn of(handshake: Option<TcpHandshake>, client_took: u64) -> PauseClock {
        let round_trip = match handshake {
            Some(TcpHandshake::Took(nanos)) => nanos,
            // A SYN that was sent again took a second and more.
            Some(TcpHandshake::SentAgain) => return PauseClock::default(),
            Some(TcpHandshake::Untimed) | None => client_took,
        };
        PauseClock {
            shortest: (round_trip / 4).max(SHORTEST_NS),
            longest_of_flight: round_trip + round_trip / 2,
            ..PauseClock::default()
        }
    }

    /// Records that bytes were received at `at`. Returns the time of those before, if there was a
    /// pause.
    #[inline]
    pub(super) fn receive(&mut self, at: u64) -> Option<u64> {
        let before = std::mem::replace(&mut self.received, at);
        (at.saturating_sub(before) >= self.shortest).then_some(before)
    }

    /// Records how many segments have arrived out of order so far. Returns true if there are more
    /// than before.
    pub(super) fn note_out_of_order(&mut self, count: u32) -> bool {
        count > std::mem::replace(&mut self.out_of_order, count)
    }

    /// Adds a pause of `ns` to those of a response. `is_recovery` says that segments arrived out of
    /// order during it.
    pub(super) fn attribute(&self, ns: u64, is_recovery: bool, sums: &mut PauseSums) {
        if ns < self.shortest {
            return;
        }
        if is_recovery {
            sums.recovery_ns += ns;
        } else if ns <= self.longest_of_flight {
            sums.flights += 1;
            sums.flights_ns += ns;
        } else {
            sums.others_ns += ns;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn pauses_are_attributed_by_their_length_and_by_what_arrived() {
        let mut clock = PauseClock::of(Some(TcpHandshake::Took(20 * MS)), 25 * MS);
        let mut sums = PauseSums::default();
        assert_eq!(clock.receive(100 * MS), Some(0));
        assert_eq!(clock.receive(104 * MS), None);
        assert_eq!(clock.receive(123 * MS), Some(104 * MS));
        for (ns, is_recovery) in [(4, false), (19, false), (19, true), (31, false), (15, false)] {
            clock.attribute(ns * MS, is_recovery, &mut sums);
        }
        let PauseSums { flights, flights_ns, recovery_ns, others_ns } = sums;
        assert_eq!((flights, flights_ns, recovery_ns, others_ns), (2, 34 * MS, 19 * MS, 31 * MS));
    }

    #[test]
    fn short_paths_and_unknown_round_trips_have_no_pauses() {
        let mut short = PauseClock::of(Some(TcpHandshake::Took(20_000)), 0);
        short.receive(MS);
        assert_eq!(short.receive(2 * MS - 1), None);
        let mut unknown = PauseClock::of(Some(TcpHandshake::SentAgain), 1_000 * MS);
        assert_eq!(unknown.receive(5_000 * MS), None);
    }

    #[test]
    fn segments_out_of_order_count_once() {
        let mut clock = PauseClock::default();
        assert_eq!(
            [0, 2, 2, 3].map(|count| clock.note_out_of_order(count)),
            [false, true, false, true]
        );
    }
}
