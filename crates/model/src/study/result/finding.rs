//! Claims and what came of them, in a study's document.

use serde::{Deserialize, Serialize};

use super::MeanRatio;
use crate::metric::Metric;

/// A claim, tested.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FindingResult {
    /// What was claimed.
    pub text: String,
    /// In what.
    pub measure: Metric,
    /// What is said of A against B; of equality how far apart they may be.
    pub claim: Claim,
    /// Repetitions that have figures of both.
    pub blocks: u32,
    /// A's over B's, with its interval; null where there is none.
    pub ratio: Option<MeanRatio>,
    /// Two-sided, that the ratio is 1, of Student's t on the logarithms; null where there is no
    /// ratio.
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::schema_type::Part>"))]
    pub p: Option<f64>,
    /// What keeps the speeds from being compared, in a sentence without a full stop; there is no
    /// ratio and no p then; null: nothing.
    #[serde(default)]
    pub unlike: Option<String>,
    /// What it comes to.
    pub verdict: FindingVerdict,
}

/// What is said of A against B.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Claim {
    /// A is higher.
    Higher,
    /// A is lower.
    Lower,
    /// They are not further apart than this, percent.
    Equal {
        /// The margin.
        #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
        margin_percent: f64,
    },
}

/// What came of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FindingVerdict {
    /// The whole interval is where the claim has it.
    BorneOut,
    /// The whole interval is elsewhere.
    NotBorneOut,
    /// Neither.
    CannotTell,
    /// It is about speed, and its cells don't give the same.
    NotComparable,
}
