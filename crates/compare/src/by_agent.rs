//! What each agent of a fleet measured of the median response times by itself: a difference that one
//! agent sees alone is that of its path.

use serde::{Deserialize, Serialize};

use sixmark_document::verdict::{Estimate, Verdict};
use sixmark_why::part::WhyPart;

/// The median response times of both sides as one agent measured them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AgentComparison {
    /// The name of the agent.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub agent: String,
    /// The verdict, with a correction over all agents.
    pub verdict: Verdict,
    /// Side A's median over side B's; null if there is no estimate.
    pub ratio: Option<Estimate>,
    /// The largest cause of the difference; null if there is none.
    pub cause: Option<WhyPart>,
}
