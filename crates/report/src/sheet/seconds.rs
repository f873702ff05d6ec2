//! Charts over time: throughput, response times and failures.

use sixmark_result::measurement::Measurement;

use super::side::Sides;
use super::spans::{CountedSpan, Span, Spans};
use sixmark_sheet::BOTH_PLACE;
use sixmark_sheet::chart::{Axis, Band, Chart, Mark, Role, Scale, Series, Unit, rounded};
use sixmark_sheet::chart::{describe_series, values};
use sixmark_sheet::table::{Column, Row, SheetCell, Table};
use sixmark_sheet::{Block, Part, write};

/// If the last point covers less or more than the time of the others by this share, it is marked.
const ODD: f64 = 0.05;

/// Returns charts of throughput and response times of each side, and of failures if there are any.
/// Returns `None` for a search, because its seconds belong to trials at different rates.
pub(super) fn seconds_part(of: &dyn Measurement, sides: &Sides<'_>) -> Option<Part> {
    let spans = Spans::of(of);
    let is_search = of.run().is_some_and(|run| run.find_max.is_some());
    if spans.all.len() < 2 || sides.hides_all() || is_search {
        return None;
    }
    let warmed = of.plan().is_some_and(|plan| !plan.load.warmup.is_zero());
    let over = SecondCharts { spans, sides, warmed };
    let mut charts = vec![over.throughput(), over.times()];
    charts.extend(over.failures());
    Part::new("Over time", vec![Block::Charts(charts)]).map(Part::off_terminal)
}

/// The data of the charts over time.
struct SecondCharts<'a> {
    spans: Spans,
    sides: &'a Sides<'a>,
    /// Whether a warm-up precedes the first second.
    warmed: bool,
}

/// A line over time: the end of its name, how it is drawn, and the function that returns the value
/// of a span. Its second argument is the length of the span in seconds, or 0 if that is too short
/// for a rate.
type SecondLine = (&'static str, Mark, fn(&CountedSpan, f64) -> Option<f64>);

const RATE: [SecondLine; 1] =
    [("", Mark::Points, |of, s| (s > 0.0).then(|| of.completed as f64 / s))];
const TIMES: [SecondLine; 3] = [
    (" median", Mark::Points, |of, _| of.times[0]),
    (" p95", Mark::Faint, |of, _| of.times[1]),
    (" p99", Mark::FaintPoints, |of, _| of.times[2]),
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
            let s = self.spans.rated_s(span);
            (s > 0.0).then(|| rounded(completed / s))
        };
        let ys = self.spans.all.iter().map(at).collect();
        Series::new("both families".to_owned(), BOTH_PLACE, Mark::Points, ys)
    }

    fn times(&self) -> Chart {
        let mut series = self.series(&TIMES);
        for (line, side) in series.iter_mut().zip(&self.sides.all) {
            line.missing = self.missing(side.place);
        }
        let all: Vec<f64> = values(&series).collect();
        let mut y = Axis::durations("response", 0.1, all.into_iter());
        // Words stand at the top.
        if series.iter().any(|line| !line.missing.is_empty()) {
            y.to *= if y.scale == Scale::Log { 2.0 } else { 1.2 };
        }
        self.chart("Response times", "", y, series, write::write_time)
    }

    /// Returns `none` for each span in which exchanges of a side failed and no response arrived; for
    /// each span if none ever arrived. Empty if there is no such span.
    fn missing(&self, place: usize) -> Vec<Option<&'static str>> {
        let of = |span: &Span| (span.families[place].completed, span.families[place].failed);
        let never = self.spans.all.iter().all(|span| of(span).0 == 0);
        let is_none = |span: &Span| of(span).0 == 0 && (never || of(span).1 > 0);
        if self.spans.all.iter().any(is_none) {
            self.spans.all.iter().map(|span| is_none(span).then_some("none")).collect()
        } else {
            Vec::new()
        }
    }

    fn failures(&self) -> Option<Chart> {
        // Exchanges that the end of the run cut off are not failures.
        let any = self.sides.any(sixmark_tally::family_result::FamilyResult::failed_share);
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
                    let at = |span: &Span| {
                        of(&span.families[side.place], self.spans.rated_s(span)).map(rounded)
                    };
                    let ys = self.spans.all.iter().map(at).collect();
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
        let xs: Vec<f64> = self.spans.all.iter().map(|span| span.from_s).collect();
        let to = xs.last().copied().unwrap_or(1.0);
        let from = xs.first().copied().unwrap_or(0.0);
        let since = if self.warmed {
            "seconds from the end of the warm-up"
        } else {
            "seconds from the start"
        };
        let partial = self.partial(y.unit == Unit::PerS);
        Chart {
            title: format!("{title} over time"),
            about: self.describe(&series, unit, &write),
            table: self.table(title, &xs, &series, &write),
            x: Axis::linear(since, Unit::S, from, to.max(from + self.spans.whole_s)),
            y,
            labels: Vec::new(),
            xs,
            series,
            bands: partial.into_iter().collect(),
        }
    }

    /// Describes the series in words. The range is that of whole intervals.
    fn describe(&self, series: &[Series], unit: &str, write: impl Fn(f64) -> String) -> String {
        let Some(partial) = self.partial(false) else {
            return describe_series(series, unit, write);
        };
        let whole = |of: &Series| Series {
            ys: of.ys.iter().take(self.spans.all.len() - 1).copied().collect(),
            ..of.clone()
        };
        let whole: Vec<Series> = series.iter().map(whole).collect();
        format!("{} The {} are not included.", describe_series(&whole, unit, write), partial.name)
    }

    /// Returns a band around the last point, if it covers another time than the others. Rates are
    /// still per second there, but counts are not those of a whole interval.
    fn partial(&self, of_rates: bool) -> Option<Band> {
        let last = self.spans.all.last()?;
        let whole = self.spans.whole_s;
        let scaled = if of_rates { ", rate scaled to 1 s" } else { "" };
        ((last.length_s / whole - 1.0).abs() > ODD).then(|| Band {
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
            let cell = |series: &Series| match series.ys.get(at).copied().flatten() {
                Some(y) => SheetCell::Number(write(y), y),
                None => SheetCell::from(series.missing.get(at).copied().flatten().unwrap_or("")),
            };
            let cells = series.iter().map(cell).collect();
            let partial = if last == Some(at) {
                format!(" ({})", write::write_time(self.spans.all[at].length_s * 1e6))
            } else {
                String::new()
            };
            let begin = if self.spans.whole_s < 1.0 {
                format!("{x:.1}")
            } else {
                write::write_count(x as u64)
            };
            let label = begin + &partial;
            Row::new(SheetCell::Number(label, x), cells)
        };
        let rows = xs.iter().enumerate().map(row).collect();
        Table::new(format!("{title} over time"), columns.collect(), rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sheet::side::Sides;
    use sixmark_result::fixture;
    use sixmark_result::result::RunResult;
    use sixmark_tally::interval::{Interval, IntervalFamily};
    use sixmark_tally::tenth::{Tenth, TenthFamily, TenthTimes};
    use sixmark_units::family::PerFamily;

    fn run(lengths: &[f64]) -> RunResult {
        let mut run = fixture::run();
        let second = |(at, &length_s): (usize, &f64)| {
            let counted = IntervalFamily {
                sent: 0,
                completed: (length_s * 100.0) as u64,
                ended: 0,
                failed: 0,
                unaccepted: 0,
                body_bytes: 0,
                response_us: run.total.response_us.clone(),
            };
            let families = PerFamily { ipv6: counted.clone(), ipv4: counted };
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
    fn describes_the_range_of_whole_seconds_only() {
        let mut run = run(&[1.0, 1.0, 0.5]);
        run.intervals[2].families.ipv6.completed = 1;
        let about = charts(&run)[0].about.replace('\u{a0}', " ");
        assert!(about.starts_with("IPv6: 100 to 100 requests/s."), "{about}");
        assert!(about.ends_with("The last 500 ms are not included."), "{about}");
    }

    /// Returns a run of tenths with these numbers of responses over IPv6, and failures over IPv4.
    fn short(completed: &[u64]) -> RunResult {
        let mut run = run(&[1.0]);
        let times = |count: u64| TenthTimes {
            count,
            p50: (count > 0).then_some(5_000.0),
            p95: (count > 0).then_some(6_000.0),
            p99: (count > 0).then_some(7_000.0),
        };
        let family = |completed: u64, failed| TenthFamily {
            sent: completed + failed,
            ended: completed + failed,
            completed,
            failed,
            unaccepted: 0,
            body_bytes: 0,
            response_us: times(completed),
        };
        let tenth = |(at, &completed): (usize, &u64)| {
            let families = PerFamily { ipv6: family(completed, 0), ipv4: family(0, 1) };
            Tenth { tenth: at as u64, length_s: 0.1, families }
        };
        run.tenths = completed.iter().enumerate().map(tenth).collect();
        run
    }

    #[test]
    fn draws_a_short_run_by_tenths_and_marks_missing_responses_as_none() {
        let charts = charts(&short(&[10, 20, 0, 10]));
        let (rates, times) = (&charts[0], &charts[1]);
        assert_eq!(rates.xs, [0.0, 0.1, 0.2, 0.3]);
        assert_eq!(rates.series[0].ys, [100.0, 200.0, 0.0, 100.0].map(Some));
        let label = rates.table.groups[0].rows[3].label.text();
        assert_eq!((label, rates.bands.len()), ("0.3", 0));
        // A tenth in which nothing arrived may only be too short; nothing at all is none.
        let [v6, v4] = [&times.series[0], &times.series[1]];
        assert_eq!((v6.name.as_str(), v6.ys[2], v6.missing.len()), ("IPv6 median", None, 0));
        assert_eq!((v4.name.as_str(), v4.missing.clone()), ("IPv4 median", vec![Some("none"); 4]));
        let cells = &times.table.groups[0].rows[0].cells;
        assert_eq!(
            (cells[0].text().replace('\u{a0}', " ").as_str(), cells[1].text()),
            ("5.00 ms", "none")
        );
    }

    #[test]
    fn marks_no_whole_second_and_draws_no_empty_last_second() {
        let mut run = run(&[1.0, 1.0, 0.0]);
        run.plan.load.warmup = std::time::Duration::from_secs(1);
        for chart in charts(&run) {
            assert_eq!((chart.bands.len(), chart.xs.len()), (0, 2), "{}", chart.title);
            assert_eq!(chart.x.label, "seconds from the end of the warm-up");
        }
    }

    #[test]
    fn draws_one_rate_if_the_ratio_fixes_both() {
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
