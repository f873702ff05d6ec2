//! Claims and what came of them, in a study's document.

use serde::{Deserialize, Serialize};

use super::MeanRatio;
use sixmark_record::metric::Metric;

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
    /// True of a claim that the published study makes, which this one repeats.
    #[serde(default)]
    pub published: bool,
    /// Repetitions that have figures of both; of a claim about all or none, of A.
    pub blocks: u32,
    /// Of a claim about all or none: what was counted; null of others, and where nothing was sent.
    #[serde(default)]
    pub count: Option<ExchangeCount>,
    /// A's over B's, with its interval; null where there is none.
    pub ratio: Option<MeanRatio>,
    /// Two-sided, that the ratio is 1, of Student's t on the logarithms; null where there is no
    /// ratio.
    #[cfg_attr(feature = "schema", schemars(with = "Option<sixmark_document::schema_type::Part>"))]
    pub p: Option<f64>,
    /// What keeps the speeds from being compared, in a sentence without a full stop; there is no
    /// ratio and no p then; null: nothing.
    #[serde(default)]
    pub unlike: Option<String>,
    /// What it comes to.
    pub verdict: FindingVerdict,
    /// The study's own sentence for this verdict, with its figures and without a full stop; null where the
    /// study has none.
    #[serde(default)]
    pub said: Option<String>,
}

/// How many of the exchanges sent are of the kind that a claim is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExchangeCount {
    /// Those of the kind.
    pub counted: u64,
    /// All that were sent.
    pub sent: u64,
}

/// What is said of A against B, or of A alone.
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
    /// Every exchange of A is counted by the measure.
    #[serde(rename = "all")]
    AllOf,
    /// None of A is.
    #[serde(rename = "none")]
    NoneOf,
}

/// What came of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FindingVerdict {
    /// Confirmed: the whole interval is where the claim has it, or every count is.
    BorneOut,
    /// Refuted: the whole interval is elsewhere, or a count is.
    NotBorneOut,
    /// Inconclusive.
    CannotTell,
    /// It is about speed, and its cells don't give the same.
    NotComparable,
}
