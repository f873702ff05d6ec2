//! The common parts of a run and a watch, as reports and gates read them.

use crate::gate_result::GateResult;
use crate::result::RunResult;
use sixmark_document::provenance::{Ended, Environment, Tool, Warning};
use sixmark_http::HttpVersion;
use sixmark_plan::plan::Plan;
use sixmark_tally::family_result::{Families, FamilyResult};
use sixmark_tally::interval::Interval;
use sixmark_tally::tenth::Tenth;
use sixmark_units::family::Family;

/// A document with figures of each family, from generated load or from watched traffic.
pub trait Measurement {
    /// Returns the name and version of the document's format.
    fn schema(&self) -> &str;

    /// Returns the program that wrote the document.
    fn tool(&self) -> &Tool;

    /// Returns when the measurement began: RFC 3339, UTC, with milliseconds.
    fn started(&self) -> &str;

    /// Returns the duration in seconds.
    fn elapsed_s(&self) -> f64;

    /// Returns why the measurement ended.
    fn ended(&self) -> Ended;

    /// Returns the machine that measured.
    fn environment(&self) -> &Environment;

    /// Returns the reasons to doubt the figures.
    fn warnings(&self) -> &[Warning];

    /// Returns the figures of each family.
    fn families(&self) -> &Families;

    /// Returns the figures of both families together.
    fn total(&self) -> &FamilyResult;

    /// Returns one entry for each second, in order.
    fn intervals(&self) -> &[Interval];

    /// Returns one entry for each tenth of a second, in order; empty for a watch, and if a run was
    /// not short.
    fn tenths(&self) -> &[Tenth] {
        self.run().map_or(&[], |run| &run.tenths)
    }

    /// Returns the results of the gates.
    fn gates(&self) -> &[GateResult];

    /// Returns the run, or `None` for a watch.
    fn run(&self) -> Option<&RunResult> {
        None
    }

    /// Returns true if all exchanges of a family were hidden from the observer, so that its counts
    /// of exchanges, which are 0, mean nothing.
    fn hides_exchanges(&self, _family: Family) -> bool {
        false
    }

    /// Returns why the figures of exchanges of a family, or of both together (`None`), are unknown
    /// although they read 0; `None` if they are known.
    fn why_hidden(&self, _family: Option<Family>) -> Option<String> {
        None
    }

    /// Returns the plan of a run, or `None` for a watch.
    fn plan(&self) -> Option<&Plan> {
        self.run().map(|run| &run.plan)
    }

    /// Returns the version of HTTP of the plan. It is 1.1 for watched traffic, in which only that
    /// version can be parsed.
    fn version(&self) -> HttpVersion {
        self.plan().map_or(HttpVersion::Http1, |plan| plan.http.version)
    }

    /// Returns why the families are not comparable, as a sentence without a full stop.
    fn not_same(&self) -> Option<&str> {
        self.run().and_then(RunResult::not_same)
    }

    /// Returns true if a worker was busy all the time, so that the generator rather than the server
    /// may have been the bottleneck.
    fn is_saturated(&self) -> bool {
        self.run().is_some_and(RunResult::is_saturated)
    }

    /// Returns the seconds that a family's figures cover; in a search those of one of its trials.
    fn elapsed_s_of(&self, family: Family) -> f64 {
        self.run().map_or(self.elapsed_s(), |run| run.elapsed_s_of(family))
    }
}

/// Implements the methods of [`Measurement`] that return a field of the document.
#[macro_export]
macro_rules! measurement_fields {
    () => {
        fn schema(&self) -> &str {
            &self.schema
        }

        fn tool(&self) -> &sixmark_document::provenance::Tool {
            &self.tool
        }

        fn started(&self) -> &str {
            &self.started
        }

        fn elapsed_s(&self) -> f64 {
            self.elapsed_s
        }

        fn ended(&self) -> sixmark_document::provenance::Ended {
            self.ended
        }

        fn environment(&self) -> &sixmark_document::provenance::Environment {
            &self.environment
        }

        fn warnings(&self) -> &[sixmark_document::provenance::Warning] {
            &self.warnings
        }

        fn families(&self) -> &sixmark_tally::family_result::Families {
            &self.families
        }

        fn total(&self) -> &sixmark_tally::family_result::FamilyResult {
            &self.total
        }

        fn intervals(&self) -> &[sixmark_tally::interval::Interval] {
            &self.intervals
        }

        fn gates(&self) -> &[$crate::gate_result::GateResult] {
            &self.gates
        }
    };
}

impl Measurement for RunResult {
    crate::measurement_fields!();

    fn run(&self) -> Option<&RunResult> {
        Some(self)
    }
}
