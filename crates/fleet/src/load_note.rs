//! What is kept beside the records of a load, so that a result can be made from them by another
//! controller.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use sixmark_document::provenance::{Environment, RouteTaken};
use sixmark_plan::plan::Plan;

use crate::names::{AgentName, LoadName};

/// The note of a load.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LoadNote {
    /// The load.
    pub load: LoadName,
    /// When it was to begin (RFC 3339).
    pub started: String,
    /// Its plan, as documents state it: without secrets and contents.
    pub plan: Plan,
    /// The agents, in the order of their shares.
    pub agents: Vec<NotedAgent>,
}

/// An agent of a load.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NotedAgent {
    /// Its name.
    pub name: AgentName,
    /// How often an agent of this name was started before it.
    pub incarnation: u64,
    /// The host on which it runs.
    pub host: String,
    /// Its machine.
    pub environment: Environment,
    /// Its routes to the targets.
    pub routes: Vec<RouteTaken>,
    /// The numbers of its workers.
    pub workers: Range<u32>,
    /// How far its clock is ahead of the controller's, in nanoseconds.
    pub clock_offset_ns: i64,
    /// The most by which that may be wrong, in nanoseconds.
    pub clock_bound_ns: u64,
}
