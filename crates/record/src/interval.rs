//! Figures of each second of a run.

use serde::{Deserialize, Serialize};

use crate::tally::SliceTally;
use sixmark_document::timing::Summary;
use sixmark_units::family::PerFamily;

/// One second of the run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Interval {
    /// The start, in whole seconds from the end of the warm-up.
    pub second: u64,
    /// The length in seconds: close to 1, except for the last one.
    pub length_s: f64,
    /// The figures of each family.
    pub families: PerFamily<IntervalFamily>,
}

/// The figures of one family in one second.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IntervalFamily {
    /// Exchanges started in this second.
    pub sent: u64,
    /// Complete responses that ended in this second.
    pub completed: u64,
    /// Exchanges that ended in this second without a complete response.
    pub failed: u64,
    /// Responses among those completed whose status is not accepted.
    #[serde(default)]
    pub unaccepted: u64,
    /// Content bytes of complete responses.
    pub body_bytes: u64,
    /// Response times.
    pub response_us: Summary,
}

/// Combines the tallies of all workers for a second of `length_ns` nanoseconds.
pub(crate) fn interval(second: u64, length_ns: u64, of: PerFamily<SliceTally>) -> Interval {
    Interval { second, length_s: length_ns as f64 / 1e9, families: of.map(interval_family) }
}

fn interval_family(counted: SliceTally) -> IntervalFamily {
    IntervalFamily {
        sent: counted.sent,
        completed: counted.completed,
        failed: counted.failed,
        unaccepted: counted.unaccepted,
        body_bytes: counted.body,
        response_us: counted.response.summary(),
    }
}
