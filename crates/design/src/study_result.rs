//! `sixmark.study/1`: the document that `sixmark study run` writes, during the study and at its
//! end.

mod claim;
mod imported;
mod instruments;
mod omitted;
mod printed;
mod published;
mod shown;
mod uncontrolled;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::form::Form;
use crate::looks::StudyUntil;
use sixmark_document::provenance::{Ended, Environment, Tool, Warning};
use sixmark_lab::link_report::LinkReport as Link;
use sixmark_result::sameness::GivenResult;
use sixmark_tally::account::AccountResult;
use sixmark_tally::family_result::Families;
use sixmark_tally::metric::Metric;
use sixmark_units::family::Family;
use sixmark_why::divided_difference::DividedDifference;

pub use claim::{
    ClaimAnswer, ClaimEstimate, ClaimEvidence, ClaimInstrument, ClaimKind, ClaimPrecondition,
    ClaimResult, ClaimScale, ExchangeCount,
};
pub use imported::ImportedFrom;
pub use instruments::{
    CellInstruments, ConnectionFigures, FamilyOverTime, KernelEnd, KernelOfCell, KernelOfFamily,
    KernelOverTime, PacketsOfCell,
};
pub use omitted::OmittedService;
pub use printed::PrintedFigure;
pub use published::{
    Analysis, Published, PublishedRow, PublishedShare, PublishedTable, ReanalysedStudy,
};
pub use shown::{
    Axis, Chart, ChartLine, Dot, Improvement, MissingDot, MissingFigure, Row, Statistic, Table,
    TableColumn, TableValue,
};
pub use uncontrolled::{UncontrolledPlace, UncontrolledSetting};

/// The name and version of the document's format.
pub const SCHEMA: &str = "sixmark.study/1";

/// The difference in percent that does not matter, unless the study sets another.
pub const MARGIN_PERCENT: f64 = 5.0;

/// The result of `sixmark study run`: the cells that were measured, and what is computed from them.
/// docs/study.md describes it for people.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StudyResult {
    /// The name and version of the format.
    pub schema: String,
    /// The program that wrote the document.
    pub tool: Tool,
    /// The study's name: letters, digits, `-` and `_`.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = sixmark_document::schema_type::STUDY_NAME)))]
    pub name: String,
    /// The title.
    pub title: String,
    /// The description; may be empty.
    pub description: String,
    /// How this study, in the form that ran, differs from the published one that it repeats, in
    /// sentences; empty without one.
    #[serde(default)]
    pub differences: Vec<String>,
    /// The file that it was read from.
    pub file: StudyFile,
    /// True for the short form (`--quick`).
    pub quick: bool,
    /// True for the long form (`--full`).
    #[serde(default)]
    pub full: bool,
    /// True for the form for a lab (`--in-lab`).
    #[serde(default)]
    pub in_lab: bool,
    /// Determines the order of the cells, and the seed of each.
    pub seed: u64,
    /// The order of the cells.
    pub order: CellOrder,
    /// How often each cell is measured.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub repetitions: u32,
    /// How it goes on after these repetitions until its claims are decided; null if it does not.
    #[serde(default)]
    pub until: Option<StudyUntil>,
    /// When the study began, RFC 3339 in UTC.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = sixmark_document::schema_type::TIME_OR_SECOND)))]
    pub started: String,
    /// When the document was last written, RFC 3339 in UTC.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = sixmark_document::schema_type::TIME_OR_SECOND)))]
    pub updated: String,
    /// Why the study ended; null while it runs, and if it was killed or failed.
    pub ended: Option<Ended>,
    /// The factors that were varied, in the order of the file.
    pub factors: Vec<FactorResult>,
    /// The optional services that can't run here. Neither their levels nor their cells are in the study.
    #[serde(default)]
    pub omitted: Vec<OmittedService>,
    /// The URLs of servers that the study did not start, because the user named them (`--target`), by
    /// the services that they stand for; by the empty name in a study without services.
    #[serde(default)]
    pub targets: BTreeMap<String, Vec<String>>,
    /// What the study's lab would have set, if it was carried out without its lab (`--target`).
    #[serde(default)]
    pub uncontrolled: Vec<UncontrolledSetting>,
    /// The number of cells in all, each repetition counted, without imported ones.
    pub cells_planned: u32,
    /// The cells measured so far, in the order of measurement, and those that were imported.
    pub cells: Vec<CellResult>,
    /// The tables that the study asks for.
    pub tables: Vec<Table>,
    /// The charts that it asks for.
    pub figures: Vec<Chart>,
    /// The comparisons that it asks for; the first is the most important.
    pub comparisons: Vec<StudyComparison>,
    /// The claims of the published study, and of this one, with their answers.
    #[serde(default)]
    pub claims: Vec<ClaimResult>,
    /// The published study that this one repeats; null if there is none.
    pub published: Option<Published>,
    /// The machine that generated the load.
    #[cfg_attr(feature = "schema", schemars(extend("properties" = { "routes": { "maxItems": 0 } })))]
    pub environment: Environment,
    /// Where the agents are that generated the load of the cells of sixmark itself: hosts (`--hosts`),
    /// or the server that they wait at (`--fleet`); empty if this machine generated it.
    #[serde(default)]
    pub fleet: Vec<String>,
    /// The lab that it was carried out in; null if there was none.
    #[serde(default)]
    pub lab: Option<LabUsed>,
    /// The programs used besides sixmark, each with the version that it reports.
    pub programs: BTreeMap<String, String>,
    /// One entry for each time that the study was resumed (`--resume`).
    pub resumed: Vec<Resumed>,
    /// Reasons to doubt the figures of the whole study. Those of single cells are in the cells.
    pub warnings: Vec<Warning>,
}

/// The lab of a study.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LabUsed {
    /// Its file, in the study's folder.
    pub file: String,
    /// Its name.
    pub name: String,
    /// True if it was built as root, false if in a user namespace.
    pub root: bool,
}

/// The file that a study was read from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StudyFile {
    /// The file's path as it was given, or the name of a built-in study.
    pub name: String,
    /// The SHA-256 of its text, and of the published figures and labs beside it, in hexadecimal.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = sixmark_document::schema_type::SHA256)))]
    pub sha256: String,
}

/// The order of cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum CellOrder {
    /// Each repetition is a block that contains every cell once, in an order determined by the
    /// seed, so that drift affects all cells alike.
    #[default]
    Random,
    /// Each repetition has the order of the file; the last factor changes fastest.
    Written,
}

/// A factor that was varied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FactorResult {
    /// Its name.
    pub name: String,
    /// The names of its levels, in the order of the file; after them those that were imported.
    pub levels: Vec<String>,
    /// The label that reports show in place of its name; absent if it has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// The unit of its levels that are numbers, as reports show it: `ms`; `B` for bytes. Absent if
    /// they have none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub unit: String,
    /// The labels that reports show in place of the names of levels, by name; absent if there are
    /// none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
}

/// A level of a factor.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct At {
    /// The factor's name; `family` also if one cell loads both families.
    pub factor: String,
    /// The level's name.
    pub level: String,
}

/// One measurement of one cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CellResult {
    /// The identifier, `c012-r3`: the number in the written order and the repetition, each from 1;
    /// `i001-r1` for an imported cell.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = r"^[ci][0-9]{3,}-r[0-9]+$")))]
    pub id: String,
    /// The number of the combination in the written order, from 1; that of an imported combination
    /// in the order of imports.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub cell: u32,
    /// The repetition, from 1.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub repetition: u32,
    /// One level of each factor, in the order of the factors.
    pub levels: Vec<At>,
    /// The client that generated the load.
    #[cfg_attr(feature = "schema", schemars(extend("enum" = sixmark_clients::import_tool::client_names())))]
    pub client: String,
    /// The number of agents that generated the load together; null if the client ran once.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub agents: Option<u32>,
    /// The words of the command: for sixmark those after `sixmark run`; empty for an imported cell.
    pub command: Vec<String>,
    /// When the cell began, or was imported, RFC 3339 in UTC.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = sixmark_document::schema_type::TIME_OR_SECOND)))]
    pub started: String,
    /// The duration in seconds, including the start of the client and of background traffic.
    pub took_s: f64,
    /// Why the cell ended.
    pub ended: Ended,
    /// The figures of each family by the names of their metrics: those that the client provides.
    #[cfg_attr(feature = "schema", schemars(extend("minProperties" = 1)))]
    pub families: Families<BTreeMap<String, f64>>,
    /// A summary of the responses of each family. Figures are only compared if the responses are
    /// the same. Empty if another client generated the load.
    #[serde(default)]
    pub given: Families<GivenResult>,
    /// How long each part of the response times took, of each family. Empty if another client
    /// generated the load.
    #[serde(default)]
    pub accounts: Families<AccountResult>,
    /// The background traffic during the cell; null if there was none.
    #[serde(default)]
    pub traffic: Option<CellTraffic>,
    /// The counters of the lab's impaired links since the lab was built.
    #[serde(default)]
    pub links: Vec<Link>,
    /// What the instruments beside the client measured; null if there were none.
    #[serde(default)]
    pub instruments: Option<CellInstruments>,
    /// Where the figures come from if they were imported; absent if the study measured them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<ImportedFrom>,
    /// Reasons to doubt the figures.
    pub warnings: Vec<Warning>,
}

/// The background traffic of a cell, summed over all flows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CellTraffic {
    /// The name of the mix in the study.
    pub mix: String,
    /// The program that sent it.
    #[serde(default)]
    pub generator: TrafficGenerator,
    /// The number of flows.
    pub flows: u32,
    /// The offered rate in bits/s, with headers.
    pub offered_bits_per_s: f64,
    /// The received rate in bits/s, with headers.
    pub received_bits_per_s: f64,
    /// The number of messages that did not arrive; of MGEN's, those that one with a higher number
    /// shows to be missing.
    pub lost: u64,
    /// The number of segments that TCP retransmitted; null if unknown, as of MGEN's flows.
    pub retransmitted: Option<u64>,
}

/// A program that sends background traffic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum TrafficGenerator {
    /// This program.
    #[default]
    Sixmark,
    /// MGEN of the Naval Research Laboratory, with a script that this program writes.
    Mgen,
}

impl StudyResult {
    /// Returns the form that ran.
    pub fn form(&self) -> Form {
        Form { quick: self.quick, full: self.full, in_lab: self.in_lab }
    }

    /// Returns the cells that the study measured.
    pub fn measured(&self) -> impl Iterator<Item = &CellResult> {
        self.cells.iter().filter(|cell| !cell.is_imported())
    }

    /// Returns the cells that were imported.
    pub fn imported(&self) -> impl Iterator<Item = &CellResult> {
        self.cells.iter().filter(|cell| cell.is_imported())
    }
}

impl CellResult {
    /// Returns true if the figures were imported rather than measured.
    pub fn is_imported(&self) -> bool {
        self.imported.is_some()
    }

    /// Returns the level of a factor; `None` if the cell does not have the factor.
    pub fn level(&self, factor: &str) -> Option<&str> {
        let found = self.levels.iter().find(|at| at.factor == factor);
        found.map(|at| at.level.as_str())
    }

    /// Returns a figure of a family; `None` if there is no such figure.
    pub fn figure(&self, family: Family, measure: Metric) -> Option<f64> {
        self.families.of(family)?.get(&measure.to_string()).copied()
    }
}

/// A comparison of two levels of a factor in one measure, by pairs of figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StudyComparison {
    /// Its name: letters, digits, `-` and `_`.
    pub name: String,
    /// The title.
    pub title: String,
    /// The measure that is compared.
    pub measure: Metric,
    /// The factor whose levels are compared.
    pub factor: String,
    /// The level that is judged.
    pub a: String,
    /// The level that it is judged against.
    pub b: String,
    /// Two levels of another factor, if the question is whether the ratio of A to B differs between
    /// them. The entries are then the ratio at the first level divided by the ratio at the second.
    /// Absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interaction: Option<Interaction>,
    /// The difference that does not matter, in percent.
    #[serde(default = "usual_margin")]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub margin_percent: f64,
    /// What distinguishes the pairs: factors, or `repetition`.
    pub paired_by: Vec<String>,
    /// One entry for each combination of the levels by which the comparison is split.
    pub entries: Vec<ComparisonEntry>,
    /// Published figures about the same, recomputed in the same way.
    pub published: Vec<ComparisonEntry>,
}

fn usual_margin() -> f64 {
    MARGIN_PERCENT
}

/// Two levels of a factor, between which an effect may differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Interaction {
    /// The factor.
    pub factor: String,
    /// The level whose ratio is judged.
    pub of: String,
    /// The level whose ratio it is judged against.
    pub over: String,
}

/// The result of the pairs at one combination of levels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparisonEntry {
    /// The labels of the levels, joined; empty if the comparison is not split.
    pub label: String,
    /// The levels; empty if the comparison is not split, and for published figures.
    #[serde(default)]
    pub at: Vec<At>,
    /// The number of pairs.
    pub pairs: u32,
    /// The number of pairs in which A's figure is the higher one.
    pub higher: u32,
    /// The geometric mean of A's figure over B's. With two pairs or more it has an interval of
    /// 95 %: Student's t on the logarithms. Null if there is no pair, or if the levels are not
    /// comparable.
    pub ratio: Option<MeanRatio>,
    /// The conclusion from the interval.
    pub finding: RatioFinding,
    /// The conclusion in words.
    pub sentence: String,
    /// Why the response times differ, if the levels do and their response times decide the measure.
    /// Absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<DividedDifference>,
}

/// A geometric mean of ratios.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MeanRatio {
    /// The geometric mean of A's figure over B's.
    pub value: f64,
    /// The lower end of its interval of 95 %; null if there is only one pair.
    pub low: Option<f64>,
    /// The upper end; null if there is only one pair.
    pub high: Option<f64>,
}

impl MeanRatio {
    /// Returns true if the whole interval is no further from 1 than `margin` percent.
    pub fn is_within(&self, margin: f64) -> bool {
        let margin = 1.0 + margin / 100.0;
        matches!((self.low, self.high),
            (Some(low), Some(high)) if low > 1.0 / margin && high < margin)
    }

    /// Returns true if the whole interval is further below 1 than `margin` percent.
    pub fn is_below(&self, margin: f64) -> bool {
        self.high.is_some_and(|high| high < 1.0 / (1.0 + margin / 100.0))
    }

    /// Returns true if the whole interval is further above 1 than `margin` percent.
    pub fn is_above(&self, margin: f64) -> bool {
        self.low.is_some_and(|low| low > 1.0 + margin / 100.0)
    }
}

/// A conclusion from an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum RatioFinding {
    /// A's figure is the higher one: the whole interval is above 1.
    Higher,
    /// A's figure is the lower one: the whole interval is below 1.
    Lower,
    /// The whole interval is within the margin: the difference does not matter.
    Equivalent,
    /// No difference is shown: the interval includes 1, or there is no interval.
    Unshown,
    /// The levels gave different responses, so that their figures can't be compared.
    #[serde(rename = "not_comparable")]
    NotComparable,
}

/// A resumption of a study.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Resumed {
    /// When the study was resumed, RFC 3339 in UTC.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = sixmark_document::schema_type::TIME_OR_SECOND)))]
    pub at: String,
    /// The number of cells measured before.
    pub cells: u32,
    /// What had changed since the study began, and was accepted (`--force`).
    pub changes: Vec<SetupChange>,
}

/// A change of the setup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SetupChange {
    /// What changed.
    pub what: String,
    /// The old value.
    pub before: String,
    /// The new value.
    pub now: String,
}
