//! Verdicts and estimates, as documents state them.

use serde::{Deserialize, Serialize};

/// The verdict on one metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Side A is better than side B.
    Better,
    /// Side A is worse than side B.
    Worse,
    /// Any difference lies within the margin.
    Equivalent,
    /// The measurements allow no other verdict.
    Inconclusive,
    /// The sides do not give the same responses, so their speeds cannot be compared.
    #[serde(rename = "not_comparable")]
    NotComparable,
}

impl Verdict {
    /// Returns the name used in documents, gates and test reports.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Better => "better",
            Verdict::Worse => "worse",
            Verdict::Equivalent => "equivalent",
            Verdict::Inconclusive => "inconclusive",
            Verdict::NotComparable => "not_comparable",
        }
    }
}

/// A value and the interval that includes the true value with the confidence of the settings.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Estimate {
    /// The value.
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema_type::Signed"))]
    pub value: f64,
    /// The lower end of the interval.
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema_type::Signed"))]
    pub low: f64,
    /// The upper end of the interval.
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema_type::Signed"))]
    pub high: f64,
}
