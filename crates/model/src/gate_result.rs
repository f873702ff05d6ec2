//! Whether a demand on a result was met.

use serde::{Deserialize, Serialize};

/// What was demanded, and whether it was met.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GateResult {
    /// As it was written: the condition under which the gate fails.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub fail_if: String,
    /// True where that holds, or cannot be determined.
    pub failed: bool,
    /// The figures that it was decided by, or what was missing, for people.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub because: String,
}
