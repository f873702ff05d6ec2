//! What was done in one second of a run.

use serde::{Deserialize, Serialize};

use crate::tally::SliceTally;
use crate::timing::Summary;
use sixmark_units::family::PerFamily;

/// One second of the run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Interval {
    /// Its start, in whole seconds from the end of the warm-up.
    pub second: u64,
    /// How long it was, seconds: close to 1, but for the last.
    pub length_s: f64,
    /// What each family did.
    pub families: PerFamily<IntervalFamily>,
}

/// What one family did in one second.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IntervalFamily {
    /// Exchanges begun in this second.
    pub sent: u64,
    /// Complete responses that ended in this second.
    pub completed: u64,
    /// Exchanges that ended otherwise in this second.
    pub failed: u64,
    /// Of those completed, how many have a status that is not accepted.
    #[serde(default)]
    pub unaccepted: u64,
    /// Content bytes of complete responses.
    pub body_bytes: u64,
    /// Response times.
    pub response_us: Summary,
}

/// What all workers did in a second of so many nanoseconds.
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
