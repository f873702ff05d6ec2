//! Checks that turn options into a plan that this machine can run.

use std::sync::Arc;
use std::time::SystemTime;

use sixmark_document::provenance::{Lookup, RouteTaken, Warning};
use sixmark_plan::plan::Plan;
use sixmark_result::condition::Condition;

use super::{Circumstances, Generators};
use crate::preflight;
use crate::search_asked::SearchAsked;
use sixmark_document::environment;
use sixmark_load::PreparedLoad;
use sixmark_sys::command_error::CommandError;

/// A plan made from options, with names looked up. It has not been checked whether this machine can
/// carry it out: only a [`Runnable`] can be run.
#[derive(Clone, Debug)]
pub struct Draft {
    /// What is to be run.
    pub plan: Plan,
    /// The search for the highest rate; without conditions there is none. With a search, the plan's
    /// load is that of the first trial except for its family.
    pub search: SearchAsked,
    /// The names that were looked up for it.
    pub dns: Vec<Lookup>,
    /// Warnings about the options.
    pub warnings: Vec<Warning>,
}

/// A plan that this machine can carry out. It is immutable.
#[derive(Debug)]
pub struct Runnable {
    prepared: PreparedLoad,
    generators: Option<Arc<dyn Generators>>,
    search: SearchAsked,
    /// The names that were looked up.
    pub dns: Vec<Lookup>,
    /// The warnings known before the run.
    pub warnings: Vec<Warning>,
    /// How packets leave for each address.
    pub routes: Vec<RouteTaken>,
    doubts: Vec<Warning>,
}

impl Draft {
    /// Checks for what would fail before anything is sent: the driver, requests, certificates,
    /// routes, sources, open files.
    ///
    /// # Errors
    /// Returns an error that names what can't be done and a way out.
    pub fn check(self) -> Result<Runnable, CommandError> {
        let Draft { plan, search, dns, warnings } = self;
        let (prepared, routes, doubts) = preflight::check_plan(plan)?;
        let generators = None;
        Ok(Runnable { prepared, generators, search, dns, warnings, routes, doubts })
    }

    /// Has the agents of a fleet check the plan, which they will carry out.
    ///
    /// # Errors
    /// Returns an error that names what can't be done, and where.
    pub fn check_on(self, generators: Arc<dyn Generators>) -> Result<Runnable, CommandError> {
        let Draft { plan, search, dns, warnings } = self;
        // Requests and certificates are checked here first, so that no agent is asked in vain.
        let prepared = PreparedLoad::new(&plan)?;
        let (routes, doubts) = generators.check(&plan)?;
        let generators = Some(generators);
        Ok(Runnable { prepared, generators, search, dns, warnings, routes, doubts })
    }
}

impl Runnable {
    /// Returns the plan to run.
    pub fn plan(&self) -> &Plan {
        self.prepared.plan()
    }

    /// Returns the agents that carry it out; `None` if it is this process.
    pub fn generators(&self) -> Option<&Arc<dyn Generators>> {
        self.generators.as_ref()
    }

    /// Returns the load, prepared to be carried out in this process.
    pub fn into_prepared(self) -> PreparedLoad {
        self.prepared
    }

    /// Returns the conditions of a search for the highest rate; empty without a search.
    pub fn conditions(&self) -> &[Condition] {
        &self.search.conditions
    }

    /// Returns the search for the highest rate.
    pub(crate) fn search(&self) -> &SearchAsked {
        &self.search
    }

    /// Reports whether the highest rate is searched for: see
    /// [`find::run_search`](crate::find::run_search).
    pub fn searches(&self) -> bool {
        !self.conditions().is_empty()
    }

    /// Returns the warnings known before the run; the result's warnings begin with them.
    pub fn doubts(&self) -> &[Warning] {
        &self.doubts
    }

    /// Marks the start of the run. Returns the load, and what is known about the run so far.
    pub(crate) fn begin(self) -> (PreparedLoad, Circumstances) {
        let environment = environment::environment(self.routes);
        let started = humantime::format_rfc3339_millis(SystemTime::now()).to_string();
        let doubts = [self.doubts, self.warnings].concat();
        (self.prepared, Circumstances { started, dns: self.dns, environment, doubts })
    }
}
