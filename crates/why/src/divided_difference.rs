//! The difference of two response times, divided among the parts of a response.
//!
//! The parts add up: what they do not explain is a part of its own. Each of them is tested; a part is
//! called a cause only if it passes.

use serde::{Deserialize, Serialize};

use crate::differs_with::FactApart;
use crate::part::WhyPart;

use sixmark_document::verdict::Estimate;
use sixmark_tally::metric::Metric;

/// A cause is at least this share of the difference that it explains.
pub(crate) const LEAST_SHARE: f64 = 0.1;

/// Why the response times of two sides differ. Times are in microseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DividedDifference {
    /// The metric whose difference is divided.
    #[cfg_attr(feature = "schema", schemars(extend("pattern" = r"^response\.(mean|p50|p99)$")))]
    pub metric: Metric,
    /// A minus B: the difference of the comparison.
    pub difference_us: Estimate,
    /// The parts that take any time on either side.
    pub parts: Vec<PartOfDifference>,
    /// What the parts leave of the difference: they are estimated one by one.
    #[cfg_attr(feature = "schema", schemars(with = "sixmark_document::schema_type::Signed"))]
    pub unexplained_us: f64,
    /// The round-trip times of the path of a typical pair, side A's and side B's; null if they are not
    /// known. Then the waits have no round trips of their own.
    pub round_trip_us: Option<[f64; 2]>,
    /// What differs between the sides together with their times.
    #[serde(default)]
    pub differs_with: Vec<FactApart>,
}

/// A part of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PartOfDifference {
    /// The part.
    pub part: WhyPart,
    /// How long it takes on side A, on average over the pairs.
    #[cfg_attr(feature = "schema", schemars(with = "sixmark_document::schema_type::Signed"))]
    pub a_us: f64,
    /// How long it takes on side B.
    #[cfg_attr(feature = "schema", schemars(with = "sixmark_document::schema_type::Signed"))]
    pub b_us: f64,
    /// A minus B, by the method of the comparison.
    pub difference_us: Estimate,
    /// The difference as a share of the whole one.
    #[cfg_attr(feature = "schema", schemars(with = "sixmark_document::schema_type::Signed"))]
    pub share: f64,
    /// The probability of a difference at least this large between equal parts, after Holm's correction
    /// over all parts.
    #[cfg_attr(feature = "schema", schemars(with = "sixmark_document::schema_type::Part"))]
    pub p_holm: f64,
    /// True if it is a cause of the difference: it differs in the same direction, by its own test, and
    /// is at least a tenth of it.
    pub is_cause: bool,
}

impl DividedDifference {
    /// Returns the causes, the largest first.
    pub fn causes(&self) -> Vec<&PartOfDifference> {
        let mut causes: Vec<_> = self.parts.iter().filter(|part| part.is_cause).collect();
        causes.sort_by(|a, b| b.share.total_cmp(&a.share));
        causes
    }

    /// Returns the parts that take equally long: their intervals lie within a tenth of the difference.
    pub fn equal_parts(&self) -> Vec<WhyPart> {
        let near = LEAST_SHARE * self.difference_us.value.abs();
        let is_equal = |of: &&PartOfDifference| {
            let Estimate { low, high, .. } = of.difference_us;
            !of.is_cause && -near <= low && high <= near
        };
        self.parts.iter().filter(is_equal).map(|of| of.part).collect()
    }
}
