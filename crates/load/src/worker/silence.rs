//! A family of whose exchanges not one is answered, in a load of so many: it would last for as many
//! timeouts.

use sixmark_model::outcome::Outcome;
use sixmark_model::plan::Load;
use sixmark_model::tally::FamilyTally;
use sixmark_sys::driver::Driver;
use sixmark_units::family::{Family, PerFamily};

use super::Worker;
use crate::LONGEST_SILENCE;
use crate::arrivals::Turn;

/// Fewer exchanges prove nothing.
const LEAST: u64 = 2;

/// What is known of those who say nothing.
#[derive(Debug)]
pub(super) struct Silence {
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
    pub(super) fn new(load: &Load, enough: u64) -> Silence {
        let (counted, since) = (load.requests.is_some(), PerFamily::from_fn(|_| u64::MAX));
        Silence { enough, hopeless: false, counted, since, given_up: PerFamily::default() }
    }

    /// So many attempts came to nothing in `lasted` nanoseconds, and none to anything: true the first
    /// time that this is enough.
    pub(super) fn loses_hope(&mut self, attempts: u64, lasted: u64) -> bool {
        let long = attempts >= LEAST && lasted >= LONGEST_SILENCE;
        let lost = long || attempts >= self.enough;
        lost && !std::mem::replace(&mut self.hopeless, true)
    }

    pub(super) fn is_hopeless(&self) -> bool {
        self.hopeless
    }

    pub(super) fn is_given_up(&self, family: Family) -> bool {
        self.given_up[family]
    }

    /// An exchange that had begun at `start` came to nothing at `now`.
    fn note(&mut self, family: Family, tally: &FamilyTally, start: u64, now: u64) {
        self.since[family] = self.since[family].min(start);
        let lasted = now.saturating_sub(self.since[family]);
        self.given_up[family] |= self.counted && lasted >= LONGEST_SILENCE && is_silent(tally);
    }
}

impl<D: Driver> Worker<'_, D> {
    /// An exchange that had begun at `start` failed. The worker gives its family up where no exchange
    /// over it ever came to anything else.
    pub(super) fn note_silence(&mut self, family: Family, start: u64, outcome: Outcome) {
        if means_silence(outcome) {
            let now = self.driver.woke();
            self.silence.note(family, &self.record.tally[family], start, now);
        }
    }

    /// Leaves out an exchange over a family that was given up: true where it was.
    pub(super) fn leaves_out(&mut self, turn: &Turn) -> bool {
        let family = self.prepared.endpoints[turn.endpoint].family;
        let given_up = self.silence.is_given_up(family);
        if given_up && turn.counted {
            self.record.tally[family].given_up += 1;
        }
        given_up
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
