//! Charts over time: throughput, response times and failures.

use crate::interval::{Interval, IntervalFamily};
use crate::measurement::Measurement;
use sixmark_document::histogram::Distribution;
use sixmark_units::family::Family;

use super::side::Sides;
use sixmark_sheet::BOTH_PLACE;
use sixmark_sheet::chart::{Axis, Band, Chart, Mark, Role, Series, Unit, rounded};
use sixmark_sheet::chart::{describe_series, values};
use sixmark_sheet::table::{Column, Row, SheetCell, Table};
use sixmark_sheet::{Block, Part, write};

/// The shortest time, in seconds, for which a rate is meaningful. If the last second of a run is
/// shorter, it is merged with the one before it.
const SHORTEST_S: f64 = 0.2;
/// The most points of a curve. The seconds of a longer run are merged.
const MOST: usize = 120;

/// If the last point covers less than this share of the time of the others, it is marked.
const WHOLE: f64 = 0.98;

/// Returns charts of throughput and response times of each side, and of failures if there are any.
/// Returns `None` for a search, because its seconds belong to trials at different rates.
pub(super) fn seconds_part(of: &dyn Measurement, sides: &Sides<'_>) -> Option<Part> {
    let spans = spans(of.intervals());
    let is_search = of.run().is_some_and(|run| run.find_max.is_some());
    if spans.len() < 2 || sides.hides_all() || is_search {
        return None;
    }
    let warmed = of.plan().is_some_and(|plan| !plan.load.warmup.is_zero());
    let over = SecondCharts { spans, sides, warmed };
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

/// Merges seconds so that there are at most `MOST` spans.
fn spans(intervals: &[Interval]) -> Vec<Span> {
    let each = intervals.len().div_ceil(MOST).max(1);
    let mut chunks: Vec<&[Interval]> = intervals.chunks(each).collect();
    if let [.., before, last] = chunks.as_slice()
        && last.iter().map(|second| second.length_s).sum::<f64>() < SHORTEST_S
    {
        let joined = &intervals[intervals.len() - before.len() - last.len()..];
        chunks.truncate(chunks.len() - 2);
        chunks.push(joined);
    }
    chunks.into_iter().map(span).collect()
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
        // A histogram that can't be decoded is reported with the phases.
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

/// The data of the charts over time.
struct SecondCharts<'a> {
    spans: Vec<Span>,
    sides: &'a Sides<'a>,
    /// Whether a warm-up precedes the first second.
    warmed: bool,
}

/// A line over time: the end of its name, how it is drawn, and the function that returns the value
/// of a span, given its length in seconds.
type SecondLine = (&'static str, Mark, fn(&CountedSecond, f64) -> Option<f64>);

const RATE: [SecondLine; 1] =
    [("", Mark::Points, |of, s| (s >= SHORTEST_S).then(|| of.completed as f64 / s))];
const TIMES: [SecondLine; 3] = [
    (" median", Mark::Points, |of, _| of.quantile(0.5)),
    (" p95", Mark::Faint, |of, _| of.quantile(0.95)),
    (" p99", Mark::FaintPoints, |of, _| of.quantile(0.99)),
];
const FAILURES: [SecondLine; 1] = [("", Mark::Points, |of, _| Some(of.failed as f64))];

impl SecondCharts<'_> {
    fn throughput(&self) -> Chart {
        let series = match self.sides.both {
            Some(_) => vec![self.rate_of_both()],
            None => self.series(&RATE),
        };
        let y = Axis::from_zero("requests/s", Unit::PerS, values(&series));
        self.chart("Throughput", "requests/s", y, series, write::per_s)
    }

    /// Returns the rates of both families together, for use if the ratio fixes each family's share
    /// of them.
    fn rate_of_both(&self) -> Series {
        let at = |span: &Span| {
            let completed = span.families.iter().map(|of| of.completed).sum::<u64>() as f64;
            (span.length_s >= SHORTEST_S).then(|| rounded(completed / span.length_s))
        };
        let ys = self.spans.iter().map(at).collect();
        Series::new("both families".to_owned(), BOTH_PLACE, Mark::Points, ys)
    }

    fn times(&self) -> Chart {
        let series = self.series(&TIMES);
        let all: Vec<f64> = values(&series).collect();
        let y = Axis::durations("response", 0.1, all.into_iter());
        self.chart("Response times", "", y, series, write::write_time)
    }

    fn failures(&self) -> Option<Chart> {
        // Exchanges that the end of the run cut off are not failures.
        let any = self.sides.any(crate::family_result::FamilyResult::failed_share);
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
        let since = match self.warmed {
            true => "seconds from the end of the warm-up",
            false => "seconds from the start",
        };
        let partial = self.partial(y.unit == Unit::PerS);
        Chart {
            title: format!("{title} over time"),
            about: describe_series(&series, unit, &write),
            table: self.table(title, &xs, &series, &write),
            x: Axis::linear(since, Unit::S, from, to.max(from + 1.0)),
            y,
            labels: Vec::new(),
            xs,
            series,
            bands: partial.into_iter().collect(),
        }
    }

    /// Returns a band around the last point, if it covers less time than the others. Rates are
    /// still per second there, but counts are lower than those of a whole second.
    fn partial(&self, of_rates: bool) -> Option<Band> {
        let [.., before, last] = self.spans.as_slice() else { return None };
        let whole = last.from_s - before.from_s;
        let scaled = if of_rates { ", rate scaled to 1 s" } else { "" };
        (last.length_s < WHOLE * whole).then(|| Band {
            name: format!("last {}{scaled}", write::write_time(last.length_s * 1e6)),
            role: Role::Partial,
            from: rounded(last.from_s - whole / 2.0),
            to: rounded(last.from_s + whole / 2.0),
            at: None,
        })
    }

    /// Returns a table with a row for each point.
    fn table(
        &self,
        title: &str,
        xs: &[f64],
        series: &[Series],
        write: impl Fn(f64) -> String,
    ) -> Table {
        let columns = std::iter::once(Column::words("Second"))
            .chain(series.iter().map(|series| Column::number(&series.name)));
        let last = self.partial(false).map(|_| xs.len() - 1);
        let row = |(at, &x): (usize, &f64)| {
            let value = |series: &Series| series.ys.get(at).copied().flatten();
            let cell =
                |y: Option<f64>| y.map_or_else(SheetCell::none, |y| SheetCell::Number(write(y), y));
            let cells = series.iter().map(|series| cell(value(series))).collect();
            let partial = match last == Some(at) {
                true => format!(" ({})", write::write_time(self.spans[at].length_s * 1e6)),
                false => String::new(),
            };
            let label = write::write_count(x as u64) + &partial;
            Row::new(SheetCell::Number(label, x), cells)
        };
        let rows = xs.iter().enumerate().map(row).collect();
        Table::new(format!("{title} over time"), columns.collect(), rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::result::RunResult;
    use crate::sheet::side::Sides;

    fn run(lengths: &[f64]) -> RunResult {
        let mut run = fixture::run();
        let second = |(at, &length_s): (usize, &f64)| {
            let counted = IntervalFamily {
                sent: 0,
                completed: (length_s * 100.0) as u64,
                failed: 0,
                unaccepted: 0,
                body_bytes: 0,
                response_us: run.total.response_us.clone(),
            };
            let families =
                sixmark_units::family::PerFamily { ipv6: counted.clone(), ipv4: counted };
            Interval { second: at as u64, length_s, families }
        };
        run.intervals = lengths.iter().enumerate().map(second).collect();
        run
    }

    fn charts(run: &RunResult) -> Vec<Chart> {
        let of = run;
        let part = seconds_part(of, &Sides::of_families(of));
        match part.map(|part| part.blocks) {
            Some(blocks) => match blocks.into_iter().next() {
                Some(Block::Charts(charts)) => charts,
                other => panic!("{other:?}"),
            },
            None => Vec::new(),
        }
    }

    #[test]
    fn a_last_second_that_is_not_whole_is_marked_and_its_rate_scaled() {
        let mut run = run(&[1.0, 1.0, 0.5]);
        run.plan.load.warmup = std::time::Duration::ZERO;
        let rates = &charts(&run)[0];
        assert_eq!(rates.bands[0].name.replace('\u{a0}', " "), "last 500 ms, rate scaled to 1 s");
        let ys = rates.series.iter().map(|series| series.ys.clone());
        assert!(ys.into_iter().all(|ys| ys[2] == ys[1]), "{:?}", rates.series);
        assert_eq!(rates.x.label, "seconds from the start");
        assert_eq!(rates.table.groups[0].rows[2].label.text().replace('\u{a0}', " "), "2 (500 ms)");
    }

    #[test]
    fn whole_seconds_are_not_marked_and_a_moment_at_the_end_is_no_point() {
        let mut run = run(&[1.0, 1.0, 0.0]);
        run.plan.load.warmup = std::time::Duration::from_secs(1);
        for chart in charts(&run) {
            assert_eq!((chart.bands.len(), chart.xs.len()), (0, 2), "{}", chart.title);
            assert_eq!(chart.x.label, "seconds from the end of the warm-up");
        }
    }

    #[test]
    fn a_rate_that_the_ratio_fixes_is_drawn_once() {
        let mut run = run(&[1.0, 1.0]);
        for family in [&mut run.families.ipv6, &mut run.families.ipv4].into_iter().flatten() {
            family.requests.completed = 100;
            family.requests.sent = 100;
            family.outcomes = [("NORMAL".to_owned(), 100)].into();
        }
        let names = |run: &RunResult| -> Vec<String> {
            charts(run)[0].series.iter().map(|series| series.name.clone()).collect()
        };
        assert_eq!(names(&run), ["both families"]);
        assert_eq!(charts(&run)[0].series[0].ys, [Some(200.0), Some(200.0)]);
        // If not every request got a response, the rates differ by family.
        run.families.ipv6.iter_mut().for_each(|of| of.requests.sent = 120);
        assert_eq!(names(&run), ["IPv6", "IPv4"]);
    }
}
