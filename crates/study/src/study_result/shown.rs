//! What a study shows of its cells: tables and charts.

use serde::{Deserialize, Serialize};

use super::At;
use sixmark_record::metric::Metric;
use sixmark_units::family::Family;

/// How repetitions become one figure.
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

/// A table: a row a combination of some factors, a column a measure at levels of others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Table {
    /// Its name: letters, digits, `-` and `_`. Where factors stand in neither rows nor columns
    /// there is one table of that name for each combination of their levels.
    pub name: String,
    /// A line above it.
    pub title: String,
    /// The levels that the whole table is of.
    pub at: Vec<At>,
    /// The factors that the first columns name.
    pub factors: Vec<String>,
    /// The columns behind them.
    pub columns: Vec<TableColumn>,
    /// The rows.
    pub rows: Vec<Row>,
    /// How much better one level of a factor of the rows is than another; absent where the study does
    /// not ask for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub improvement: Option<Improvement>,
    /// How repetitions became one figure.
    pub statistic: Statistic,
    /// The published table that is set beside; null: none.
    pub published: Option<String>,
    /// Remarks below it.
    pub remarks: Vec<String>,
}

impl Table {
    /// The improvement that stands below a row: below the last of those that it is about.
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
    /// What is above it.
    pub label: String,
    /// What is in it.
    pub measure: Metric,
    /// The unit of its values; empty of counts.
    pub unit: String,
    /// The family that its figures are of, where the column decides that; else null.
    pub family: Option<Family>,
    /// The levels that it is of, the family included.
    pub at: Vec<At>,
}

/// A row of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Row {
    /// A level of each of the table's factors.
    pub levels: Vec<String>,
    /// One entry a column.
    pub values: Vec<TableValue>,
}

/// What one level of a factor is better by than another, in the means of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Improvement {
    /// The factor.
    pub factor: String,
    /// The level that is judged.
    pub of: String,
    /// The level that it is judged against.
    pub over: String,
    /// A row for each combination of the other factors of the table's rows: its levels are theirs, with
    /// the level that is judged, its values percent. Where a lower figure is the better one, the
    /// sign is turned: what is better is above zero.
    pub rows: Vec<Row>,
    /// What keeps some of the speeds from being compared, in a sentence without a full stop; they
    /// have no percentage; absent: nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unlike: Option<String>,
}

/// A figure of a table, in its column's unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TableValue {
    /// What was measured; null where it was not.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<sixmark_document::schema_type::Signed>")
    )]
    pub measured: Option<f64>,
    /// The lower end of its interval of 95 %, where there are repetitions enough; else null.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<sixmark_document::schema_type::Signed>")
    )]
    pub low: Option<f64>,
    /// The upper end; null likewise.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<sixmark_document::schema_type::Signed>")
    )]
    pub high: Option<f64>,
    /// Why nothing was measured though exchanges were sent; absent where something was, and where none
    /// were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<MissingFigure>,
    /// Repetitions that it is from.
    pub n: u32,
    /// What was published; null: nothing.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<sixmark_document::schema_type::Signed>")
    )]
    pub published: Option<f64>,
}

/// Why exchanges that were sent have no figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum MissingFigure {
    /// None was complete, and some lasted until the client gave up.
    Stalled,
    /// None was complete.
    Failed,
}

impl MissingFigure {
    /// What stands in the place of the figure.
    pub fn word(self) -> &'static str {
        match self {
            MissingFigure::Stalled => "stalled",
            MissingFigure::Failed => "failed",
        }
    }
}

/// A figure to draw: lines over a factor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Chart {
    /// Its name: letters, digits, `-` and `_`.
    pub name: String,
    /// A line above it.
    pub title: String,
    /// The axis of the factor.
    pub x: Axis,
    /// The axis of the measure.
    pub y: Axis,
    /// The lines.
    pub series: Vec<ChartLine>,
}

/// An axis of a chart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Axis {
    /// What it shows: a factor or a measure.
    pub label: String,
    /// In which unit; may be empty.
    pub unit: String,
    /// Logarithmic, not linear.
    pub logarithmic: bool,
}

/// A line of a chart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChartLine {
    /// What it is called.
    pub label: String,
    /// The family that it is of; null: of none.
    pub family: Option<Family>,
    /// The levels that it is of, the family included.
    pub at: Vec<At>,
    /// True of published figures.
    pub published: bool,
    /// Its points, from left to right.
    pub points: Vec<Dot>,
    /// Where exchanges that were sent have no figure; absent where there is no such place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<MissingDot>,
}

/// A place of a line without a figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MissingDot {
    /// The level's value, or its number from 0 where levels are no numbers.
    #[cfg_attr(feature = "schema", schemars(with = "sixmark_document::schema_type::Signed"))]
    pub x: f64,
    /// The level's name.
    pub label: String,
    /// Why.
    pub why: MissingFigure,
}

/// A point of a line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Dot {
    /// The level's value, or its number from 0 where levels are no numbers.
    #[cfg_attr(feature = "schema", schemars(with = "sixmark_document::schema_type::Signed"))]
    pub x: f64,
    /// The level's name.
    pub label: String,
    /// The figure, in the axis's unit.
    #[cfg_attr(feature = "schema", schemars(with = "sixmark_document::schema_type::Signed"))]
    pub y: f64,
    /// The lower end of its interval, where there are repetitions enough; else null.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<sixmark_document::schema_type::Signed>")
    )]
    pub low: Option<f64>,
    /// The upper end; null likewise.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<sixmark_document::schema_type::Signed>")
    )]
    pub high: Option<f64>,
    /// Why this speed must not be read beside another family's, in a sentence without a full stop: the
    /// families gave different responses there, or this one nothing but errors. Such a point is not
    /// drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unlike: Option<String>,
}
