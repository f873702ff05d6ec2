//! A family of whose exchanges not one is answered, in a load of so many: it would last for as many
//! timeouts.

use sixmark_record::outcome::Outcome;
use sixmark_record::plan::LoadPlan;
use sixmark_record::tally::FamilyTally;
use sixmark_units::family::{Family, PerFamily};

use crate::LONGEST_SILENCE;
use crate::reachability::Reachability;

/// Fewer exchanges prove nothing.
const LEAST: u64 = 2;

/// What is known of those who say nothing.
#[derive(Debug)]
pub(crate) struct Silence {
    /// Connections established, and attempts that failed, warm-up included.
    established: u64,
    unestablished: u64,
    /// Where nobody ever took a connection: so many attempts are enough, and they have been made.
    enough: u64,
    hopeless: bool,
    /// The load ends with the last of so many exchanges.
    counted: bool,
    /// When the first began of those that came to nothing.
    since: PerFamily<u64>,
    given_up: PerFamily<bool>,
}

impl Silence {
    /// Nobody was asked yet. `enough` attempts to connect are.
    pub(super) fn new(load: &LoadPlan, enough: u64) -> Silence {
        let (counted, since) = (load.requests.is_some(), PerFamily::from_fn(|_| u64::MAX));
        Silence {
            established: 0,
            unestablished: 0,
            enough,
            hopeless: false,
            counted,
            since,
            given_up: PerFamily::default(),
        }
    }

    /// A connection was established.
    pub(crate) fn note_established(&mut self, reachability: &Reachability) {
        if self.established == 0 {
            reachability.note_reached();
        }
        self.established += 1;
    }

    /// A connection could not be established.
    pub(crate) fn note_unestablished(&mut self) {
        self.unestablished += 1;
    }

    /// How many connections were established.
    pub(crate) fn established(&self) -> u64 {
        self.established
    }

    /// True where no worker ever got a connection and all have tried often or long enough, which this
    /// one has for `lasted` nanoseconds.
    pub(crate) fn is_hopeless(&mut self, lasted: u64, reachability: &Reachability) -> bool {
        if self.established == 0 && self.loses_hope(lasted) {
            reachability.note_given_up();
        }
        self.hopeless && reachability.is_unreachable()
    }

    /// True the first time that there were enough attempts in `lasted` nanoseconds.
    fn loses_hope(&mut self, lasted: u64) -> bool {
        let long = self.unestablished >= LEAST && lasted >= LONGEST_SILENCE;
        let lost = long || self.unestablished >= self.enough;
        lost && !std::mem::replace(&mut self.hopeless, true)
    }

    /// True where nothing more is sent over a family.
    pub(super) fn is_given_up(&self, family: Family) -> bool {
        self.given_up[family]
    }

    /// An exchange that had begun at `start` failed at `now`. Its family is given up where no exchange
    /// over it ever came to anything else.
    pub(crate) fn note_failure(
        &mut self,
        family: Family,
        outcome: Outcome,
        tally: &FamilyTally,
        [start, now]: [u64; 2],
    ) {
        if !means_silence(outcome) {
            return;
        }
        self.since[family] = self.since[family].min(start);
        let lasted = now.saturating_sub(self.since[family]);
        self.given_up[family] |= self.counted && lasted >= LONGEST_SILENCE && is_silent(tally);
    }
}

fn is_silent(tally: &FamilyTally) -> bool {
    let failed: u64 = tally.failures.iter().map(|(_, count)| count).sum();
    let answered = tally.completed() > 0;
    !answered && failed >= LEAST && tally.failures.iter().all(|(of, _)| means_silence(of.outcome))
}

/// Nobody there said anything.
fn means_silence(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Timeout | Outcome::Unreachable | Outcome::Refused)
}
