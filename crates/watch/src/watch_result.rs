//! `sixmark.watch/1`: the document that `sixmark watch` writes.

use serde::{Deserialize, Serialize};

use super::{Watched, WatchedFamily, describe_unseen};
use sixmark_document::provenance::{Ended, Environment, Tool, Warning};
use sixmark_result::gate_result::GateResult;
use sixmark_result::measurement::Measurement;
use sixmark_tally::family_result::{Families, FamilyResult};
use sixmark_tally::interval::Interval;
use sixmark_units::family::Family;

/// The name and version of the document's format.
pub const SCHEMA: &str = "sixmark.watch/1";

/// The result of one watch: the figures of a run as far as packets show them, and further figures
/// that only packets show. docs/watch.md describes it for people. Times whose names end in `_us`
/// are in microseconds, those ending in `_s` in seconds; sizes are in bytes.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WatchResult {
    /// The name and version of the format.
    pub schema: String,
    /// The program that wrote the document.
    pub tool: Tool,
    /// When the watch began, by the capture's clock: RFC 3339, UTC, with milliseconds.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = sixmark_document::schema_type::TIME)))]
    pub started: String,
    /// Seconds from the beginning to the end of the capture. Rates are relative to this time.
    pub elapsed_s: f64,
    /// Why the watch ended.
    pub ended: Ended,
    /// The machine that watched.
    pub environment: Environment,
    /// Reasons to doubt the figures.
    pub warnings: Vec<Warning>,
    /// The figures of each family that was seen.
    pub families: Families,
    /// The figures of both families together.
    pub total: FamilyResult,
    /// One entry for each second, in order.
    pub intervals: Vec<Interval>,
    /// The figures that only packets show.
    pub watched: Watched,
    /// The gates (`--fail-if`) and their results.
    #[serde(default)]
    pub gates: Vec<GateResult>,
}

impl Measurement for WatchResult {
    sixmark_result::measurement_fields!();

    fn hides_exchanges(&self, family: Family) -> bool {
        self.watched.families.of(family).is_some_and(WatchedFamily::hides_all)
    }

    fn why_hidden(&self, family: Option<Family>) -> Option<String> {
        let families: Vec<&WatchedFamily> = match family {
            Some(family) => self.watched.families.of(family).into_iter().collect(),
            None => self.watched.seen(),
        };
        let hides = families.iter().any(|of| of.hides_all());
        if hides { describe_unseen(&families) } else { None }
    }
}
