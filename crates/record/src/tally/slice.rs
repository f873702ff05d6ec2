//! The counts of one second.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use super::{FamilyTally, Tally};
use crate::outcome::Outcome;
use crate::peer::is_default;
use sixmark_document::timing::Timing;
use sixmark_units::family::PerFamily;

/// The counts of one worker in one second, for live views and for the result's intervals.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Slice {
    /// The worker's number.
    #[serde(skip_serializing_if = "is_default")]
    pub worker: u32,
    /// Whole seconds from the start of the measurement to the start of this slice.
    #[serde(skip_serializing_if = "is_default")]
    pub second: u64,
    /// The time that the worker was not waiting for the kernel, in nanoseconds.
    #[serde(skip_serializing_if = "is_default")]
    pub busy_ns: u64,
    /// The length of the slice in nanoseconds.
    #[serde(skip_serializing_if = "is_default")]
    pub length_ns: u64,
    /// The counts of each family.
    #[serde(skip_serializing_if = "is_default")]
    pub families: PerFamily<SliceTally>,
    /// The number of connections that the worker has opened so far. Set only in reports before the
    /// load begins, which cover no second of it.
    #[serde(skip_serializing_if = "is_default")]
    pub opened: Option<u64>,
    /// All counts of the worker up to the end of this slice. Set only if the load asks for them.
    #[serde(skip)]
    pub whole: Option<Box<Tally>>,
}

/// The counts of one family in a slice.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SliceTally {
    /// Exchanges started.
    #[serde(skip_serializing_if = "is_default")]
    pub sent: u64,
    /// Exchanges with a complete response.
    #[serde(skip_serializing_if = "is_default")]
    pub completed: u64,
    /// Exchanges that ended without a complete response.
    #[serde(skip_serializing_if = "is_default")]
    pub failed: u64,
    /// Responses among those completed whose status is not accepted.
    #[serde(skip_serializing_if = "is_default")]
    pub unaccepted: u64,
    /// Content bytes of complete responses.
    #[serde(skip_serializing_if = "is_default")]
    pub body: u64,
    /// The durations of establishing connections.
    #[serde(skip_serializing_if = "is_default")]
    pub connect: Timing,
    /// The durations of TLS or QUIC handshakes.
    #[serde(skip_serializing_if = "is_default")]
    pub tls: Timing,
    /// The times from a request's last byte handed to the kernel to its response's first byte, of
    /// complete responses.
    #[serde(skip_serializing_if = "is_default")]
    pub wait: Timing,
    /// Response times of complete responses.
    #[serde(skip_serializing_if = "is_default")]
    pub response: Timing,
}

impl SliceTally {
    /// Returns the figures of a second, of which `counted` is the whole tally: the difference of two
    /// cumulative ones. `sent` is 0 if more exchanges were moved to the other family than started.
    pub fn of(counted: &FamilyTally) -> SliceTally {
        let outcomes = counted.outcome_counts();
        let phases = &counted.phases;
        let mut tls = counted.tls.full.clone();
        tls += &counted.tls.resumed;
        SliceTally {
            sent: counted.sent.cast_signed().max(0).cast_unsigned(),
            completed: outcomes.completed(),
            failed: outcomes.unfinished().saturating_sub(outcomes.outcome(Outcome::Abandoned)),
            unaccepted: counted.unaccepted,
            body: counted.bytes.body,
            connect: phases.connect.clone(),
            tls,
            wait: phases.wait.clone(),
            response: phases.response.clone(),
        }
    }
}

impl AddAssign<&SliceTally> for SliceTally {
    fn add_assign(&mut self, other: &SliceTally) {
        self.sent = self.sent.saturating_add(other.sent);
        self.completed = self.completed.saturating_add(other.completed);
        self.failed = self.failed.saturating_add(other.failed);
        self.unaccepted = self.unaccepted.saturating_add(other.unaccepted);
        self.body = self.body.saturating_add(other.body);
        self.connect += &other.connect;
        self.tls += &other.tls;
        self.wait += &other.wait;
        self.response += &other.response;
    }
}
