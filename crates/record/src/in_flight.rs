//! Exchanges that were in flight when a load ended.

use crate::outcome::FailurePhase;

/// An exchange without a complete response at the end of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InFlight {
    /// Nanoseconds since it was due (in a closed loop, since it began).
    pub age_ns: u64,
    /// Nanoseconds of the measurement that it was in flight.
    pub silent_ns: u64,
    /// The phase in which it was.
    pub phase: FailurePhase,
    /// The index of its endpoint in the plan.
    pub endpoint: usize,
    /// The index of its request's name, if requests are counted by name.
    pub name: Option<usize>,
    /// False if it began in the warm-up and is not among those sent.
    pub counted: bool,
}
