//! What is made of the cells: tables, figures, comparisons.

mod read;

use super::findings::FindingSpec;
use crate::spec::column::ColumnSpec;
use crate::spec::column::LevelFilter;
use crate::spec::known_names::Levels;
use crate::spec::published::PublishedOf;
pub(super) use read::outputs;

use crate::study_result::Statistic;
use sixmark_record::metric::Metric;

/// Everything that is made of the cells.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outputs {
    /// The tables.
    pub tables: Vec<TableSpec>,
    /// The figures to draw.
    pub charts: Vec<ChartSpec>,
    /// The comparisons.
    pub comparisons: Vec<ComparisonSpec>,
    /// Claims that are tested.
    pub findings: Vec<FindingSpec>,
}

impl Outputs {
    /// Puts others in, in the place of those that have the same name; findings, which have none, in the
    /// place of all.
    pub(super) fn put(&mut self, others: Outputs) {
        put(&mut self.tables, others.tables, |table| &table.name);
        put(&mut self.charts, others.charts, |chart| &chart.name);
        put(&mut self.comparisons, others.comparisons, |comparison| &comparison.name);
        if !others.findings.is_empty() {
            self.findings = others.findings;
        }
    }
}

fn put<T>(all: &mut Vec<T>, others: Vec<T>, name: fn(&T) -> &String) {
    for other in others {
        match all.iter_mut().find(|known| name(known) == name(&other)) {
            Some(known) => *known = other,
            None => all.push(other),
        }
    }
}

/// A table, or one for each combination of the factors that it does not name.
#[derive(Clone, Debug, PartialEq)]
pub struct TableSpec {
    /// Its name.
    pub name: String,
    /// A line above it.
    pub title: String,
    /// Factors that rows are of.
    pub rows: Vec<String>,
    /// Factors that columns are of.
    pub columns: Vec<String>,
    /// What is in them.
    pub measures: Vec<ColumnSpec>,
    /// How repetitions become one figure.
    pub statistic: Statistic,
    /// Only cells of these levels.
    pub only: LevelFilter,
    /// Two levels of a factor of the rows, whose difference has a row of its own.
    pub improvement: Option<Levels>,
    /// The published figures beside.
    pub published: Option<PublishedOf>,
    /// Remarks below.
    pub remarks: Vec<String>,
}

/// Lines over a factor.
#[derive(Clone, Debug, PartialEq)]
pub struct ChartSpec {
    /// Its name.
    pub name: String,
    /// A line above it.
    pub title: String,
    /// The factor.
    pub x: String,
    /// The measure.
    pub y: ColumnSpec,
    /// Factors, each combination of whose levels is a line.
    pub series: Vec<String>,
    /// Logarithmic axes: x, y.
    pub logarithmic: [bool; 2],
    /// How repetitions become one figure.
    pub statistic: Statistic,
    /// Only cells of these levels.
    pub only: LevelFilter,
    /// The unit that the factor's numbers are in, for people.
    pub x_unit: String,
    /// Published figures drawn too.
    pub published: Option<PublishedOf>,
}

/// Two levels of a factor compared.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparisonSpec {
    /// Its name.
    pub name: String,
    /// A line above it.
    pub title: String,
    /// The factor.
    pub factor: String,
    /// The level that is judged.
    pub a: String,
    /// The level that it is judged against.
    pub b: String,
    /// In what.
    pub measure: Metric,
    /// Factors, each combination of whose levels is judged apart.
    pub by: Vec<String>,
    /// Levels of another factor: whether what is compared differs between them.
    pub interaction: Option<Levels>,
    /// The difference that would not matter, percent.
    pub margin_percent: f64,
    /// Only cells of these levels.
    pub only: LevelFilter,
    /// The title of an analysis of the published figures that is about the same.
    pub published: Option<String>,
}
