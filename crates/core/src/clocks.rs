//! Whose clock the times are from, and how far it can be believed.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

/// Who takes the times of sending and receiving.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Timestamps {
    /// The kernel, when segments leave and come.
    Kernel,
    /// This process, when it sends and when it is told.
    #[default]
    User,
}

/// What speaks against the times of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clocks {
    /// Times that this process had to take, the kernel having given none to believe.
    pub missing: u64,
    /// Whole responses whose times are out of order: sent, first byte, last byte.
    pub inverted: u64,
    /// How often the clock of the kernel's stamps was set.
    pub steps: u64,
}

impl AddAssign<&Clocks> for Clocks {
    fn add_assign(&mut self, other: &Clocks) {
        self.missing += other.missing;
        self.inverted += other.inverted;
        // There is one clock, and every worker looks at it.
        self.steps = self.steps.max(other.steps);
    }
}

/// The same in a result document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimestampResult {
    /// Who took the times.
    pub mode: Timestamps,
    /// As in [`Clocks`].
    pub missing: u64,
    /// As in [`Clocks`].
    pub inverted: u64,
    /// As in [`Clocks::steps`].
    pub clock_steps: u64,
}

impl Clocks {
    /// What to say of the times that `mode` took.
    pub fn result(self, mode: Timestamps) -> TimestampResult {
        let Clocks { missing, inverted, steps } = self;
        TimestampResult { mode, missing, inverted, clock_steps: steps }
    }
}
