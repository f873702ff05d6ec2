//! Do two sides return the same responses? Only then can their speeds be compared.
//!
//! Status codes, failures and the sizes of contents are compared, target by target. A page that is
//! generated for each request varies in size, so a difference is judged by the variation within the
//! sides: between blocks if there are enough of them, otherwise between responses.

mod answers;
mod differ;
mod document;
mod say;
#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

pub use answers::{Answers, TargetAnswers};
pub use differ::{look, look_among, look_at, sizes_matter};
pub use document::GivenResult;

use sixmark_tally::outcome::Outcome;

/// The default margin, as a share (0 to 1), within which sides count as equal.
pub const USUAL_MARGIN: f64 = 0.05;

/// The probability with which two sides that return the same responses may be called different,
/// unless another one was chosen: half of it for statuses and failures together, half for sizes.
pub const LEVEL: f64 = 0.01;

/// Whether two sides return the same responses. docs/statistics.md describes the rules.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sameness {
    /// False if the sides differ, so that their speeds cannot be compared.
    pub same: bool,
    /// The difference, as a sentence without a full stop; null if there is none.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub said: Option<String>,
    /// The largest probability with which sides that return the same responses are called
    /// different.
    #[cfg_attr(feature = "schema", schemars(with = "sixmark_document::schema_type::Part"))]
    pub level: f64,
    /// The number of pairs of blocks that were compared.
    pub pairs: usize,
    /// The number of tests: one for each share of a status or failure and each size, of each
    /// target.
    pub tests: usize,
    /// The differences found, the most important one first.
    pub differences: Vec<Unlike>,
}

/// A difference between two sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Unlike {
    /// What differs: the share of exchanges with a status or a failure, the share of time in which
    /// no response arrived, or the size of contents.
    pub what: Trait,
    /// The path of the target; * for paths that are not distinguished; null for all targets
    /// together.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub target: Option<String>,
    /// The value of side A: a share of its exchanges or of their time (0 to 1), or the mean size of
    /// a content in bytes.
    pub a: f64,
    /// The value of side B.
    pub b: f64,
    /// The p-value: the probability of such a difference between sides that return the same
    /// responses. Null if a side has no value.
    #[cfg_attr(feature = "schema", schemars(with = "Option<sixmark_document::schema_type::Part>"))]
    pub p: Option<f64>,
    /// False if the difference is too small to affect a comparison of speeds. It is then only
    /// reported.
    pub matters: bool,
}

/// A property in which the responses of two sides may differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(with = "String", extend("pattern" = trait_pattern())))]
pub enum Trait {
    /// The share of exchanges with this status code.
    Status(u16),
    /// The share of exchanges with this outcome, without a complete response.
    Outcome(Outcome),
    /// The share of the time that exchanges were in flight in which no response arrived. It reveals
    /// a few connections that are never answered: they have few exchanges, because the other
    /// connections complete thousands meanwhile.
    Silence,
    /// The size of the content of responses whose status is accepted.
    Size,
}

/// Writes `status.503`, `outcome.REFUSED`, `silence` or `size`.
impl fmt::Display for Trait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trait::Status(status) => write!(f, "status.{status}"),
            Trait::Outcome(outcome) => write!(f, "outcome.{outcome}"),
            Trait::Silence => f.write_str("silence"),
            Trait::Size => f.write_str("size"),
        }
    }
}

impl FromStr for Trait {
    type Err = String;

    fn from_str(text: &str) -> Result<Trait, String> {
        let outcome = |name: &str| Outcome::ALL.into_iter().find(|of| of.name() == name);
        let found = match text.split_once('.') {
            None if text == "silence" => Some(Trait::Silence),
            None => (text == "size").then_some(Trait::Size),
            Some(("status", code)) => code.parse().ok().map(Trait::Status),
            Some(("outcome", name)) => outcome(name).map(Trait::Outcome),
            Some(_) => None,
        };
        found.ok_or_else(|| format!("'{text}' is neither a status, an outcome nor a size"))
    }
}

/// Returns the pattern of the text of a [`Trait`].
#[cfg(feature = "schema")]
fn trait_pattern() -> String {
    format!(
        r"^(status\.[0-9]{{3}}|outcome\.({})|silence|size)$",
        Outcome::ALL.map(Outcome::name).join("|")
    )
}

impl Serialize for Trait {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Trait {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Trait, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}
