//! Which clock the times are from, and how reliable they are.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use crate::phase_clock::{ClockRule, PhaseClock};
use crate::timed_phase::PhaseClocks;
use sixmark_document::untrusted::is_default;
use sixmark_plan::plan::timestamps::Timestamps;

impl PhaseClocks {
    /// Returns the clocks of a run whose timestamps are taken by `mode`.
    pub fn of(mode: Timestamps) -> PhaseClocks {
        PhaseClocks::from_fn(|phase| match (phase.clock_rule(), mode) {
            (ClockRule::Kernel, _) | (ClockRule::Whole, Timestamps::Kernel) => PhaseClock::Kernel,
            (ClockRule::Part, Timestamps::Kernel) => PhaseClock::Both,
            (ClockRule::User, _) | (_, Timestamps::User) => PhaseClock::User,
        })
    }
}

/// Reasons to doubt the times of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Clocks {
    /// Times that this process took because the kernel provided none that are plausible.
    #[serde(skip_serializing_if = "is_default")]
    pub missing: u64,
    /// Complete responses whose times are out of order (sent, first byte, last byte).
    #[serde(skip_serializing_if = "is_default")]
    pub inverted: u64,
    /// How often the clock of the kernel's timestamps was stepped.
    #[serde(skip_serializing_if = "is_default")]
    pub steps: u64,
}

impl AddAssign<&Clocks> for Clocks {
    fn add_assign(&mut self, other: &Clocks) {
        self.missing = self.missing.saturating_add(other.missing);
        self.inverted = self.inverted.saturating_add(other.inverted);
        // There is one clock, which every worker observes.
        self.steps = self.steps.max(other.steps);
    }
}

impl Clocks {
    /// Returns what was counted since these counts were `earlier`: of the steps only a new maximum.
    #[must_use]
    pub fn since(&self, earlier: &Clocks) -> Clocks {
        Clocks {
            missing: self.missing.saturating_sub(earlier.missing),
            inverted: self.inverted.saturating_sub(earlier.inverted),
            steps: if self.steps > earlier.steps { self.steps } else { 0 },
        }
    }
}

/// The clocks of a run in a result document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TimestampResult {
    /// Who took the timestamps of sending and receiving.
    pub mode: Timestamps,
    /// The clock of each phase, except for missing times; null in documents older than this field.
    #[serde(default)]
    pub phases: Option<PhaseClocks>,
    /// Times that sixmark took because the kernel provided none that are plausible.
    pub missing: u64,
    /// Complete responses whose times were out of order, so that their wait or transfer is 0.
    pub inverted: u64,
    /// How often the clock of the kernel's timestamps was stepped during the run.
    pub clock_steps: u64,
}

impl Clocks {
    /// Returns the document's entry for times taken by `mode`.
    pub fn result(self, mode: Timestamps) -> TimestampResult {
        let Clocks { missing, inverted, steps } = self;
        let phases = Some(PhaseClocks::of(mode));
        TimestampResult { mode, phases, missing, inverted, clock_steps: steps }
    }
}
