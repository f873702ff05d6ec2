//! A run over time: throughput, response times, failures.

use sixmark_model::histogram::Distribution;
use sixmark_model::interval::{Interval, IntervalFamily};
use sixmark_units::family::Family;

use super::chart::{Axis, Chart, Mark, Series, Unit, rounded};
use super::side::Sides;
use super::table::{Column, Row, SheetCell, Table};
use super::{Block, Part, write};

/// A rate over less is chance: the last second of a run may be shorter.
const SHORTEST_S: f64 = 0.2;
/// The most points of a curve: a longer run's seconds are put together.
const MOST: usize = 120;

/// Throughput and response times of each side, and failures where there are any.
pub(super) fn seconds_part(intervals: &[Interval], sides: &Sides<'_>) -> Option<Part> {
    let spans = spans(intervals);
    if spans.len() < 2 || sides.hides_all() {
        return None;
    }
    let over = Over { spans, sides };
    let mut charts = vec![over.throughput(), over.times()];
    charts.extend(over.failures());
    Part::new("Over time", vec![Block::Charts(charts)]).map(Part::off_terminal)
}

/// One or several seconds of a run.
#[derive(Default)]
struct Span {
    from_s: f64,
    length_s: f64,
    families: [CountedSecond; 2],
}

#[derive(Default)]
struct CountedSecond {
    completed: u64,
    failed: u64,
    response: Option<Distribution>,
}

/// Seconds put together so that there are few enough of them.
fn spans(intervals: &[Interval]) -> Vec<Span> {
    let each = intervals.len().div_ceil(MOST).max(1);
    intervals.chunks(each).map(span).collect()
}

fn span(seconds: &[Interval]) -> Span {
    let mut span = Span {
        from_s: seconds.first().map_or(0.0, |second| second.second as f64),
        ..Span::default()
    };
    for second in seconds {
        span.length_s += second.length_s;
        for (counted, family) in span.families.iter_mut().zip(Family::BOTH) {
            counted.add(&second.families[family]);
        }
    }
    span
}

impl CountedSecond {
    fn add(&mut self, of: &IntervalFamily) {
        self.completed += of.completed;
        self.failed += of.failed + of.unaccepted;
        // One that can't be read is told with the phases.
        let Ok(Some(response)) = Distribution::of(&of.response_us) else { return };
        match &mut self.response {
            Some(all) => all.add(&response),
            none => *none = Some(response),
        }
    }

    fn quantile(&self, q: f64) -> Option<f64> {
        self.response.as_ref().map(|found| found.quantile_us(q))
    }
}

/// What a chart over time is made of.
struct Over<'a> {
    spans: Vec<Span>,
    sides: &'a Sides<'a>,
}

/// A line over time: what its name ends with, how it is drawn, and its points.
type SecondLine = (&'static str, Mark, fn(&CountedSecond, f64) -> Option<f64>);

const RATE: [SecondLine; 1] =
    [("", Mark::Points, |of, s| (s >= SHORTEST_S).then(|| of.completed as f64 / s))];
const TIMES: [SecondLine; 2] = [
    (" median", Mark::Points, |of, _| of.quantile(0.5)),
    (" 99 %", Mark::FaintPoints, |of, _| of.quantile(0.99)),
];
const FAILURES: [SecondLine; 1] = [("", Mark::Points, |of, _| Some(of.failed as f64))];

impl Over<'_> {
    fn throughput(&self) -> Chart {
        let series = self.series(&RATE);
        let y = Axis::from_zero("requests/s", Unit::PerS, values(&series));
        self.chart("Throughput", "requests/s", y, series, write::per_s)
    }

    fn times(&self) -> Chart {
        let series = self.series(&TIMES);
        let all: Vec<f64> = values(&series).collect();
        let y = Axis::durations("response", 0.1, all.into_iter());
        self.chart("Response times", "", y, series, write::write_time)
    }

    fn failures(&self) -> Option<Chart> {
        // What the end of the run cut off is in no one's way.
        let any = self.sides.any(super::figures::failed_share);
        let series = self.series(&FAILURES);
        let y = Axis::from_zero("failures", Unit::Count, values(&series));
        let whole = |n: f64| write::write_count(n as u64);
        any.then(|| self.chart("Failures", "failures", y, series, whole))
    }

    fn series(&self, lines: &[SecondLine]) -> Vec<Series> {
        let of = |line: &SecondLine| {
            let &(end, mark, of) = line;
            self.sides
                .all
                .iter()
                .map(move |side| {
                    let at =
                        |span: &Span| of(&span.families[side.place], span.length_s).map(rounded);
                    let ys = self.spans.iter().map(at).collect();
                    Series::new(format!("{}{end}", side.name), side.place, mark, ys)
                })
                .collect::<Vec<_>>()
        };
        lines.iter().flat_map(of).collect()
    }

    fn chart(
        &self,
        title: &str,
        unit: &str,
        y: Axis,
        series: Vec<Series>,
        write: impl Fn(f64) -> String,
    ) -> Chart {
        let xs: Vec<f64> = self.spans.iter().map(|span| span.from_s).collect();
        let to = xs.last().copied().unwrap_or(1.0);
        let from = xs.first().copied().unwrap_or(0.0);
        Chart {
            title: format!("{title} over time"),
            about: describe_series(&series, unit, &write),
            table: seconds_table(title, &xs, &series, &write),
            x: Axis::linear(
                "seconds from the end of the warm-up",
                Unit::S,
                from,
                to.max(from + 1.0),
            ),
            y,
            labels: Vec::new(),
            xs,
            series,
            bands: Vec::new(),
        }
    }
}

pub(super) fn values(series: &[Series]) -> impl Iterator<Item = f64> {
    series.iter().flat_map(|series| series.ys.iter().flatten().copied())
}

/// A row for each point.
fn seconds_table(
    title: &str,
    xs: &[f64],
    series: &[Series],
    write: impl Fn(f64) -> String,
) -> Table {
    let columns = std::iter::once(Column::words("Second"))
        .chain(series.iter().map(|series| Column::number(&series.name)));
    let row = |(at, &x): (usize, &f64)| {
        let value = |series: &Series| series.ys.get(at).copied().flatten();
        let cell =
            |y: Option<f64>| y.map_or_else(SheetCell::none, |y| SheetCell::Number(write(y), y));
        let cells = series.iter().map(|series| cell(value(series))).collect();
        Row::new(SheetCell::Number(write::write_count(x as u64), x), cells)
    };
    let rows = xs.iter().enumerate().map(row).collect();
    Table::new(format!("{title} over time"), columns.collect(), rows)
}

/// The range of each line.
pub(super) fn describe_series(
    series: &[Series],
    unit: &str,
    write: impl Fn(f64) -> String,
) -> String {
    let of = |series: &Series| {
        let all = || series.ys.iter().flatten().copied();
        let (low, high) = (all().fold(f64::MAX, f64::min), all().fold(f64::MIN, f64::max));
        let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
        (low <= high).then(|| format!("{}: {} to {}{unit}.", series.name, write(low), write(high)))
    };
    series.iter().filter_map(of).collect::<Vec<_>>().join(" ")
}
