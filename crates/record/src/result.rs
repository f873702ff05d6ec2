//! `sixmark.result/1`: what a run of sixmark did.

use crate::family_result::Families;
use crate::family_result::FamilyResult;
use crate::interval::Interval;
use sixmark_document::provenance::Ended;
use sixmark_document::provenance::Environment;
use sixmark_document::provenance::Lookup;
use sixmark_document::provenance::Tool;
use sixmark_document::provenance::Warning;

use serde::{Deserialize, Serialize};

use crate::calibration::Calibration;
use crate::find::{FindMax, FoundRate};
use crate::gate_result::GateResult;
pub use crate::generator::Generator;
use crate::plan::Plan;
use crate::sameness::Sameness;
use crate::truth::Truth;
use sixmark_units::family::Family;
use sixmark_vitals::section::Vitals;

mod counted;

pub use counted::{families_of, family_result, planned_result};

/// The name and version of the document's form.
pub const SCHEMA: &str = "sixmark.result/1";

/// What all figures of a run must be, for its schema.
#[cfg(feature = "schema")]
fn figures_all(of: serde_json::Value) -> serde_json::Value {
    serde_json::json!({ "properties": { "families": { "additionalProperties": of }, "total": of } })
}

/// One run of sixmark, whole; docs/result.md describes it for people. Times whose names end in `_us`
/// are microseconds, those in `_s` seconds; sizes are bytes.
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
    /// The name and version of the form.
    pub schema: String,
    /// The program that made the document.
    pub tool: Tool,
    /// When the run began, warm-up included: RFC 3339, UTC, with milliseconds.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = sixmark_document::schema_type::TIME)))]
    pub started: String,
    /// Seconds from the end of the warm-up to the end of the last exchange, at least to the end of
    /// the time where that ended the run: what rates are divided by.
    pub elapsed_s: f64,
    /// Why the run ended.
    pub ended: Ended,
    /// What was to be run, resolved.
    pub plan: Plan,
    /// The same as plan.seed: decides where schedules over several addresses begin.
    pub seed: u64,
    /// Each name that the system's resolver was asked for. Not part of any other time.
    pub dns: Vec<Lookup>,
    /// The machine that the load came from, and its routes.
    pub environment: Environment,
    /// What makes the figures doubtful.
    pub warnings: Vec<Warning>,
    /// [IPv6, IPv4], of requests.
    pub ratio: RatioResult,
    /// The figures of each family that the ratio uses.
    #[cfg_attr(feature = "schema", schemars(extend("minProperties" = 1)))]
    pub families: Families,
    /// The figures of both families together.
    pub total: FamilyResult,
    /// One entry for each second of the measurement, in order.
    pub intervals: Vec<Interval>,
    /// What the load generator itself did.
    pub generator: Generator,
    /// The noise floor, where `--calibrate` asked for it: what the generator, the kernel and a
    /// server on loopback add to the times; null: it did not.
    pub calibration: Option<Calibration>,
    /// What packets said meanwhile beside sixmark's clock; null: without `--truth`.
    #[serde(default)]
    pub truth: Option<Truth>,
    /// The search for the highest rate; null: the run was none. The figures of a family are then
    /// those of one of its trials.
    pub find_max: Option<FindMax>,
    /// Whether both families give the same; null: not both were loaded, or nobody looked.
    #[serde(default)]
    pub sameness: Option<Sameness>,
    /// What was demanded (`--fail-if`), and whether it was met.
    #[serde(default)]
    pub gates: Vec<GateResult>,
    /// What it cost of the processors, here and at the server; null of a search, and where the
    /// kernel does not tell.
    #[serde(default)]
    pub vitals: Option<Vitals>,
}

impl RunResult {
    /// What keeps the families from being compared, in a sentence without a full stop.
    pub fn not_same(&self) -> Option<&str> {
        self.sameness.as_ref().and_then(|found| found.said.as_deref())
    }

    /// True where the generator, not the server, may have been the bottleneck: a worker was busy.
    pub fn is_saturated(&self) -> bool {
        self.generator.saturated
    }

    /// The seconds that a family's figures are of: of a search those of one of its trials.
    pub fn elapsed_s_of(&self, family: Family) -> f64 {
        let found = self.find_max.as_ref().and_then(|found| found.families.of(family));
        found.and_then(FoundRate::shown).map_or(self.elapsed_s, |trial| trial.elapsed_s)
    }
}

/// IPv6 : IPv4.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RatioResult {
    /// As in the plan.
    pub asked: [u64; 2],
    /// Requests sent.
    pub sent: [u64; 2],
}
