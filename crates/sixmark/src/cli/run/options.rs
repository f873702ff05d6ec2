//! The options from which a plan is made.

use sixmark_run::FleetSize;

use super::args::{ScheduleArgs, WorkloadArgs};

/// The options from which a plan is made, whichever command they belong to.
#[derive(Clone, Copy, Debug)]
pub(in crate::cli) struct PlanOptions<'a> {
    /// What is loaded, and how.
    pub(in crate::cli) workload: &'a WorkloadArgs,
    /// How the load proceeds, and when it ends.
    pub(in crate::cli) schedule: &'a ScheduleArgs,
    /// The seed of everything random.
    pub(in crate::cli) seed: u64,
    /// True if credentials may be written to the document.
    pub(in crate::cli) keep_secrets: bool,
    /// The agents that carry it out; `None` if it is this process.
    pub(in crate::cli) fleet: Option<FleetSize>,
}
