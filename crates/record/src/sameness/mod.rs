//! Do two sides give the same? Only then their speeds can be compared.
//!
//! What is compared are status codes, closures and the sizes of contents, target by target. A page
//! that is made anew each time is not the same twice, so that a side's own scatter is the measure:
//! that between its blocks where there are enough of them, else that between its responses.

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
pub use differ::{look, look_among};
pub use document::GivenResult;

use crate::outcome::Outcome;

/// The margin within which sides count as equal unless another one is asked for: a share, 0 to 1.
pub const USUAL_MARGIN: f64 = 0.05;

/// How often two sides that give the same may be called different: half of it for statuses and
/// closures together, half for sizes.
pub const LEVEL: f64 = 0.01;

/// Whether two sides give the same. `docs/statistics.md` tells the rules.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sameness {
    /// False: their speeds can't be compared.
    pub same: bool,
    /// What is different, in a sentence without a full stop; null where they give the same.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub said: Option<String>,
    /// How often sides that give the same are called different at most.
    #[cfg_attr(feature = "schema", schemars(with = "sixmark_document::schema_type::Part"))]
    pub level: f64,
    /// Pairs of blocks that were looked at.
    pub pairs: usize,
    /// How much was looked at: each share of a status or closure, and each size, of a target.
    pub tests: usize,
    /// What was found different, what matters most first.
    pub differences: Vec<Unlike>,
}

/// One thing that two sides do not have in common.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Unlike {
    /// The share of exchanges with a status, or that ended so without a complete response; the share
    /// of their time in which no response came; the size of contents.
    pub what: Trait,
    /// The target's path; * of paths that are not told apart; null of all targets together.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub target: Option<String>,
    /// Of side A: a share of its exchanges or of their time (0 to 1), or the mean size of a content in
    /// bytes.
    pub a: f64,
    /// The same of side B.
    pub b: f64,
    /// How likely it is between sides that give the same; null where a side gave nothing.
    #[cfg_attr(feature = "schema", schemars(with = "Option<sixmark_document::schema_type::Part>"))]
    pub p: Option<f64>,
    /// False where so small a difference can't set a speed apart: it is noted and no more.
    pub matters: bool,
}

/// What responses have in common, or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(with = "String", extend("pattern" = trait_pattern())))]
pub enum Trait {
    /// The share of exchanges with this status code.
    Status(u16),
    /// The share of exchanges that ended so, without a complete response.
    Outcome(Outcome),
    /// The share of the time that exchanges were in flight in which no response came: a few connections
    /// that are never answered are few exchanges, since the others have thousands meanwhile.
    Silence,
    /// The size of the content of responses whose status is accepted.
    Size,
}

/// `status.503`, `outcome.REFUSED`, `silence`, `size`.
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

/// What [`Trait`] is written as.
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
