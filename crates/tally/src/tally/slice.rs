//! The counts of one second.

use std::ops::AddAssign;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Connections, EndpointTally, FamilyTally, Tally};
use crate::outcome::{Failure, Outcome, OutcomeCounts};
use sixmark_document::timing::Timing;
use sixmark_document::untrusted::is_default;
use sixmark_units::counts::Counts;
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
    /// What a live view shows of the counts of the worker up to the end of this slice. `None` in
    /// reports of an agent of a fleet.
    #[serde(skip)]
    pub running: Option<Box<RunningCounts>>,
    /// The agent that reports this, if the load is that of a fleet.
    #[serde(skip)]
    pub agent: Option<Arc<str>>,
    /// True if the worker has ended: it reports no further slice.
    #[serde(skip)]
    pub is_last: bool,
    /// The parts of this slice by tenths of a second. Set only if the load asks for them, and only
    /// in its first 10 s.
    #[serde(skip)]
    pub tenths: Vec<TenthSlice>,
}

/// What a worker has counted from the start of the measurement to the end of a slice, for live
/// views: counts without durations, which are small.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunningCounts {
    /// The counts of each family.
    pub families: PerFamily<RunningTally>,
    /// Complete responses and failures of each address, by the numbers of the plan's endpoints; of
    /// the first 64 only.
    pub endpoints: Vec<[u64; 2]>,
    /// The age of the oldest exchange in flight at the end of the slice, in nanoseconds; 0 if there
    /// is none.
    pub oldest_ns: u64,
}

/// The most addresses whose counts are reported each second.
const MOST_RUNNING: usize = 64;

impl RunningCounts {
    /// Returns these counts of a tally.
    pub fn of(tally: &Tally, oldest_ns: u64) -> RunningCounts {
        let [v6, v4] = [&tally.ipv6.endpoints, &tally.ipv4.endpoints];
        let most = v6.len().max(v4.len()).min(MOST_RUNNING);
        let counted = |of: &EndpointTally| {
            let EndpointTally { status, failures, unaccepted, .. } = of;
            let counts = OutcomeCounts { status, failures, unaccepted: *unaccepted };
            [counts.completed(), counts.failed()]
        };
        // Each endpoint has one family.
        let at = |number: usize| {
            let both = [v6.get(number), v4.get(number)].map(|of| of.map_or([0; 2], counted));
            [both[0][0] + both[1][0], both[0][1] + both[1][1]]
        };
        RunningCounts {
            families: PerFamily::from_fn(|family| RunningTally::of(&tally[family])),
            endpoints: (0..most).map(at).collect(),
            oldest_ns,
        }
    }
}

/// What a worker has counted of one family.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunningTally {
    /// Complete responses by their status.
    pub status: Counts<u16>,
    /// The other exchanges that ended, by the kind of failure.
    pub failures: Counts<Failure>,
    /// Numbers of connections.
    pub connections: Connections,
}

impl RunningTally {
    /// Returns these counts of a tally.
    pub fn of(counted: &FamilyTally) -> RunningTally {
        RunningTally {
            status: counted.status.clone(),
            failures: counted.failures.clone(),
            connections: counted.connections,
        }
    }

    /// Returns the number of complete responses with this status.
    pub fn status_count(&self, status: u16) -> u64 {
        self.status.iter().filter(|(of, _)| *of == status).map(|(_, count)| count).sum()
    }

    /// Returns the number of exchanges that ended with this outcome.
    pub fn outcome(&self, outcome: Outcome) -> u64 {
        let RunningTally { status, failures, .. } = self;
        OutcomeCounts { status, failures, unaccepted: 0 }.outcome(outcome)
    }
}

impl AddAssign<&RunningTally> for RunningTally {
    fn add_assign(&mut self, other: &RunningTally) {
        self.status += &other.status;
        self.failures += &other.failures;
        self.connections += &other.connections;
    }
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
    /// Exchanges that failed: see [`OutcomeCounts::failed`].
    #[serde(skip_serializing_if = "is_default")]
    pub failed: u64,
    /// Responses among those completed whose status is not accepted. They are among `failed`, too.
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
    /// Returns the number of exchanges whose result is known, of which those that failed are a
    /// share: all that ended, except the ones that the end of the load cut off.
    pub fn ended(&self) -> u64 {
        self.completed.saturating_add(self.failed.saturating_sub(self.unaccepted))
    }

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
            failed: outcomes.failed(),
            unaccepted: counted.unaccepted,
            body: counted.bytes.body,
            connect: phases.connect.clone(),
            tls,
            wait: phases.wait.clone(),
            response: phases.response.clone(),
        }
    }
}

/// The counts of one worker, or of several, in one tenth of a second.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TenthSlice {
    /// Whole tenths of a second from the start of the measurement to the start of this slice.
    pub tenth: u64,
    /// The length in nanoseconds.
    pub length_ns: u64,
    /// The counts of each family. Of the durations only response times are kept.
    pub families: PerFamily<SliceTally>,
}

impl TenthSlice {
    /// Returns the slice of a tenth with these counts.
    pub fn new(tenth: u64, length_ns: u64, families: PerFamily<SliceTally>) -> TenthSlice {
        let kept = |of: SliceTally| {
            let none = Timing::default;
            SliceTally { connect: none(), tls: none(), wait: none(), ..of }
        };
        TenthSlice { tenth, length_ns, families: families.map(kept) }
    }

    /// Adds the counts of another worker in the same tenth.
    pub fn add(&mut self, other: &TenthSlice) {
        self.length_ns = self.length_ns.max(other.length_ns);
        self.families += &other.families;
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
