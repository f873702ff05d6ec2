//! What all trials of one rate of a search show together.

use serde::{Deserialize, Serialize};

/// What is known of a rate. A trial alone may have shown something else, above all a short one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RateDecision {
    /// It holds.
    Held,
    /// It does not hold.
    DidNotHold,
    /// Neither is shown.
    Undecided,
    /// One trial showed that it holds and another one that it does not: the server has changed, or
    /// varies.
    Varies,
    /// Short trials alone decided it, and longer ones of other rates show the opposite.
    Overruled,
}

impl RateDecision {
    /// Returns the decision on a rate that was shown to hold, not to hold, or both; `None` if it was
    /// shown neither.
    pub(crate) fn of(held: bool, failed: bool) -> Option<RateDecision> {
        match (held, failed) {
            (true, true) => Some(RateDecision::Varies),
            (true, false) => Some(RateDecision::Held),
            (false, true) => Some(RateDecision::DidNotHold),
            (false, false) => None,
        }
    }

    /// Returns the words for a trial that alone showed this.
    pub fn words(self) -> &'static str {
        match self {
            RateDecision::Held => "held",
            RateDecision::DidNotHold => "did not hold",
            RateDecision::Undecided => "undecided",
            RateDecision::Varies => "varied",
            RateDecision::Overruled => "overruled",
        }
    }

    /// Returns the words for a trial that alone showed something else, as in
    /// `held alone, undecided with other trials`.
    pub(crate) fn words_after(self, alone: RateDecision) -> String {
        let alone = alone.words();
        match self {
            RateDecision::Overruled => format!("{alone}, against longer trials"),
            decision => format!("{alone} alone, {} with other trials", decision.words()),
        }
    }
}
