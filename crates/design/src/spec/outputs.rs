//! The outputs of a study: tables, charts, comparisons and claims.

mod read;

use super::claims::ClaimSpec;
use crate::spec::column::ColumnSpec;
use crate::spec::column::LevelFilter;
use crate::spec::known_names::Levels;
use crate::spec::published::PublishedOf;
pub(super) use read::outputs;

use crate::study_result::Statistic;
use sixmark_tally::metric::Metric;

/// The outputs that are computed from the cells.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outputs {
    /// The tables.
    pub tables: Vec<TableSpec>,
    /// The charts.
    pub charts: Vec<ChartSpec>,
    /// The comparisons.
    pub comparisons: Vec<ComparisonSpec>,
    /// The claims that are tested.
    pub claims: Vec<ClaimSpec>,
}

impl Outputs {
    /// Adds other outputs. They replace those of the same name; claims replace those of the
    /// same id.
    pub(super) fn put(&mut self, others: Outputs) {
        put(&mut self.tables, others.tables, |table| &table.name);
        put(&mut self.charts, others.charts, |chart| &chart.name);
        put(&mut self.comparisons, others.comparisons, |comparison| &comparison.name);
        put(&mut self.claims, others.claims, |claim| &claim.id);
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

/// A table. Each combination of the factors that it does not name gets a table of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct TableSpec {
    /// Its name.
    pub name: String,
    /// Its title.
    pub title: String,
    /// The factors of the rows.
    pub rows: Vec<String>,
    /// The factors of the columns.
    pub columns: Vec<String>,
    /// The measures in the columns.
    pub measures: Vec<ColumnSpec>,
    /// The statistic over repetitions.
    pub statistic: Statistic,
    /// The group of cells that it is computed from; `None` for all cells.
    pub group: Option<String>,
    /// The levels to which it is restricted.
    pub only: LevelFilter,
    /// Two levels of a factor of the rows. A row shows by how much one is better than the other.
    pub improvement: Option<Levels>,
    /// The published tables whose figures are shown beside the measured ones.
    pub published: Vec<PublishedOf>,
    /// Remarks that are shown below it.
    pub remarks: Vec<String>,
}

/// A chart: lines over a factor.
#[derive(Clone, Debug, PartialEq)]
pub struct ChartSpec {
    /// Its name.
    pub name: String,
    /// Its title.
    pub title: String,
    /// The factor of the x axis.
    pub x: String,
    /// The measure of the y axis.
    pub y: ColumnSpec,
    /// Factors; each combination of their levels is a line.
    pub series: Vec<String>,
    /// Whether the x axis and the y axis are logarithmic.
    pub logarithmic: [bool; 2],
    /// The statistic over repetitions.
    pub statistic: Statistic,
    /// The group of cells that it is computed from; `None` for all cells.
    pub group: Option<String>,
    /// The levels to which it is restricted.
    pub only: LevelFilter,
    /// The unit of the factor's numbers, for people; may be empty.
    pub x_unit: String,
    /// The published tables whose figures are drawn too.
    pub published: Vec<PublishedOf>,
}

/// A comparison of two levels of a factor.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparisonSpec {
    /// Its name.
    pub name: String,
    /// Its title.
    pub title: String,
    /// The factor.
    pub factor: String,
    /// The level that is judged.
    pub a: String,
    /// The level that it is judged against.
    pub b: String,
    /// The measure.
    pub measure: Metric,
    /// Factors; each combination of their levels is judged separately.
    pub by: Vec<String>,
    /// Two levels of another factor, if the question is whether the ratio of A to B differs between
    /// them.
    pub interaction: Option<Levels>,
    /// The difference that does not matter, in percent.
    pub margin_percent: f64,
    /// The group of cells that it is computed from; `None` for all cells.
    pub group: Option<String>,
    /// The levels to which it is restricted.
    pub only: LevelFilter,
    /// The title of an analysis of the published figures about the same, which is shown below it.
    pub published: Option<String>,
}
