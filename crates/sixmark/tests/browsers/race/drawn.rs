//! Networks that are drawn at random, and what the machine predicts for them.

use sixmark_check::happy_eyeballs::{AddressFate, RaceOutcome, RaceProfile, RaceSetting, run_race};
use sixmark_units::family::Family;
use sixmark_units::random::Random;

/// The most addresses of a family.
const MOST: u64 = 3;
/// Races that take longer are not drawn, in milliseconds.
const LONGEST_MS: f64 = 2_500.0;
/// How much earlier and later a client's timer may be before the machine predicts another family, in
/// milliseconds: a busy machine is late.
const ALLOWANCE_MS: [f64; 2] = [-20.0, 60.0];

/// What becomes of connections to an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Answers,
    Refuses,
    Silent,
}

/// A network between a client and a server.
#[derive(Clone, Debug)]
pub(super) struct DrawnNetwork {
    /// The round trip of each family, in milliseconds.
    pub(super) round_trip_ms: [u32; 2],
    /// The addresses of each family, in the order in which clients sort them.
    pub(super) kinds: [Vec<Kind>; 2],
    /// What curl is told with --happy-eyeballs-timeout-ms.
    pub(super) head_start_ms: u32,
}

impl DrawnNetwork {
    pub(super) fn draw(random: &mut Random) -> DrawnNetwork {
        let mut below = |bound: u64| random.below(bound);
        let mut round_trip_ms = [10, 10];
        let mut kinds: [Vec<Kind>; 2] =
            [(); 2].map(|()| vec![Kind::Answers; 1 + below(MOST) as usize]);
        let added = 2 * below(301) as u32;
        match below(5) {
            // One family is slower, mostly IPv6.
            0 | 1 => round_trip_ms[usize::from(below(4) == 0)] += added,
            2 => {
                kinds[0].fill(Kind::Silent);
                round_trip_ms[1] += added;
            }
            3 => {
                kinds[0].fill(Kind::Refuses);
                round_trip_ms[0] += added;
            }
            _ => {
                kinds[0].insert(0, Kind::Silent);
                round_trip_ms[below(2) as usize] += added;
            }
        }
        DrawnNetwork { round_trip_ms, kinds, head_start_ms: 20 * (1 + below(20) as u32) }
    }

    /// Returns the number of addresses of which nothing is heard.
    pub(super) fn silent(&self) -> usize {
        self.kinds.iter().flatten().filter(|kind| **kind == Kind::Silent).count()
    }

    /// Returns what the machine predicts: the family, and the time from the first SYN on.
    pub(super) fn predict(&self, profile: RaceProfile) -> Option<RaceOutcome> {
        let of = |family: usize| {
            let round_trip = f64::from(self.round_trip_ms[family]);
            let fate = |kind: &Kind| match kind {
                Kind::Answers => AddressFate::Connects(round_trip),
                Kind::Refuses => AddressFate::Fails(round_trip),
                Kind::Silent => AddressFate::Silent,
            };
            self.kinds[family].iter().map(fate).collect()
        };
        let found = run_race(profile, &RaceSetting::of_tcp([of(0), of(1)]))?;
        (found.connected_ms <= LONGEST_MS).then_some(found)
    }

    /// Returns true if a timer that is a little early or late makes no other family win.
    pub(super) fn is_clear(&self, profile: RaceProfile) -> bool {
        let winner = |by: f64| -> Option<Family> {
            let attempt_delay_ms = (profile.attempt_delay_ms + by).max(1.0);
            self.predict(RaceProfile { attempt_delay_ms, ..profile }).map(|of| of.winner)
        };
        let [early, late] = ALLOWANCE_MS.map(winner);
        early == late
    }
}
