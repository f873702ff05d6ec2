//! Figures of each tenth of a second of a short run.

use serde::{Deserialize, Deserializer, Serialize};

use crate::interval::ended_and_failed;
use crate::tally::{SliceTally, TenthSlice};
use sixmark_units::family::PerFamily;

/// The length of a tenth of a second in nanoseconds.
pub const TENTH_NS: u64 = 100_000_000;

/// The most tenths that are recorded. Runs of 10 s and more have seconds enough for a chart.
pub const MOST_TENTHS: u64 = 100;

/// The shortest time, in nanoseconds, that is an entry of its own at the end of a run. A shorter
/// rest belongs to the entry before it.
const SHORTEST_NS: u64 = TENTH_NS / 5;

/// One tenth of a second of the run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tenth {
    /// The start, in whole tenths of a second from the beginning of the measurement.
    pub tenth: u64,
    /// The length in seconds: close to 0.1, except for the last one.
    pub length_s: f64,
    /// The figures of each family.
    pub families: PerFamily<TenthFamily>,
}

/// The figures of one family in one tenth of a second. They are counted as those of a second in
/// intervals.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TenthFamily {
    /// Exchanges started.
    pub sent: u64,
    /// Complete responses.
    pub completed: u64,
    /// Exchanges that ended, except those that the end of the load cut off (ABANDONED). Absent in
    /// older documents.
    #[serde(default)]
    pub ended: u64,
    /// Exchanges among those ended that failed, as in intervals.
    pub failed: u64,
    /// Responses among those completed whose status is not accepted.
    pub unaccepted: u64,
    /// Content bytes of complete responses.
    pub body_bytes: u64,
    /// Response times, without their histogram.
    pub response_us: TenthTimes,
}

impl<'de> Deserialize<'de> for TenthFamily {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<TenthFamily, D::Error> {
        /// The fields as documents of any age have them.
        #[derive(Deserialize)]
        struct Written {
            sent: u64,
            completed: u64,
            ended: Option<u64>,
            failed: u64,
            unaccepted: u64,
            body_bytes: u64,
            response_us: TenthTimes,
        }
        let of = Written::deserialize(from)?;
        let (ended, failed) = ended_and_failed(of.ended, of.completed, [of.failed, of.unaccepted]);
        Ok(TenthFamily {
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

/// Response times of a tenth of a second in microseconds, accurate to three digits; null if count is
/// 0.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TenthTimes {
    /// The number of response times.
    pub count: u64,
    /// The median.
    pub p50: Option<f64>,
    /// The response time that 95 % do not exceed.
    pub p95: Option<f64>,
    /// The response time that 99 % do not exceed.
    pub p99: Option<f64>,
}

/// Returns the entries of a document, from the counts of all workers together in order of time.
pub(crate) fn tenths(mut slices: Vec<TenthSlice>) -> Vec<Tenth> {
    if let Some(last) = slices.pop_if(|last| last.length_ns < SHORTEST_NS) {
        match slices.last_mut() {
            Some(before) => {
                before.length_ns += last.length_ns;
                before.families += &last.families;
            }
            None => slices.push(last),
        }
    }
    slices.into_iter().map(tenth).collect()
}

fn tenth(of: TenthSlice) -> Tenth {
    let TenthSlice { tenth, length_ns, families } = of;
    Tenth { tenth, length_s: length_ns as f64 / 1e9, families: families.map(tenth_family) }
}

fn tenth_family(of: SliceTally) -> TenthFamily {
    let us = |q: f64| of.response.quantile(q).map(|ns| ns as f64 / 1e3);
    TenthFamily {
        sent: of.sent,
        completed: of.completed,
        ended: of.ended(),
        failed: of.failed,
        unaccepted: of.unaccepted,
        body_bytes: of.body,
        response_us: TenthTimes {
            count: of.response.count(),
            p50: us(0.5),
            p95: us(0.95),
            p99: us(0.99),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slice(tenth: u64, length_ns: u64, completed: u64) -> TenthSlice {
        let mut slice = TenthSlice { tenth, length_ns, ..TenthSlice::default() };
        slice.families.ipv6.completed = completed;
        (0..completed).for_each(|_| slice.families.ipv6.response.record(2_000_000));
        slice
    }

    #[test]
    fn merges_a_very_short_last_tenth_into_the_previous_one() {
        let made = tenths(vec![
            slice(0, TENTH_NS, 3),
            slice(1, TENTH_NS, 2),
            slice(2, SHORTEST_NS - 1, 1),
        ]);
        let said = made.iter().map(|of| (of.tenth, of.families.ipv6.completed));
        assert_eq!(said.collect::<Vec<_>>(), [(0, 3), (1, 3)]);
        assert!(made[1].length_s > 0.1, "{}", made[1].length_s);
        assert_eq!(tenths(vec![slice(0, 1, 1)]).len(), 1, "a run may be as short as a moment");
        assert_eq!(tenths(vec![slice(0, TENTH_NS, 1), slice(1, SHORTEST_NS, 1)]).len(), 2);
    }

    #[test]
    fn a_tenth_without_a_response_has_no_times() {
        let made = tenths(vec![slice(0, TENTH_NS, 0), slice(1, TENTH_NS, 2)]);
        let times = made.iter().map(|of| of.families.ipv6.response_us.p50);
        assert_eq!(times.collect::<Vec<_>>(), [None, Some(2_000.0)]);
    }
}
