//! Giving up a family that gives no response at all, in a load with a fixed number of requests:
//! otherwise the load would last for that many timeouts. Also detects that nothing can be reached.

use sixmark_plan::plan::LoadPlan;
use sixmark_tally::outcome::Outcome;
use sixmark_tally::tally::FamilyTally;
use sixmark_units::family::{Family, PerFamily};

use crate::LONGEST_WITHOUT_RESPONSE_NS;
use crate::reachability::Reachability;

/// Minimum number of failures that count as an unresponsive peer.
const LEAST: u64 = 2;

/// What is known about missing responses.
#[derive(Debug)]
pub(crate) struct UnresponsivePeers {
    /// The numbers of connections established and of failed attempts, including the warm-up.
    established: u64,
    unestablished: u64,
    /// The number of failed attempts that is enough if no connection was ever established, and
    /// whether this worker has given up.
    enough: u64,
    hopeless: bool,
    /// True if the load ends after a fixed number of requests.
    counted: bool,
    /// The start of the first exchange that failed, by family.
    since: PerFamily<u64>,
    given_up: PerFamily<bool>,
}

impl UnresponsivePeers {
    /// Creates the initial state. `enough` is the number of failed attempts to connect after which
    /// a worker gives up.
    pub(super) fn new(load: &LoadPlan, enough: u64) -> UnresponsivePeers {
        let (counted, since) = (load.requests.is_some(), PerFamily::from_fn(|_| u64::MAX));
        UnresponsivePeers {
            established: 0,
            unestablished: 0,
            enough,
            hopeless: false,
            counted,
            since,
            given_up: PerFamily::default(),
        }
    }

    /// Records that a connection was established.
    pub(crate) fn note_established(&mut self, reachability: &Reachability) {
        if self.established == 0 {
            reachability.note_reached();
        }
        self.established += 1;
    }

    /// Records that a connection could not be established.
    pub(crate) fn note_unestablished(&mut self) {
        self.unestablished += 1;
    }

    /// Returns the number of connections established.
    pub(crate) fn established(&self) -> u64 {
        self.established
    }

    /// Returns true if no worker ever established a connection and all have tried often or long
    /// enough. This worker has tried for `lasted` nanoseconds.
    pub(crate) fn is_hopeless(&mut self, lasted: u64, reachability: &Reachability) -> bool {
        if self.established == 0 && self.loses_hope(lasted) {
            reachability.note_given_up();
        }
        self.hopeless && reachability.is_unreachable()
    }

    /// Returns true the first time that there were enough attempts within `lasted` nanoseconds.
    fn loses_hope(&mut self, lasted: u64) -> bool {
        let long = self.unestablished >= LEAST && lasted >= LONGEST_WITHOUT_RESPONSE_NS;
        let lost = long || self.unestablished >= self.enough;
        lost && !std::mem::replace(&mut self.hopeless, true)
    }

    /// Returns true if nothing more is sent over a family.
    pub(super) fn is_given_up(&self, family: Family) -> bool {
        self.given_up[family]
    }

    /// Records that an exchange which began at `start` failed at `now`. Gives up its family if no
    /// exchange over it ever had another outcome.
    pub(crate) fn note_failure(
        &mut self,
        family: Family,
        outcome: Outcome,
        tally: &FamilyTally,
        [start, now]: [u64; 2],
    ) {
        if !means_unresponsive(outcome) {
            return;
        }
        self.since[family] = self.since[family].min(start);
        let lasted = now.saturating_sub(self.since[family]);
        self.given_up[family] |=
            self.counted && lasted >= LONGEST_WITHOUT_RESPONSE_NS && is_silent(tally);
    }
}

fn is_silent(tally: &FamilyTally) -> bool {
    let failed: u64 = tally.failures.iter().map(|(_, count)| count).sum();
    let answered = tally.completed() > 0;
    !answered
        && failed >= LEAST
        && tally.failures.iter().all(|(of, _)| means_unresponsive(of.outcome))
}

/// Returns true if the outcome means that the peer gave no response.
fn means_unresponsive(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Timeout | Outcome::Unreachable | Outcome::Refused)
}
