//! The figures of a client over its starts in a case.

use serde::{Deserialize, Serialize};
use sixmark_units::family::Family;

use crate::behaviour::attempt_delays_ms;
use crate::client_trace::ClientTrace;

/// The least, the middle and the largest of some times, in milliseconds; a time from one event to another may be
/// negative.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TimeSpread {
    /// How many there are.
    pub count: u32,
    /// The least.
    pub least_ms: f64,
    /// The median.
    pub median_ms: f64,
    /// The largest.
    pub largest_ms: f64,
}

impl TimeSpread {
    /// Returns the spread of some times; `None` of none.
    pub fn of(times_ms: impl IntoIterator<Item = f64>) -> Option<TimeSpread> {
        let mut times: Vec<f64> = times_ms.into_iter().collect();
        times.sort_by(f64::total_cmp);
        let (least_ms, largest_ms) = (*times.first()?, *times.last()?);
        let middle = times.len() / 2;
        let median_ms = match times.len() % 2 {
            0 => f64::midpoint(times[middle - 1], times[middle]),
            _ => times[middle],
        };
        Some(TimeSpread { count: times.len() as u32, least_ms, median_ms, largest_ms })
    }
}

/// What a client did in a case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CaseFigures {
    /// How often it was started.
    pub starts: u32,
    /// The starts in which the content arrived.
    pub survived: u32,
    /// The starts whose request went over each family.
    pub over_ipv6: u32,
    /// The same for IPv4.
    pub over_ipv4: u32,
    /// The most addresses that it tried in a start.
    pub addresses_tried: u32,
    /// The delay from the begin of an attempt to that of the next one, where no failure came first; null if
    /// no second attempt began so.
    pub attempt_delay: Option<TimeSpread>,
    /// When the content arrived; null if it never did.
    pub content: Option<TimeSpread>,
}

impl CaseFigures {
    /// Returns the figures of the starts in a case.
    pub fn of(traces: &[ClientTrace]) -> CaseFigures {
        let over = |family: Family| {
            let winners = traces.iter().filter_map(ClientTrace::winner);
            winners.filter(|of| of.family == family).count() as u32
        };
        let tried = |trace: &ClientTrace| {
            let mut addresses: Vec<_> = trace.attempts.iter().map(|of| of.address).collect();
            addresses.sort();
            addresses.dedup();
            addresses.len() as u32
        };
        CaseFigures {
            starts: traces.len() as u32,
            survived: traces.iter().filter(|of| of.content_ms().is_some()).count() as u32,
            over_ipv6: over(Family::Ipv6),
            over_ipv4: over(Family::Ipv4),
            addresses_tried: traces.iter().map(tried).max().unwrap_or(0),
            attempt_delay: TimeSpread::of(traces.iter().flat_map(attempt_delays_ms)),
            content: TimeSpread::of(traces.iter().filter_map(ClientTrace::content_ms)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_number_is_between_the_middle_ones() {
        let spread = TimeSpread::of([4.0, 1.0, 2.0, 3.0]).unwrap();
        assert_eq!((spread.least_ms, spread.median_ms, spread.largest_ms), (1.0, 2.5, 4.0));
        assert_eq!(TimeSpread::of([]), None);
    }
}
