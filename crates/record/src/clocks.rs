//! Which clock the times are from, and how reliable they are.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use crate::peer::is_default;

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

/// The clock of each phase, provided that no timestamp is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PhaseClocks {
    /// From SYN to SYN-ACK by the kernel's clock. In documents of older versions perhaps from the
    /// connect call to established by this process's.
    pub connect: PhaseClock,
    /// The handshake of TLS or QUIC.
    pub tls: PhaseClock,
    /// From a request's last byte to the first of an interim response.
    #[serde(default = "clock_of_older_documents")]
    pub interim: PhaseClock,
    /// From a request's last byte to its final response's first.
    pub wait: PhaseClock,
    /// From an exchange's start to its response's first byte.
    #[serde(default = "clock_of_older_documents")]
    pub ttfb: PhaseClock,
    /// From the response's first byte to its last.
    pub transfer: PhaseClock,
    /// From due to start.
    pub slip: PhaseClock,
    /// From start to last byte.
    pub service: PhaseClock,
    /// From due to last byte; in a closed loop from start to last byte.
    pub response: PhaseClock,
    /// From established to closed.
    pub lifetime: PhaseClock,
}

/// The clock of a phase that the document does not contain: older documents have no times of it
/// either.
fn clock_of_older_documents() -> PhaseClock {
    PhaseClock::User
}

impl PhaseClocks {
    /// Returns the clocks of a run whose timestamps are taken by `mode`. The kernel times each
    /// handshake of TCP anyway.
    pub fn of(mode: Timestamps) -> PhaseClocks {
        let (whole, part) = match mode {
            Timestamps::Kernel => (PhaseClock::Kernel, PhaseClock::Both),
            Timestamps::User => (PhaseClock::User, PhaseClock::User),
        };
        PhaseClocks {
            connect: PhaseClock::Kernel,
            tls: PhaseClock::User,
            interim: whole,
            wait: whole,
            ttfb: part,
            transfer: whole,
            slip: part,
            service: part,
            response: part,
            lifetime: PhaseClock::User,
        }
    }

    /// Returns each clock with the name of its phase, in the order in which a table shows them.
    pub fn named(&self) -> [(&'static str, PhaseClock); 10] {
        let &PhaseClocks { connect, tls, interim, wait, ttfb, transfer, .. } = self;
        let &PhaseClocks { slip, service, response, lifetime, .. } = self;
        [
            ("connect", connect),
            ("tls", tls),
            ("interim", interim),
            ("wait", wait),
            ("ttfb", ttfb),
            ("transfer", transfer),
            ("slip", slip),
            ("service", service),
            ("response", response),
            ("lifetime", lifetime),
        ]
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
