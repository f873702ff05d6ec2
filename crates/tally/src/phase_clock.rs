//! By which clock a phase is timed.

use serde::{Deserialize, Serialize};

/// Which clock the ends of a phase are timed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum PhaseClock {
    /// The kernel's clock, at both ends.
    Kernel,
    /// This process's clock, at both ends.
    User,
    /// The kernel's clock at one end; this process's at the other, or where a connection was opened
    /// for the exchange.
    Both,
}

/// By which clock a run times a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClockRule {
    /// The kernel times it anyway: each handshake of TCP.
    Kernel,
    /// This process times it anyway.
    User,
    /// Both ends are times of sending and receiving, by whoever takes these.
    Whole,
    /// One end is a time of sending or receiving, the other one this process's.
    Part,
}

/// Returns the clock of a phase that a document does not contain: older documents have no times of
/// it either.
pub(crate) fn clock_of_older_documents() -> PhaseClock {
    PhaseClock::User
}
