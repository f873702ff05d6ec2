//! From what options say to what can be run.

use std::time::SystemTime;

use sixmark_model::condition::Condition;
use sixmark_model::plan::Plan;
use sixmark_model::provenance::{Lookup, RouteTaken, Warning};

use super::Circumstances;
use crate::{environment, preflight};
use sixmark_load::PreparedLoad;
use sixmark_machine::CommandError;

/// What options come to, with names looked up. Whether this machine can do it was not looked into: until
/// then nobody gets at the plan.
#[derive(Clone, Debug)]
pub struct Draft {
    pub(crate) plan: Plan,
    /// What must hold at the highest rate, where that is to be found; the plan's load is then that
    /// of the first trial, but for its family.
    pub(crate) find_max: Vec<Condition>,
    /// Trials of that may have more connections than the plan says, as many as they can need.
    pub(crate) more_places: bool,
    /// The names looked up for it.
    pub(crate) dns: Vec<Lookup>,
    /// Doubts about what was asked for.
    pub(crate) warnings: Vec<Warning>,
}

/// A plan that this machine can carry out. Nothing changes it.
#[derive(Debug)]
pub struct Runnable {
    prepared: PreparedLoad,
    find_max: Vec<Condition>,
    pub(crate) more_places: bool,
    pub(crate) dns: Vec<Lookup>,
    pub(crate) warnings: Vec<Warning>,
    pub(crate) routes: Vec<RouteTaken>,
    doubts: Vec<Warning>,
}

impl Draft {
    /// Checks what can be known to fail before anything is sent: the driver, requests, certificates,
    /// routes, sources, open files.
    ///
    /// # Errors
    /// What can't be done, and the way out.
    pub fn check(self) -> Result<Runnable, CommandError> {
        let Draft { plan, find_max, more_places, dns, warnings } = self;
        let (prepared, routes, doubts) = preflight::check_plan(plan)?;
        Ok(Runnable { prepared, find_max, more_places, dns, warnings, routes, doubts })
    }
}

impl Runnable {
    /// What is to be run.
    pub fn plan(&self) -> &Plan {
        self.prepared.plan()
    }

    /// What must hold at the highest rate, where that is to be found.
    pub fn conditions(&self) -> &[Condition] {
        &self.find_max
    }

    /// True where the highest rate is to be found: see [`find::run_search`](crate::find::run_search).
    pub fn searches(&self) -> bool {
        !self.conditions().is_empty()
    }

    /// What may go wrong in the run; the result's warnings begin with this.
    pub fn doubts(&self) -> &[Warning] {
        &self.doubts
    }

    /// Begins now: what to load, and what is known of the run by then.
    pub(crate) fn begin(self) -> (PreparedLoad, Circumstances) {
        let environment = environment::environment(self.routes);
        let started = humantime::format_rfc3339_millis(SystemTime::now()).to_string();
        let doubts = [self.doubts, self.warnings].concat();
        (self.prepared, Circumstances { started, dns: self.dns, environment, doubts })
    }
}
