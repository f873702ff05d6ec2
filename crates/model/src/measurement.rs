//! What a run and a watch have alike, as reports and gates read it.

use crate::family_result::{Families, FamilyResult};
use crate::gate_result::GateResult;
use crate::interval::Interval;
use crate::plan::Plan;
use crate::provenance::{Ended, Environment, Tool, Warning};
use crate::result::RunResult;
use crate::watch::Watched;
use crate::watch::document::WatchResult;
use sixmark_http::HttpVersion;
use sixmark_units::family::Family;

/// A document with figures of each family: of a load, or of traffic that others made.
#[derive(Clone, Copy, Debug)]
pub enum Measurement<'a> {
    /// Sixmark loaded.
    Run(&'a RunResult),
    /// Others did.
    Watch(&'a WatchResult),
}

/// Reads a field that both have.
macro_rules! both {
    ($self:expr, $field:ident) => {
        match $self {
            Measurement::Run(run) => &run.$field,
            Measurement::Watch(watch) => &watch.$field,
        }
    };
}

impl<'a> Measurement<'a> {
    /// The run; none of what was watched.
    pub fn run(self) -> Option<&'a RunResult> {
        match self {
            Measurement::Run(run) => Some(run),
            Measurement::Watch(_) => None,
        }
    }

    /// What was to be run; none of what was watched.
    pub fn plan(self) -> Option<&'a Plan> {
        self.run().map(|run| &run.plan)
    }

    /// What packets said of others' traffic; none of a run.
    pub fn watched(self) -> Option<&'a Watched> {
        match self {
            Measurement::Run(_) => None,
            Measurement::Watch(watch) => Some(&watch.watched),
        }
    }

    /// The name and version of the document's form.
    pub fn schema(self) -> &'a str {
        both!(self, schema)
    }

    /// The program that made the document.
    pub fn tool(self) -> &'a Tool {
        both!(self, tool)
    }

    /// When it began: RFC 3339, UTC, with milliseconds.
    pub fn started(self) -> &'a str {
        both!(self, started)
    }

    /// How many seconds it lasted.
    pub fn elapsed_s(self) -> f64 {
        *both!(self, elapsed_s)
    }

    /// Why it ended.
    pub fn ended(self) -> Ended {
        *both!(self, ended)
    }

    /// The machine that measured.
    pub fn environment(self) -> &'a Environment {
        both!(self, environment)
    }

    /// What makes the figures doubtful.
    pub fn warnings(self) -> &'a [Warning] {
        both!(self, warnings)
    }

    /// The figures of each family.
    pub fn families(self) -> &'a Families {
        both!(self, families)
    }

    /// The figures of both families together.
    pub fn total(self) -> &'a FamilyResult {
        both!(self, total)
    }

    /// One entry for each second, in order.
    pub fn intervals(self) -> &'a [Interval] {
        both!(self, intervals)
    }

    /// What was demanded, and whether it was met.
    pub fn gates(self) -> &'a [GateResult] {
        both!(self, gates)
    }

    /// The version of HTTP that was to be spoken; 1.1 is what can be read in traffic that was watched.
    pub fn version(self) -> HttpVersion {
        self.plan().map_or(HttpVersion::Http1, |plan| plan.http.version)
    }

    /// True where all that a family exchanged was hidden from whoever watched: its counts of exchanges,
    /// 0 each, say nothing.
    pub fn hides_exchanges(self, family: Family) -> bool {
        match self {
            Measurement::Run(_) => false,
            Measurement::Watch(watch) => watch.hides_exchanges(family),
        }
    }

    /// What keeps the families from being compared, in a sentence without a full stop.
    pub fn not_same(self) -> Option<&'a str> {
        self.run().and_then(RunResult::not_same)
    }

    /// True where the generator, not the server, may have been the bottleneck: a worker was busy.
    pub fn is_saturated(self) -> bool {
        self.run().is_some_and(RunResult::is_saturated)
    }

    /// The seconds that a family's figures are of: of a search those of one of its trials.
    pub fn elapsed_s_of(self, family: Family) -> f64 {
        self.run().map_or(self.elapsed_s(), |run| run.elapsed_s_of(family))
    }
}

impl<'a> From<&'a RunResult> for Measurement<'a> {
    fn from(run: &'a RunResult) -> Measurement<'a> {
        Measurement::Run(run)
    }
}

impl<'a> From<&'a WatchResult> for Measurement<'a> {
    fn from(watch: &'a WatchResult) -> Measurement<'a> {
        Measurement::Watch(watch)
    }
}
