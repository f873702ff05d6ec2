//! `sixmark.result/1`: the only thing that reports, stores and other programs exchange.

use crate::family_result::Families;
use crate::family_result::FamilyResult;
use crate::interval::Interval;
use crate::provenance::Ended;
use crate::provenance::Environment;
use crate::provenance::Lookup;
use crate::provenance::Tool;
use crate::provenance::Warning;

use serde::{Deserialize, Serialize};

use crate::calibration::Calibration;
use crate::find::{FindMax, Found};
use crate::gate_result::GateResult;
pub use crate::generator::Generator;
use crate::plan::Plan;
use crate::sameness::Sameness;
use crate::truth::Truth;
use crate::vitals::section::Vitals;
use crate::watch::{Watched, WatchedFamily};
use sixmark_http::Version;
use sixmark_units::family::Family;

mod counted;

pub use counted::{families, family_result, planned_result};

/// The name and version of the document's form.
pub const SCHEMA: &str = "sixmark.result/1";

/// One run, whole. docs/result.md describes the fields for people, docs/result.schema.json for
/// programs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunResult {
    /// [`SCHEMA`].
    pub schema: String,
    /// What made it.
    pub tool: Tool,
    /// When the run began, RFC 3339 in UTC.
    pub started: String,
    /// Seconds from the end of the warm-up to the end of the last exchange.
    pub elapsed_s: f64,
    /// Why the run ended.
    pub ended: Ended,
    /// What was to be run, resolved; none where nothing was: others' traffic was watched.
    pub plan: Option<Plan>,
    /// Decides where schedules over several addresses begin.
    pub seed: u64,
    /// What resolving names took, apart from everything else.
    pub dns: Vec<Lookup>,
    /// The machine that the load came from, and its routes.
    pub environment: Environment,
    /// What makes the figures doubtful.
    pub warnings: Vec<Warning>,
    /// IPv6 : IPv4 of requests sent.
    pub ratio: RatioResult,
    /// The figures of each family that was used.
    pub families: Families,
    /// The figures of both together.
    pub total: FamilyResult,
    /// One entry a second.
    pub intervals: Vec<Interval>,
    /// What the load generator itself did, where there was one.
    pub generator: Option<Generator>,
    /// What packets say of traffic that was only watched.
    #[serde(default)]
    pub watched: Option<Watched>,
    /// What it adds to the times, where that was measured before.
    pub calibration: Option<Calibration>,
    /// What the packets said meanwhile, where they were looked at (`--truth`).
    #[serde(default)]
    pub truth: Option<Truth>,
    /// The search for the highest rate, where it was one: the figures are then of one trial of each
    /// family.
    pub find_max: Option<FindMax>,
    /// Whether both families give the same; none where nobody looked, or only one was loaded.
    #[serde(default)]
    pub sameness: Option<Sameness>,
    /// What was demanded (`--fail-if`), and whether it was met.
    #[serde(default)]
    pub gates: Vec<GateResult>,
    /// What it cost of the processors, here and at the server.
    #[serde(default)]
    pub vitals: Option<Vitals>,
}

impl RunResult {
    /// What keeps the families from being compared, in a sentence without a full stop.
    pub fn not_same(&self) -> Option<&str> {
        self.sameness.as_ref().and_then(|found| found.said.as_deref())
    }

    /// The version of HTTP that was to be spoken; 1.1 is what can be read in traffic that was watched.
    pub fn version(&self) -> Version {
        self.plan.as_ref().map_or(Version::Http1, |plan| plan.http.version)
    }

    /// True where the generator, not the server, may have been the bottleneck: a worker was busy.
    pub fn is_saturated(&self) -> bool {
        self.generator.as_ref().is_some_and(|generator| generator.saturated)
    }

    /// True where all that a family exchanged was hidden from whoever watched: its counts of exchanges,
    /// 0 each, say nothing.
    pub fn hides_exchanges(&self, family: Family) -> bool {
        let watched = self.watched.as_ref().and_then(|watched| watched.families.of(family));
        watched.is_some_and(WatchedFamily::hides_all)
    }

    /// The seconds that a family's figures are of.
    pub fn elapsed_s_of(&self, family: Family) -> f64 {
        let found = self.find_max.as_ref().and_then(|found| found.families.of(family));
        found.and_then(Found::shown).map_or(self.elapsed_s, |trial| trial.elapsed_s)
    }
}

/// IPv6 : IPv4.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct RatioResult {
    /// As in the plan; none where there was none.
    pub asked: Option<[u64; 2]>,
    /// Requests sent.
    pub sent: [u64; 2],
}
