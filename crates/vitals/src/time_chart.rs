//! Charts over time, with the table of their data.

use sixmark_sheet::chart::{Axis, Chart, Mark, Series, Unit, describe_series, rounded, values};
use sixmark_sheet::table::{Column, Row, SheetCell, Table};

/// What a chart over time shows.
#[derive(Clone, Copy, Debug)]
pub struct TimeChart {
    /// The title.
    pub title: &'static str,
    /// The unit after a number and along the axis, or empty if the number has one.
    pub unit: &'static str,
    /// The format of the axis's numbers.
    pub kind: Unit,
    /// Formats a number.
    pub write: fn(f64) -> String,
}

/// A line of a chart over time.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeLine {
    /// The name.
    pub name: String,
    /// The colour: 0 for IPv6, 1 for IPv4.
    pub side: usize,
    /// One value for each span of time; `None` where there is none.
    pub values: Vec<Option<f64>>,
}

/// Returns the chart of lines whose spans of time begin at `begins`, in seconds from the first
/// sample.
pub fn time_chart(of: &TimeChart, begins: &[f64], lines: &[TimeLine]) -> Chart {
    let series: Vec<Series> = lines
        .iter()
        .map(|line| {
            let ys = line.values.iter().map(|value| value.map(rounded)).collect();
            Series::new(line.name.clone(), line.side, Mark::Points, ys)
        })
        .collect();
    let xs: Vec<f64> = begins.iter().copied().map(rounded).collect();
    let [from, to] = [xs.first(), xs.last()].map(|x| x.copied().unwrap_or(0.0));
    // A short measurement fills the chart too.
    let to = if to > from { to } else { from + 1.0 };
    Chart {
        title: of.title.to_owned(),
        about: describe_series(&series, of.unit, of.write),
        table: table(of, begins, &series),
        x: Axis::linear("seconds from the first sample", Unit::S, from, to),
        y: Axis::from_zero(of.unit, of.kind, values(&series)),
        labels: Vec::new(),
        xs,
        series,
        bands: Vec::new(),
    }
}

fn table(of: &TimeChart, begins: &[f64], series: &[Series]) -> Table {
    let cell = |value: Option<f64>| {
        value.map_or_else(SheetCell::none, |value| SheetCell::Number((of.write)(value), value))
    };
    let row = |(at, &begin): (usize, &f64)| {
        let cells = series.iter().map(|of| cell(of.ys.get(at).copied().flatten())).collect();
        Row::new(SheetCell::Number(write_second(begin), rounded(begin)), cells)
    };
    let columns = std::iter::once(Column::words("Second"))
        .chain(series.iter().map(|of| Column::number(&of.name)));
    let rows = begins.iter().enumerate().map(row).collect();
    Table::new(format!("{} from each sample to the next", of.title), columns.collect(), rows)
}

/// Formats a time with two decimals, or with one if that is all it has.
fn write_second(second: f64) -> String {
    let text = format!("{second:.2}");
    text.strip_suffix('0').map_or(text.clone(), str::to_owned)
}
