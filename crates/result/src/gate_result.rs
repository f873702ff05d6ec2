//! The result of a gate.

use serde::{Deserialize, Serialize};

/// How the reason of a gate begins that fails because a figure is missing.
pub const UNDETERMINED: &str = "cannot be determined: ";

/// A gate and its result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GateResult {
    /// The condition under which the gate fails, as written.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub fail_if: String,
    /// True if the condition holds or cannot be determined.
    pub failed: bool,
    /// The figures that decided, or what was missing, as human-readable text.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub because: String,
}

impl GateResult {
    /// Returns true unless the gate failed because its condition could not be determined.
    pub fn is_determined(&self) -> bool {
        !self.because.starts_with(UNDETERMINED)
    }
}
