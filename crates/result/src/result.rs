//! The result document of a run, `sixmark.result/1`.

use sixmark_document::provenance::Ended;
use sixmark_document::provenance::Environment;
use sixmark_document::provenance::Lookup;
use sixmark_document::provenance::Tool;
use sixmark_document::provenance::Warning;
use sixmark_tally::family_result::Families;
use sixmark_tally::family_result::FamilyResult;
use sixmark_tally::interval::Interval;

use serde::{Deserialize, Serialize};

use crate::calibration::Calibration;
use crate::find::{FindMax, FoundRate};
use crate::fleet::FleetSection;
use crate::gate_result::GateResult;
pub use crate::generator::Generator;
use crate::sameness::Sameness;
use crate::truth::Truth;
use sixmark_plan::plan::Plan;
use sixmark_tally::tenth::Tenth;
use sixmark_units::family::Family;
use sixmark_vitals::section::Vitals;

/// The name and version of the document's format.
pub const SCHEMA: &str = "sixmark.result/1";

/// Returns a schema that applies `of` to the figures of each family and of the total.
#[cfg(feature = "schema")]
fn figures_all(of: serde_json::Value) -> serde_json::Value {
    serde_json::json!({ "properties": { "families": { "additionalProperties": of }, "total": of } })
}

/// The result of one run of sixmark. docs/result.md describes it for people. Times whose names end
/// in `_us` are in microseconds, those in `_s` in seconds; sizes are in bytes.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend(
    "if" = { "properties": { "plan": {
        "properties": { "load": { "properties": { "pace": { "properties": {
            "mode": { "const": "open" },
        } } } } },
    } } },
    "then" = figures_all(serde_json::json!({ "required": ["service_us", "slip_us"] })),
    "else" = figures_all(serde_json::json!({
        "properties": { "service_us": false, "slip_us": false },
    })),
)))]
pub struct RunResult {
    /// The name and version of the document's format.
    pub schema: String,
    /// The program that made the document.
    pub tool: Tool,
    /// When the run began, including its warm-up: RFC 3339, UTC, with milliseconds.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = sixmark_document::schema_type::TIME)))]
    pub started: String,
    /// The divisor of all rates: seconds from the beginning of the measurement to the end of the
    /// last exchange or, if later, to the end of the requested duration. The measurement begins when
    /// the warm-up is over; that of a number of requests in a closed loop begins when the first of
    /// them starts.
    pub elapsed_s: f64,
    /// Why the run ended.
    pub ended: Ended,
    /// The load as requested, with all defaults and addresses resolved.
    pub plan: Plan,
    /// The same as plan.seed, which determines where schedules over several addresses begin.
    pub seed: u64,
    /// Each name that was looked up with the system's resolver. No other time includes these times.
    pub dns: Vec<Lookup>,
    /// The machine that generated the load, and its routes.
    pub environment: Environment,
    /// The reasons to doubt the figures.
    pub warnings: Vec<Warning>,
    /// The ratio of requests, as [IPv6, IPv4].
    pub ratio: RatioResult,
    /// The figures of each family that the ratio uses.
    #[cfg_attr(feature = "schema", schemars(extend("minProperties" = 1)))]
    pub families: Families,
    /// The figures of both families together.
    pub total: FamilyResult,
    /// One entry for each second of the measurement, in order.
    pub intervals: Vec<Interval>,
    /// One entry for each tenth of a second of the measurement, in order, if it was shorter than 10
    /// s; all together count what intervals count. Empty for longer runs, searches and fleets, and in
    /// documents of versions that did not state it.
    #[serde(default)]
    pub tenths: Vec<Tenth>,
    /// Figures of the load generator itself.
    pub generator: Generator,
    /// The noise floor, measured with `--calibrate`: the time that the generator, the kernel and a
    /// server on loopback contribute to the times; null without that option.
    pub calibration: Option<Calibration>,
    /// The times in the captured packets compared with those of sixmark's clock; null without
    /// `--truth`.
    #[serde(default)]
    pub truth: Option<Truth>,
    /// The search for the highest rate; null if the run was not a search. In a search, the figures
    /// of a family are those of one of its trials.
    pub find_max: Option<FindMax>,
    /// Whether both families return the same responses; null if only one family was loaded or this
    /// was not examined.
    #[serde(default)]
    pub sameness: Option<Sameness>,
    /// The gates (`--fail-if`) and their results.
    #[serde(default)]
    pub gates: Vec<GateResult>,
    /// The processor time that the run consumed, here and at the server; null for a search, and if
    /// the kernel does not report it.
    #[serde(default)]
    pub vitals: Option<Vitals>,
    /// The agents that generated the load; null if it was this machine.
    #[serde(default)]
    pub fleet: Option<FleetSection>,
}

impl RunResult {
    /// Returns why the families are not comparable, as a sentence without a full stop, or `None` if
    /// they are.
    pub fn not_same(&self) -> Option<&str> {
        self.sameness.as_ref().and_then(|found| found.said.as_deref())
    }

    /// Returns true if a worker was busy all the time, so that the generator rather than the server
    /// may have been the bottleneck.
    pub fn is_saturated(&self) -> bool {
        self.generator.saturated
    }

    /// Returns the figures of the families that were loaded: of all but those that a search was
    /// stopped before it tried.
    pub fn families_tried(&self) -> impl Iterator<Item = (Family, &FamilyResult)> {
        let found = |family| self.find_max.as_ref()?.families.of(family);
        let is_untried = move |family| found(family).is_some_and(FoundRate::is_untried);
        self.families.iter().filter(move |&(family, _)| !is_untried(family))
    }

    /// Returns the seconds that a family's figures cover; in a search those of one of its trials.
    pub fn elapsed_s_of(&self, family: Family) -> f64 {
        let found = self.find_max.as_ref().and_then(|found| found.families.of(family));
        found.and_then(FoundRate::shown).map_or(self.elapsed_s, |trial| trial.elapsed_s)
    }
}

/// A ratio as [IPv6, IPv4].
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RatioResult {
    /// The ratio that was requested, as in the plan.
    pub asked: [u64; 2],
    /// The numbers of requests sent.
    pub sent: [u64; 2],
}
