//! Who takes the timestamps of a run.

use serde::{Deserialize, Serialize};

/// Who takes the timestamps of sending and receiving.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Timestamps {
    /// The kernel, when segments leave and arrive.
    Kernel,
    /// This process, when it sends and when it is notified.
    #[default]
    User,
}
