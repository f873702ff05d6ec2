//! The tables and charts in a study's document.

use serde::{Deserialize, Serialize};

use super::At;
use super::printed::PrintedFigure;
use sixmark_tally::metric::Metric;
use sixmark_units::family::Family;

/// A statistic over repetitions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Statistic {
    /// The arithmetic mean, with a t interval of 95 %.
    #[default]
    Mean,
    /// The median, with an interval of at least 95 % between two of the values.
    Median,
}

/// A table with a row for each combination of some factors, and a column for each measure at the
/// levels of others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Table {
    /// The name: letters, digits, `-` and `_`. If factors are in neither rows nor columns, there is
    /// one table of that name for each combination of their levels.
    pub name: String,
    /// The title.
    pub title: String,
    /// The levels that apply to the whole table.
    pub at: Vec<At>,
    /// The factors whose levels are in the first columns.
    pub factors: Vec<String>,
    /// The other columns, which have figures.
    pub columns: Vec<TableColumn>,
    /// The rows.
    pub rows: Vec<Row>,
    /// How much better one level of a factor of the rows is than another; absent if the study does
    /// not ask for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub improvement: Option<Improvement>,
    /// The statistic over repetitions.
    pub statistic: Statistic,
    /// The published tables whose figures are shown beside the measured ones; null if there are
    /// none.
    pub published: Option<String>,
    /// The levels of each published column beside a measured one, of factors that only the published
    /// study has: `NetBSD`; an empty text if it has no such factors. Empty if nothing is shown
    /// beside.
    #[serde(default)]
    pub beside: Vec<String>,
    /// Remarks below it.
    pub remarks: Vec<String>,
}

impl Table {
    /// Returns the row of improvements to be shown below a row, which is the last of those that it
    /// is about; `None` if there is none.
    pub fn improvement_below(&self, row: &Row) -> Option<&Row> {
        let improvement = self.improvement.as_ref()?;
        let place = self.factors.iter().position(|factor| *factor == improvement.factor)?;
        let others = |row: &Row| -> Vec<String> {
            let others = row.levels.iter().enumerate().filter(|(at, _)| *at != place);
            others.map(|(_, level)| level.clone()).collect()
        };
        let last = self.rows.iter().rev().find(|other| others(other) == others(row))?;
        let same = || improvement.rows.iter().find(|better| others(better) == others(row));
        (last == row).then(same).flatten()
    }
}

/// A column of figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TableColumn {
    /// The heading.
    pub label: String,
    /// The measure of its figures.
    pub measure: Metric,
    /// The count of which its figures are shares in percent; absent if they are no shares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<Metric>,
    /// The unit of its figures; empty for counts, and for shares from 0 to 1.
    pub unit: String,
    /// The family of its figures, if the column determines it; else null.
    pub family: Option<Family>,
    /// The levels of its figures, including the family if the column determines it.
    pub at: Vec<At>,
}

/// A row of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Row {
    /// One level for each of the table's factors.
    pub levels: Vec<String>,
    /// One entry for each column.
    pub values: Vec<TableValue>,
}

/// How much better one level of a factor is than another, from the means of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Improvement {
    /// The factor.
    pub factor: String,
    /// The level that is judged.
    pub of: String,
    /// The level that it is judged against.
    pub over: String,
    /// One row for each combination of the other factors of the table's rows. Its levels are this
    /// combination with the judged level; its values are percentages. A positive value is an
    /// improvement, also where a lower figure is better.
    pub rows: Vec<Row>,
    /// Why some speeds can't be compared, in a sentence without a full stop; these have no
    /// percentage. Absent if there is no reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unlike: Option<String>,
}

/// A figure of a table, in its column's unit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TableValue {
    /// The measured figure; null if nothing was measured.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<sixmark_document::schema_type::Signed>")
    )]
    pub measured: Option<f64>,
    /// The lower end of its interval of 95 %; null if there are too few repetitions.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<sixmark_document::schema_type::Signed>")
    )]
    pub low: Option<f64>,
    /// The upper end; null if there are too few repetitions.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<sixmark_document::schema_type::Signed>")
    )]
    pub high: Option<f64>,
    /// Why nothing was measured although exchanges were sent; absent if something was measured, and
    /// if nothing was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<MissingFigure>,
    /// The number of measurements, or of pairs of them, that the figure is computed from.
    pub n: u32,
    /// The published figures, in the same unit: one entry for each entry of the table's `beside`,
    /// null if nothing was printed. Empty if there is none.
    #[serde(default, deserialize_with = "super::printed::read_figures")]
    pub published: Vec<Option<PrintedFigure>>,
}

/// The reason why there is no figure although exchanges were sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum MissingFigure {
    /// No response was complete, and some exchanges lasted until the client gave up.
    Stalled,
    /// No response was complete.
    Failed,
}

impl Statistic {
    /// Returns the name of the statistic over so many repetitions: `median of 3 repetitions`; `None`
    /// for a single one, which is its own mean.
    pub fn over(self, repetitions: u32) -> Option<String> {
        let word = match self {
            Statistic::Mean => "mean",
            Statistic::Median => "median",
        };
        (repetitions > 1).then(|| format!("{word} of {repetitions} repetitions"))
    }
}

impl MissingFigure {
    /// Returns the words that are shown in place of the figure.
    pub fn words(self) -> &'static str {
        match self {
            MissingFigure::Stalled => "none (stalled)",
            MissingFigure::Failed => "none (failed)",
        }
    }
}

/// A chart: lines over a factor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Chart {
    /// Its name: letters, digits, `-` and `_`.
    pub name: String,
    /// The title.
    pub title: String,
    /// The axis of the factor.
    pub x: Axis,
    /// The axis of the measure.
    pub y: Axis,
    /// The statistic over repetitions; null if it is not known, because an earlier version wrote the
    /// document.
    #[serde(default)]
    pub statistic: Option<Statistic>,
    /// The lines.
    pub series: Vec<ChartLine>,
}

/// An axis of a chart.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Axis {
    /// The name of the factor or measure that it shows.
    pub label: String,
    /// The unit; may be empty.
    pub unit: String,
    /// True if the axis is logarithmic, false if it is linear.
    pub logarithmic: bool,
}

/// A line of a chart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChartLine {
    /// The label.
    pub label: String,
    /// The family of its figures; null if its levels do not determine the family.
    pub family: Option<Family>,
    /// The levels that the line stands for, including the family if it has one.
    pub at: Vec<At>,
    /// True for published figures.
    pub published: bool,
    /// Its points, from left to right.
    pub points: Vec<Dot>,
    /// The places without a figure although exchanges were sent; absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<MissingDot>,
}

/// A place of a line without a figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MissingDot {
    /// The level as a number, or its index from 0 if the levels are not numbers.
    #[cfg_attr(feature = "schema", schemars(with = "sixmark_document::schema_type::Signed"))]
    pub x: f64,
    /// The level's name.
    pub label: String,
    /// The reason.
    pub why: MissingFigure,
}

/// A point of a line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Dot {
    /// The level as a number, or its index from 0 if the levels are not numbers.
    #[cfg_attr(feature = "schema", schemars(with = "sixmark_document::schema_type::Signed"))]
    pub x: f64,
    /// The level's name.
    pub label: String,
    /// The figure, in the axis's unit; null if a range was published, which has only its ends.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<sixmark_document::schema_type::Signed>")
    )]
    pub y: Option<f64>,
    /// A published figure as printed, with ` (derived)` if its source does not state it. Absent for
    /// a measured one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub printed: Option<String>,
    /// The lower end of its interval, or of the range that was published; null if there is none.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<sixmark_document::schema_type::Signed>")
    )]
    pub low: Option<f64>,
    /// The upper end; null if there is none.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<sixmark_document::schema_type::Signed>")
    )]
    pub high: Option<f64>,
    /// Why this speed must not be compared with that of another family, in a sentence without a
    /// full stop: the families gave different responses, or this one gave only errors. Such a point
    /// is not drawn. Absent if there is no reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unlike: Option<String>,
}
