//! `sixmark.study/1`: what `sixmark study run` leaves behind, whole after every cell.

mod finding;
mod published;
mod shown;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use sixmark_document::provenance::{Ended, Environment, Tool, Warning};
use sixmark_lab::link_report::LinkReport as Link;
use sixmark_record::family_result::Families;
use sixmark_record::metric::Metric;
use sixmark_record::sameness::GivenResult;
use sixmark_units::family::Family;

pub use finding::{Claim, ExchangeCount, FindingResult, FindingVerdict};
pub use published::{Analysis, Published, PublishedRow, PublishedShare, PublishedTable};
pub use shown::{
    Axis, Chart, ChartLine, Dot, Improvement, MissingDot, MissingFigure, Row, Statistic, Table,
    TableColumn, TableValue,
};

/// The name and version of the document's form.
pub const SCHEMA: &str = "sixmark.study/1";

/// The difference that would not matter where the study does not say otherwise, percent.
pub const MARGIN_PERCENT: f64 = 5.0;

/// What `sixmark study run` leaves behind: the cells that were measured and what they say.
/// docs/study.md describes it for people.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StudyResult {
    /// The name and version of the form.
    pub schema: String,
    /// What made it.
    pub tool: Tool,
    /// The study's name: letters, digits, `-` and `_`.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = sixmark_document::schema_type::STUDY_NAME)))]
    pub name: String,
    /// A line about it.
    pub title: String,
    /// More about it, for people; may be empty.
    pub description: String,
    /// The file that it was read from.
    pub file: StudyFile,
    /// True of the short form (`--quick`).
    pub quick: bool,
    /// Its form for a lab was carried out.
    #[serde(default)]
    pub in_lab: bool,
    /// Decides the order of the cells, and where their own schedules begin.
    pub seed: u64,
    /// How the cells follow one another.
    pub order: CellOrder,
    /// How often each cell is measured.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub repetitions: u32,
    /// When the first cell began, RFC 3339 in UTC.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = sixmark_document::schema_type::TIME_OR_SECOND)))]
    pub started: String,
    /// When the document was written, RFC 3339 in UTC.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = sixmark_document::schema_type::TIME_OR_SECOND)))]
    pub updated: String,
    /// Why it ended; null while it goes on, and after it was killed.
    pub ended: Option<Ended>,
    /// What was varied, in the order of the file.
    pub factors: Vec<FactorResult>,
    /// How many there will be when all is done.
    pub cells_planned: u32,
    /// The cells measured so far, in the order in which they were.
    pub cells: Vec<CellResult>,
    /// The tables that the study asks for.
    pub tables: Vec<Table>,
    /// The figures that it asks for.
    pub figures: Vec<Chart>,
    /// The comparisons that it asks for; the first is the one that matters most.
    pub comparisons: Vec<StudyComparison>,
    /// Claims, tested.
    #[serde(default)]
    pub findings: Vec<FindingResult>,
    /// What was published of the study that this one repeats; null: nothing.
    pub published: Option<Published>,
    /// The machine that the load came from.
    #[cfg_attr(feature = "schema", schemars(extend("properties" = { "routes": { "maxItems": 0 } })))]
    pub environment: Environment,
    /// The lab that it was carried out in; null where there was none.
    #[serde(default)]
    pub lab: Option<LabUsed>,
    /// The programs used beside sixmark: what each says of its version.
    pub programs: BTreeMap<String, String>,
    /// One entry each time that it went on (`--resume`).
    pub resumed: Vec<Resumed>,
    /// What makes the figures doubtful: those of the cells come with the cells.
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
    /// Built with the rights of root, not in a user namespace.
    pub root: bool,
}

/// Where a study was read from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StudyFile {
    /// The file's path as it was given, or the name of a built-in study.
    pub name: String,
    /// The SHA-256 of its text, and of the published figures beside it, in hexadecimal.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = sixmark_document::schema_type::SHA256)))]
    pub sha256: String,
}

/// How cells follow one another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum CellOrder {
    /// Each repetition is a block, in which every cell comes once, in an order drawn by the seed:
    /// what drifts hits all cells alike.
    #[default]
    Random,
    /// In each repetition as in the file, the last factor changing fastest.
    Written,
}

/// Something that was varied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FactorResult {
    /// Its name.
    pub name: String,
    /// The names of its levels, in the order of the file.
    pub levels: Vec<String>,
}

/// A level of a factor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct At {
    /// The factor's name; `family` also where one cell loads both families.
    pub factor: String,
    /// The level's name.
    pub level: String,
}

/// One cell, measured once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CellResult {
    /// `c012-r3`: its number in the written order from 1, and the repetition from 1.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = r"^c[0-9]{3,}-r[0-9]+$")))]
    pub id: String,
    /// The number of the combination in the written order, from 1.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub cell: u32,
    /// The repetition, from 1.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub repetition: u32,
    /// One level of each factor, in the order of the factors.
    pub levels: Vec<At>,
    /// `sixmark`, or the program that loaded instead.
    #[cfg_attr(feature = "schema", schemars(extend("enum" = crate::client::Client::NAMES)))]
    pub client: String,
    /// The command, word by word: for sixmark what stands behind `sixmark run`.
    pub command: Vec<String>,
    /// When it began, RFC 3339 in UTC.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = sixmark_document::schema_type::TIME_OR_SECOND)))]
    pub started: String,
    /// Seconds that it took in all, starting the client included.
    pub took_s: f64,
    /// Why it ended.
    pub ended: Ended,
    /// Its figures, by the names of [`Metric`]: those that the client gives.
    #[cfg_attr(feature = "schema", schemars(extend("minProperties" = 1)))]
    pub families: Families<BTreeMap<String, f64>>,
    /// What each family gave: what is not the same is not compared. Empty where another client
    /// loaded.
    #[serde(default)]
    pub given: Families<GivenResult>,
    /// The background traffic around it; null: none.
    #[serde(default)]
    pub traffic: Option<CellTraffic>,
    /// What happened on the lab's impaired links since it was up.
    #[serde(default)]
    pub links: Vec<Link>,
    /// What makes them doubtful.
    pub warnings: Vec<Warning>,
}

/// The background traffic of a cell: all flows together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CellTraffic {
    /// The mix, by its name in the study.
    pub mix: String,
    /// How many flows.
    pub flows: u32,
    /// What was due, bits a second with headers.
    pub offered_bits_per_s: f64,
    /// What arrived, bits a second with headers.
    pub received_bits_per_s: f64,
    /// Messages that did not arrive.
    pub lost: u64,
    /// Segments that TCP sent again.
    pub retransmitted: u64,
}

impl CellResult {
    /// The level of a factor; none of a factor that it does not have.
    pub fn level(&self, factor: &str) -> Option<&str> {
        let found = self.levels.iter().find(|at| at.factor == factor);
        found.map(|at| at.level.as_str())
    }

    /// One figure of one family.
    pub fn figure(&self, family: Family, measure: Metric) -> Option<f64> {
        self.families.of(family)?.get(&measure.to_string()).copied()
    }
}

/// Two levels of a factor compared in one measure, pair by pair.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StudyComparison {
    /// Its name: letters, digits, `-` and `_`.
    pub name: String,
    /// A line above it.
    pub title: String,
    /// What is compared.
    pub measure: Metric,
    /// The factor whose levels are compared.
    pub factor: String,
    /// The level that is judged.
    pub a: String,
    /// The level that it is judged against.
    pub b: String,
    /// Levels of another factor, where what is looked into is whether the ratio of A to B differs
    /// between them: entries then are ratios of the ratio at the first to that at the second.
    /// Absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interaction: Option<Interaction>,
    /// The difference that would not matter, percent.
    #[serde(default = "usual_margin")]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub margin_percent: f64,
    /// What tells one pair from the next: factors, or `repetition`.
    pub paired_by: Vec<String>,
    /// One entry a combination of the levels that it is split by.
    pub entries: Vec<ComparisonEntry>,
    /// What was published about the same, worked out anew in the same way.
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

/// What the pairs of one combination say.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparisonEntry {
    /// What it is of: levels, joined; empty where the comparison is not split.
    pub label: String,
    /// How many pairs.
    pub pairs: u32,
    /// In how many pairs A's figure was the higher one.
    pub higher: u32,
    /// The geometric mean of A's figure over B's, with its interval of 95 % where there are two
    /// pairs or more: Student's t on the logarithms; null of no pair.
    pub ratio: Option<MeanRatio>,
    /// What the interval lets one say.
    pub finding: RatioFinding,
    /// The same in words.
    pub sentence: String,
}

/// A geometric mean of ratios.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MeanRatio {
    /// The geometric mean of A's figure over B's.
    pub value: f64,
    /// The lower end of its interval of 95 %; null of a single pair.
    pub low: Option<f64>,
    /// The upper end; null likewise.
    pub high: Option<f64>,
}

impl MeanRatio {
    /// Whether the whole interval is no further from 1 than `margin` percent.
    pub fn is_within(&self, margin: f64) -> bool {
        let margin = 1.0 + margin / 100.0;
        matches!((self.low, self.high),
            (Some(low), Some(high)) if low > 1.0 / margin && high < margin)
    }

    /// Whether the whole interval is further below 1 than `margin` percent.
    pub fn is_below(&self, margin: f64) -> bool {
        self.high.is_some_and(|high| high < 1.0 / (1.0 + margin / 100.0))
    }

    /// Whether the whole interval is further above 1 than `margin` percent.
    pub fn is_above(&self, margin: f64) -> bool {
        self.low.is_some_and(|low| low > 1.0 + margin / 100.0)
    }
}

/// What an interval lets one say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum RatioFinding {
    /// A's figure is the higher one: the whole interval is above 1.
    Higher,
    /// A's figure is the lower one: the whole interval is below 1.
    Lower,
    /// The whole interval is within the margin: what difference there is does not matter.
    Equivalent,
    /// The interval holds 1, or there is none: no difference is shown.
    Unshown,
    /// The levels don't give the same, so that their figures say nothing about each other.
    #[serde(rename = "not_comparable")]
    NotComparable,
}

/// A study that went on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Resumed {
    /// When, RFC 3339 in UTC.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = sixmark_document::schema_type::TIME_OR_SECOND)))]
    pub at: String,
    /// How many cells there were.
    pub cells: u32,
    /// What had changed since and was let pass (`--force`).
    pub changes: Vec<SetupChange>,
}

/// Something that was not as before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SetupChange {
    /// What.
    pub what: String,
    /// As it was.
    pub before: String,
    /// As it is.
    pub now: String,
}
