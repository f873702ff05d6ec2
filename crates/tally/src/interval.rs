//! Figures of each second of a run.

use serde::{Deserialize, Deserializer, Serialize};

use crate::tally::SliceTally;
use sixmark_document::timing::Summary;
use sixmark_units::family::PerFamily;

/// One second of the run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Interval {
    /// The start, in whole seconds from the beginning of the measurement.
    pub second: u64,
    /// The length in seconds: close to 1, except for the last one.
    pub length_s: f64,
    /// The figures of each family.
    pub families: PerFamily<IntervalFamily>,
}

/// The figures of one family in one second.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IntervalFamily {
    /// Exchanges started in this second.
    pub sent: u64,
    /// Complete responses that ended in this second.
    pub completed: u64,
    /// Exchanges that ended in this second, except those that the end of the load cut off
    /// (ABANDONED). Absent in older documents.
    #[serde(default)]
    pub ended: u64,
    /// Exchanges among those ended that failed: without a complete response, or with a status that
    /// is not accepted. Documents without `ended` do not count the latter.
    pub failed: u64,
    /// Responses among those completed whose status is not accepted.
    #[serde(default)]
    pub unaccepted: u64,
    /// Content bytes of complete responses.
    pub body_bytes: u64,
    /// Response times.
    pub response_us: Summary,
}

impl<'de> Deserialize<'de> for IntervalFamily {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<IntervalFamily, D::Error> {
        /// The fields as documents of any age have them.
        #[derive(Deserialize)]
        struct Written {
            sent: u64,
            completed: u64,
            ended: Option<u64>,
            failed: u64,
            #[serde(default)]
            unaccepted: u64,
            body_bytes: u64,
            response_us: Summary,
        }
        let of = Written::deserialize(from)?;
        let (ended, failed) = ended_and_failed(of.ended, of.completed, [of.failed, of.unaccepted]);
        Ok(IntervalFamily {
            sent: of.sent,
            completed: of.completed,
            ended,
            failed,
            unaccepted: of.unaccepted,
            body_bytes: of.body_bytes,
            response_us: of.response_us,
        })
    }
}

/// Returns the exchanges that ended and those that failed from what a document has of a short time.
/// Older documents lack `ended`; in them, exchanges with a status that is not accepted are not among
/// those that failed.
pub(crate) fn ended_and_failed(
    ended: Option<u64>,
    completed: u64,
    [failed, unaccepted]: [u64; 2],
) -> (u64, u64) {
    match ended {
        Some(ended) => (ended, failed),
        None => (completed.saturating_add(failed), failed.saturating_add(unaccepted)),
    }
}

/// Combines the tallies of all workers for a second of `length_ns` nanoseconds.
pub(crate) fn interval(second: u64, length_ns: u64, of: PerFamily<SliceTally>) -> Interval {
    Interval { second, length_s: length_ns as f64 / 1e9, families: of.map(interval_family) }
}

fn interval_family(counted: SliceTally) -> IntervalFamily {
    IntervalFamily {
        sent: counted.sent,
        completed: counted.completed,
        ended: counted.ended(),
        failed: counted.failed,
        unaccepted: counted.unaccepted,
        body_bytes: counted.body,
        response_us: counted.response.summary(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn counts_unaccepted_statuses_as_failures_in_old_and_new_documents() {
        let counted = SliceTally {
            sent: 12,
            completed: 8,
            failed: 5,
            unaccepted: 3,
            ..SliceTally::default()
        };
        let new = serde_json::to_value(interval_family(counted)).unwrap();
        assert_eq!((&new["ended"], &new["failed"]), (&json!(10), &json!(5)));
        let mut old = new.clone();
        old.as_object_mut().unwrap().remove("ended");
        old["failed"] = json!(2);
        for document in [new, old] {
            let read: IntervalFamily =
                serde_json::from_value::<IntervalFamily>(Value::clone(&document)).unwrap();
            assert_eq!((read.ended, read.failed, read.unaccepted), (10, 5, 3), "{document}");
        }
    }
}
