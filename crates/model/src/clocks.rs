//! Whose clock the times are from, and how far it can be believed.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

/// Who takes the times of sending and receiving.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Timestamps {
    /// The kernel, when segments leave and come.
    Kernel,
    /// This process, when it sends and when it is told.
    #[default]
    User,
}

/// Whose clock a time is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum PhaseClock {
    /// The kernel's, at both ends.
    Kernel,
    /// This process's, at both ends.
    User,
    /// The kernel's at one end, this process's at the other or where a connection was opened for the
    /// exchange.
    Both,
}

/// Whose clock each phase is timed by, where nothing is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PhaseClocks {
    /// SYN to SYN-ACK by the kernel's, connect call to established by this process's.
    pub connect: PhaseClock,
    /// The handshake of TLS or QUIC.
    pub tls: PhaseClock,
    /// From a request's last byte to its response's first.
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
    /// From due, in a closed loop start, to last byte.
    pub response: PhaseClock,
    /// From established to closed.
    pub lifetime: PhaseClock,
}

/// Documents without the phase have no times of it either.
fn clock_of_older_documents() -> PhaseClock {
    PhaseClock::User
}

impl PhaseClocks {
    /// Those of a run whose times of sending and receiving `mode` took.
    pub fn of(mode: Timestamps) -> PhaseClocks {
        let (whole, part) = match mode {
            Timestamps::Kernel => (PhaseClock::Kernel, PhaseClock::Both),
            Timestamps::User => (PhaseClock::User, PhaseClock::User),
        };
        PhaseClocks {
            connect: whole,
            tls: PhaseClock::User,
            wait: whole,
            ttfb: part,
            transfer: whole,
            slip: part,
            service: part,
            response: part,
            lifetime: PhaseClock::User,
        }
    }

    /// Each with its phase's name, in the order in which a table shows them.
    pub fn named(&self) -> [(&'static str, PhaseClock); 9] {
        let &PhaseClocks { connect, tls, wait, ttfb, transfer, slip, service, response, lifetime } =
            self;
        [
            ("connect", connect),
            ("tls", tls),
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

/// What speaks against the times of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clocks {
    /// Times that this process had to take, the kernel having given none to believe.
    pub missing: u64,
    /// Complete responses whose times are out of order: sent, first byte, last byte.
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TimestampResult {
    /// Who took the times of sending and receiving.
    pub mode: Timestamps,
    /// Whose clock each phase is from, but for the times that are missing; null in documents from
    /// before that was told.
    #[serde(default)]
    pub phases: Option<PhaseClocks>,
    /// Times that sixmark took because the kernel gave none to believe.
    pub missing: u64,
    /// Complete responses whose times were out of order, so that their wait or transfer is 0.
    pub inverted: u64,
    /// How often the clock of the kernel's stamps was set during the run.
    pub clock_steps: u64,
}

impl Clocks {
    /// What to say of the times that `mode` took.
    pub fn result(self, mode: Timestamps) -> TimestampResult {
        let Clocks { missing, inverted, steps } = self;
        let phases = Some(PhaseClocks::of(mode));
        TimestampResult { mode, phases, missing, inverted, clock_steps: steps }
    }
}
