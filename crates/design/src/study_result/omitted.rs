//! Services that a study omits.

use serde::{Deserialize, Serialize};

use super::At;

/// An optional service that can't run here, so that the study does without it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OmittedService {
    /// The service's name.
    pub service: String,
    /// Why it can't run, in a clause.
    pub reason: String,
    /// The levels that are omitted with it, because every cell that has them loads it.
    pub levels: Vec<At>,
}
