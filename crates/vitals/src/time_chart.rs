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
/// sample. Times at which no line has a value, because it was not read then, are omitted.
pub fn time_chart(of: &TimeChart, begins: &[f64], lines: &[TimeLine]) -> Chart {
    let is_known = |at: &usize| lines.iter().any(|line| value_at(line, *at).is_some());
    let known: Vec<usize> = (0..begins.len()).filter(is_known).collect();
    let series: Vec<Series> = lines
        .iter()
        .map(|line| {
            let ys = known.iter().map(|&at| value_at(line, at).map(rounded)).collect();
            Series::new(line.name.clone(), line.side, Mark::Points, ys)
        })
        .collect();
    // All charts of a measurement have the same axis.
    let [from, to] = [begins.first(), begins.last()].map(|x| x.copied().map_or(0.0, rounded));
    let begins: Vec<f64> = known.into_iter().map(|at| begins[at]).collect();
    let xs: Vec<f64> = begins.iter().copied().map(rounded).collect();
    // A short measurement fills the chart too.
    let to = if to > from { to } else { from + 1.0 };
    Chart {
        title: of.title.to_owned(),
        about: describe_series(&series, of.unit, of.write),
        table: table(of, &begins, &series),
        x: Axis::linear("seconds from the first sample", Unit::S, from, to),
        y: Axis::from_zero(of.unit, of.kind, values(&series)),
        labels: Vec::new(),
        xs,
        series,
        bands: Vec::new(),
    }
}

fn value_at(line: &TimeLine, at: usize) -> Option<f64> {
    line.values.get(at).copied().flatten()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_without_any_value_is_not_shown() {
        let of = TimeChart { title: "T", unit: "", kind: Unit::Count, write: |n| n.to_string() };
        let line = |values: [Option<f64>; 3]| TimeLine {
            name: "L".to_owned(),
            side: 0,
            values: values.to_vec(),
        };
        let lines = [line([Some(1.0), None, None]), line([None, None, Some(3.0)])];
        let chart = time_chart(&of, &[0.0, 1.0, 2.0], &lines);
        assert_eq!(chart.xs, [0.0, 2.0]);
        assert_eq!(chart.series[1].ys, [None, Some(3.0)]);
        assert_eq!((chart.x.from, chart.x.to), (0.0, 2.0));
        assert_eq!(chart.table.groups[0].rows.len(), 2);
    }
}
