//! A load that this process or the agents of a fleet generated.

use std::ops::{Deref, DerefMut};

use sixmark_document::provenance::{Environment, RouteTaken, Warning};
use sixmark_load::{Loaded, one_after_the_other};
use sixmark_result::truth::Truth;
use sixmark_vitals::section::{MachineRole, Vitals};

/// A load, with the agents that generated it if it was a fleet.
#[derive(Clone, Debug)]
pub struct GeneratedLoad {
    /// What was counted in all.
    pub loaded: Loaded,
    /// The agents; `None` if it was this process.
    pub fleet: Option<Box<FleetLoad>>,
}

impl From<Loaded> for GeneratedLoad {
    /// The load of this process.
    fn from(loaded: Loaded) -> GeneratedLoad {
        GeneratedLoad { loaded, fleet: None }
    }
}

/// Whatever generated it, it is a load.
impl Deref for GeneratedLoad {
    type Target = Loaded;

    fn deref(&self) -> &Loaded {
        &self.loaded
    }
}

impl DerefMut for GeneratedLoad {
    fn deref_mut(&mut self) -> &mut Loaded {
        &mut self.loaded
    }
}

/// Merges consecutive loads, like [`one_after_the_other`], and the shares of each agent.
pub fn join_loads<'a>(loads: impl Iterator<Item = &'a GeneratedLoad> + Clone) -> GeneratedLoad {
    let fleet = loads.clone().fold(None, |fleet, load| joined_fleet(fleet, load.fleet.as_deref()));
    GeneratedLoad { loaded: one_after_the_other(loads.map(|load| &load.loaded)), fleet }
}

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

/// Returns the fleet of consecutive loads. Agents are told by their names.
fn joined_fleet(
    before: Option<Box<FleetLoad>>,
    later: Option<&FleetLoad>,
) -> Option<Box<FleetLoad>> {
    let Some(later) = later else { return before };
    let Some(mut fleet) = before else { return Some(Box::new(later.clone())) };
    fleet.server_restarts += later.server_restarts;
    fleet.duplicates += later.duplicates;
    fleet.foreign += later.foreign;
    for agent in &later.agents {
        match fleet.agents.iter_mut().find(|known| known.name == agent.name) {
            Some(known) => add_later_share(known, agent),
            None => fleet.agents.push(agent.clone()),
        }
    }
    Some(fleet)
}

/// Adds a later share of the same agent.
fn add_later_share(agent: &mut AgentLoad, later: &AgentLoad) {
    agent.loaded = one_after_the_other([&agent.loaded, &later.loaded].into_iter());
    if agent.incomplete_from.is_none() {
        agent.incomplete_from = later.incomplete_from;
        agent.lost_because.clone_from(&later.lost_because);
    }
    agent.adds_up &= later.adds_up;
    agent.conflicts += later.conflicts;
    if agent.spool_failed.is_none() {
        agent.spool_failed.clone_from(&later.spool_failed);
    }
    // The sides of a comparison have different targets.
    let known = agent.environment.routes.clone();
    let is_new = |route: &&RouteTaken| known.iter().all(|known| known.to != route.to);
    let new = later.environment.routes.iter().filter(is_new).cloned();
    agent.environment.routes.extend(new);
    if later.clock.bound_ns > agent.clock.bound_ns {
        agent.clock = later.clock;
    }
    agent.late_ns = agent.late_ns.max(later.late_ns);
}
