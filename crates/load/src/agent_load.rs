//! The load of one agent of a fleet.

use sixmark_document::provenance::{Environment, Warning};
use sixmark_record::truth::Truth;
use sixmark_vitals::section::{MachineRole, Vitals};

use super::Loaded;

/// A load that a fleet generated.
#[derive(Clone, Debug, Default)]
pub struct FleetLoad {
    /// The name under which its records are kept.
    pub name: String,
    /// The agents, in the order of their workers' numbers.
    pub agents: Vec<AgentLoad>,
    /// What the load cost its server, with the warnings about it, if an agent read its vitals.
    pub server: Option<(MachineRole, Vec<Warning>)>,
    /// How often the server between agents and controller was started again meanwhile.
    pub server_restarts: u32,
    /// Records that arrived more than once and were counted once.
    pub duplicates: u64,
    /// Records of agents that took no part, which were not counted.
    pub foreign: u64,
}

/// The share of a load that one agent generated, with what is known about the agent.
#[derive(Clone, Debug)]
pub struct AgentLoad {
    /// Its name within the fleet.
    pub name: String,
    /// The host on which it ran.
    pub host: String,
    /// Its machine, and its routes to the targets.
    pub environment: Environment,
    /// The number of its workers.
    pub workers: u32,
    /// What it counted.
    pub loaded: Loaded,
    /// The second from which on its counts are missing; `None` if they are complete.
    pub incomplete_from: Option<u64>,
    /// Why they are missing, as far as it is known.
    pub lost_because: Option<String>,
    /// Whether the sum of its seconds is what it counted in all.
    pub adds_up: bool,
    /// Records that disagree with one that was counted, or name another agent.
    pub conflicts: u64,
    /// Why records could not be kept on its disk, if that happened.
    pub spool_failed: Option<String>,
    /// The difference of its clock from the controller's, and the most by which that may be wrong,
    /// in nanoseconds.
    pub clock: ClockOffset,
    /// How much later than agreed it began, in nanoseconds.
    pub late_ns: i64,
    /// The check of its clock against packets, if it was asked for.
    pub truth: Option<Truth>,
    /// What the load cost, as seen from there, with the warnings about it.
    pub vitals: Option<(Vitals, Vec<Warning>)>,
}

/// The difference between two clocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClockOffset {
    /// How far the other clock is ahead, in nanoseconds.
    pub offset_ns: i64,
    /// The most by which `offset_ns` may be wrong, in nanoseconds.
    pub bound_ns: u64,
}
