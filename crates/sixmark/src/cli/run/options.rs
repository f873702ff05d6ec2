//! What a plan is made of.

use super::args::{CourseArgs, WorkloadArgs};

/// The options that a plan is made of, of whatever command they are.
#[derive(Clone, Copy, Debug)]
pub(in crate::cli) struct PlanOptions<'a> {
    /// What is loaded, and how.
    pub(in crate::cli) workload: &'a WorkloadArgs,
    /// How it goes on, and when it ends.
    pub(in crate::cli) course: &'a CourseArgs,
    /// What is drawn is drawn by this.
    pub(in crate::cli) seed: u64,
    /// Credentials may stand in the document.
    pub(in crate::cli) keep_secrets: bool,
}
