//! The options from which a plan is made.

use sixmark_run::FleetSize;

use crate::args::{ScheduleArgs, WorkloadArgs};

/// The options from which a plan is made, whichever command they belong to.
#[derive(Clone, Copy, Debug)]
pub struct PlanOptions<'a> {
    /// What is loaded, and how.
    pub workload: &'a WorkloadArgs,
    /// How the load proceeds, and when it ends.
    pub schedule: &'a ScheduleArgs,
    /// The seed of everything random.
    pub seed: u64,
    /// True if credentials may be written to the document.
    pub keep_secrets: bool,
    /// The agents that carry it out; `None` if it is this process.
    pub fleet: Option<FleetSize>,
}
