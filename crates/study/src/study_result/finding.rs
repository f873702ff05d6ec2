//! Claims and their verdicts, in a study's document.

use serde::{Deserialize, Serialize};

use super::MeanRatio;
use sixmark_record::metric::Metric;

/// A claim that was tested.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FindingResult {
    /// The claim in words.
    pub text: String,
    /// The measure that the claim is about.
    pub measure: Metric,
    /// The claimed relation of A to B, or the claim about A alone.
    pub claim: Claim,
    /// True for a claim of the published study, which this one repeats.
    #[serde(default)]
    pub published: bool,
    /// The number of repetitions with figures of both sides; for a claim about all or none, of A.
    pub blocks: u32,
    /// The counted exchanges of a claim about all or none; null for other claims, and if nothing
    /// was sent.
    #[serde(default)]
    pub count: Option<ExchangeCount>,
    /// The ratio of A to B, with its interval; null if there is none.
    pub ratio: Option<MeanRatio>,
    /// The two-sided p-value of the hypothesis that the ratio is 1, by Student's t on the
    /// logarithms; null if there is none.
    #[cfg_attr(feature = "schema", schemars(with = "Option<sixmark_document::schema_type::Part>"))]
    pub p: Option<f64>,
    /// Why the speeds can't be compared, in a sentence without a full stop; there is then no ratio
    /// and no p-value. Null if they can be compared.
    #[serde(default)]
    pub unlike: Option<String>,
    /// The verdict on the claim.
    pub verdict: FindingVerdict,
    /// The study's own sentence for this verdict, with its figures and without a full stop; null if
    /// the study has none.
    #[serde(default)]
    pub said: Option<String>,
}

/// A count of exchanges, for a claim about all or none of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExchangeCount {
    /// The number of exchanges that the measure counts.
    pub counted: u64,
    /// The number of exchanges that were sent.
    pub sent: u64,
}

/// The claimed relation of A to B, or the claim about A alone.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Claim {
    /// A is higher.
    Higher,
    /// A is lower.
    Lower,
    /// A and B do not differ by more than the margin.
    Equal {
        /// The margin in percent.
        #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
        margin_percent: f64,
    },
    /// Every exchange of A is counted by the measure.
    #[serde(rename = "all")]
    AllOf,
    /// No exchange of A is counted by the measure.
    #[serde(rename = "none")]
    NoneOf,
}

/// The verdict on a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FindingVerdict {
    /// Confirmed: the whole interval agrees with the claim, or the count does.
    BorneOut,
    /// Refuted: the whole interval contradicts the claim, or the count does.
    NotBorneOut,
    /// Inconclusive.
    CannotTell,
    /// The claim is about speed, and its cells gave different responses, or only errors.
    NotComparable,
}
