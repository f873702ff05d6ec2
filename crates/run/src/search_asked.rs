//! What a search for the highest rate is to find, as it was asked for.

use std::time::Duration;

use sixmark_result::condition::Condition;

/// What a search is to find, and how long it may take.
#[derive(Clone, Debug, Default)]
pub struct SearchAsked {
    /// What must hold; empty if there is no search.
    pub conditions: Vec<Condition>,
    /// Whether trials may use more connections than the plan says, as many as they can need.
    pub more_places: bool,
    /// The time after which no trial may go on.
    pub at_most: Duration,
}
