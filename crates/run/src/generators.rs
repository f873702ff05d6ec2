//! The machines that carry out loads in place of this process.

use std::fmt::Debug;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use sixmark_document::provenance::{RouteTaken, Warning};
use sixmark_load::{self as load, PreparedLoad};
use sixmark_plan::plan::Plan;
use sixmark_sys::command_error::CommandError;
use sixmark_tally::tally::Slice;

use crate::{GeneratedLoad, cannot_start};

/// The agents of a fleet, which carry out one plan together.
pub trait Generators: Debug + Send + Sync {
    /// Returns how many agents there are, and what they have.
    fn size(&self) -> FleetSize;

    /// Checks on every agent that it can carry out its share of the plan. Returns the routes to
    /// the targets, each once, and the warnings about them.
    ///
    /// # Errors
    /// An agent can't carry out its share, or refuses to.
    fn check(&self, plan: &Plan) -> Result<(Vec<RouteTaken>, Vec<Warning>), CommandError>;

    /// Carries out a plan on all agents, which begin at the same time. Setting `stop` ends it
    /// early; `watch` is called for every second of each worker.
    ///
    /// # Errors
    /// The load could not begin, or nothing of it can be collected.
    fn load(
        &self,
        plan: &Plan,
        extras: &AgentExtras,
        stop: &Arc<AtomicBool>,
        watch: &mut dyn FnMut(&Slice),
    ) -> Result<GeneratedLoad, CommandError>;
}

/// How many agents a fleet has, and how much each can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FleetSize {
    /// The number of agents.
    pub agents: NonZeroU32,
    /// The number of cores of the agent that has the fewest: all agents get the same share.
    pub cores: NonZeroU32,
}

/// What agents measure besides their load.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentExtras {
    /// Whether each captures the packets of its share.
    pub truth: bool,
    /// The source of the server's vitals, which the first agent reads.
    pub vitals_from: Option<String>,
}

/// Carries out a plan on `generators` or, if there are none, in this process.
///
/// # Errors
/// The load could not begin.
pub fn run_load_on(
    generators: Option<&Arc<dyn Generators>>,
    plan: &Plan,
    stop: &Arc<AtomicBool>,
    mut watch: impl FnMut(&Slice),
) -> Result<GeneratedLoad, CommandError> {
    match generators {
        Some(fleet) => fleet.load(plan, &AgentExtras::default(), stop, &mut watch),
        None => {
            let loaded = load::run_load(PreparedLoad::new(plan)?, stop, watch);
            Ok(loaded.map_err(cannot_start)?.into())
        }
    }
}
