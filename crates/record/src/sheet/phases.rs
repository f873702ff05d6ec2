//! Charts of the distribution of each phase's durations: percentiles and cumulative distribution.

use crate::timed_phase::TimedPhase;
use sixmark_document::histogram::Distribution;

use sixmark_sheet::chart::{Axis, Chart, Mark, Scale, Series, Unit, rounded};

use super::side::{Side, Sides};
use sixmark_sheet::table::{Row, SheetCell, Table};
use sixmark_sheet::{Block, Part, write};

/// Points of the percentile curve per factor of ten in the tail.
const POINTS_A_DECADE: i32 = 24;
/// Points of the cumulative curve.
const POINTS: usize = 128;
/// Buckets of the histogram.
const BUCKETS: usize = 40;
/// The least ratio of the histogram's upper bound to its lower one, since times in documents have
/// only three digits.
const NARROWEST: f64 = 1.5;
/// One in this many points of the cumulative curve has a row in the table.
const ROWS_EVERY: usize = 8;
/// The shares that have a row in the table of a percentile curve, if there are enough durations.
const SHARES: [f64; 15] = [
    0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 0.9995, 0.9999, 0.99999, 0.999999,
    0.9999999,
];
/// The shortest time on a logarithmic axis, in microseconds. Shorter ones are drawn there.
const LEAST_US: f64 = 0.1;

/// The order in which the phases are shown: those of most interest first.
const ORDER: [TimedPhase; 10] = [
    TimedPhase::Response,
    TimedPhase::Ttfb,
    TimedPhase::Wait,
    TimedPhase::Interim,
    TimedPhase::Connect,
    TimedPhase::Tls,
    TimedPhase::Transfer,
    TimedPhase::Service,
    TimedPhase::Slip,
    TimedPhase::Lifetime,
];

/// Returns the name of a phase, capitalised.
pub(super) fn phase_title(phase: TimedPhase) -> String {
    write::capitalised(phase.noun())
}

/// Returns the charts of all phases that took any time.
pub fn phases_part(sides: &Sides<'_>) -> Option<Part> {
    let blocks = ORDER.into_iter().flat_map(|phase| blocks(sides, phase)).collect();
    Part::new("Distribution of times", blocks).map(Part::off_terminal)
}

fn blocks(sides: &Sides<'_>, phase: TimedPhase) -> Vec<Block> {
    let mut curves = Vec::new();
    for side in &sides.all {
        match phase.durations(side.figures).map_or(Ok(None), Distribution::of) {
            Ok(Some(found)) => curves.push(Curve { side, found }),
            Ok(None) => {}
            Err(why) => {
                let (title, name) = (phase_title(phase), &side.name);
                return vec![Block::Text(format!("{title}, {name}: {why}."))];
            }
        }
    }
    match curves.iter().map(|curve| curve.found.max_us()).fold(0.0, f64::max) {
        _ if curves.is_empty() => Vec::new(),
        longest if longest < COMPARABLE_US => vec![
            Block::Heading(phase_title(phase)),
            Block::Aside(format!(
                "{} Never more than {COMPARABLE_US} µs.",
                sides.definition(phase)
            )),
        ],
        _ => vec![Block::Heading(phase_title(phase)), Block::Aside(sides.definition(phase).into())]
            .into_iter()
            .chain((phase == TimedPhase::Response).then(|| Block::Charts(vec![buckets(&curves)])))
            .chain([Block::Charts(vec![
                percentiles(sides, phase, &curves),
                within(phase, &curves),
            ])])
            .collect(),
    }
}

/// Returns a histogram of response times, whose buckets are equally wide on a logarithmic axis. The
/// last bucket ends at the longest p99.9, and also counts all longer times.
fn buckets(curves: &[Curve<'_>]) -> Chart {
    let low = curves.iter().map(|curve| curve.found.min_us()).fold(f64::MAX, f64::min);
    let high = curves.iter().map(|curve| curve.found.quantile_us(0.999)).fold(0.0, f64::max);
    let low = low.max(LEAST_US);
    let high = high.max(low * NARROWEST);
    let step = (high / low).powf(1.0 / BUCKETS as f64);
    let bounds: Vec<f64> = (0..=BUCKETS).map(|at| rounded(low * step.powi(at as i32))).collect();
    let shares: Vec<Vec<f64>> = curves.iter().map(|curve| shares(curve, &bounds)).collect();
    let series: Vec<Series> = curves
        .iter()
        .zip(&shares)
        .map(|(curve, shares)| {
            // A step lasts until the next point.
            let ys = shares.iter().chain(shares.last()).copied().map(Some).collect();
            Series::new(curve.side.name.clone(), curve.side.place, Mark::Steps, ys)
        })
        .collect();
    let most = shares.iter().flatten().copied();
    Chart {
        title: "Response: histogram".to_owned(),
        about: describe_curves(curves),
        table: bucket_table(curves, &bounds, &shares),
        x: Axis {
            scale: Scale::Log,
            ..Axis::linear(
                "response time; the last bucket counts all longer ones",
                Unit::Us,
                bounds[0],
                bounds[BUCKETS],
            )
        },
        y: Axis::from_zero("share of responses", Unit::Share, most),
        labels: Vec::new(),
        xs: bounds,
        series,
        bands: Vec::new(),
    }
}

/// Returns the share of a side's durations in each bucket.
fn shares(curve: &Curve<'_>, bounds: &[f64]) -> Vec<f64> {
    let mut below = 0.0;
    let upper = bounds[1..bounds.len() - 1].iter().map(|&us| curve.found.share_within(us));
    upper
        .chain([1.0])
        .map(|within| {
            let share = rounded((within - below).max(0.0));
            below = within;
            share
        })
        .collect()
}

fn bucket_table(curves: &[Curve<'_>], bounds: &[f64], shares: &[Vec<f64>]) -> Table {
    let row = |at: usize| {
        let [from, to] = [bounds[at], bounds[at + 1]].map(write::write_time);
        let label = match at + 2 == bounds.len() {
            true => format!("more than {from}"),
            false => format!("{from} to {to}"),
        };
        let cell = |of: &Vec<f64>| SheetCell::Number(write::write_percent(of[at]), of[at]);
        Row::new(SheetCell::Number(label, bounds[at]), shares.iter().map(cell).collect())
    };
    let rows = (0..bounds.len() - 1).map(row).collect();
    let columns = std::iter::once(sixmark_sheet::table::Column::words("Response time"))
        .chain(curves.iter().map(|curve| sixmark_sheet::table::Column::number(&curve.side.name)));
    Table::new("Response: share of responses by time", columns.collect(), rows)
}

/// One side's durations of a phase.
struct Curve<'a> {
    side: &'a Side<'a>,
    found: Distribution,
}

impl Curve<'_> {
    fn series(&self, ys: Vec<Option<f64>>) -> Series {
        Series::new(self.side.name.clone(), self.side.place, Mark::Line, ys)
    }

    /// Returns the duration that one in `tail` durations exceeds, for a point of the tail axis;
    /// `None` if there are fewer than `tail` durations.
    fn at(&self, tail: f64) -> Option<f64> {
        let count = self.found.count() as f64;
        (tail <= count * 1.000_001).then(|| self.found.quantile_us(tail_share(tail, count)))
    }
}

/// Returns the share that a point of the tail axis stands for; 1, the longest duration, for the
/// last point.
fn tail_share(tail: f64, count: f64) -> f64 {
    if tail >= count * 0.999_999 { 1.0 } else { 1.0 - 1.0 / tail }
}

/// Returns the chart of durations by share, on an axis that is logarithmic in the tail: 90 % to 99
/// % is as wide as 0 % to 90 %.
fn percentiles(sides: &Sides<'_>, phase: TimedPhase, curves: &[Curve<'_>]) -> Chart {
    let most = curves.iter().map(|curve| curve.found.count()).max().unwrap_or(1).max(2) as f64;
    let xs = tails(most, curves);
    let series: Vec<Series> = curves
        .iter()
        .map(|curve| curve.series(xs.iter().map(|&x| curve.at(x).map(rounded)).collect()))
        .collect();
    let values = || series.iter().flat_map(|series| series.ys.iter().flatten().copied());
    let y = Axis::durations("", LEAST_US, values().collect::<Vec<_>>().into_iter());
    Chart {
        title: format!("{}: percentiles", phase_title(phase)),
        about: describe_curves(curves),
        table: percentile_table(sides, phase, curves, most),
        x: Axis {
            scale: Scale::Log,
            ..Axis::linear("share of all that took no longer", Unit::Tail, 1.0, most)
        },
        y,
        labels: Vec::new(),
        xs: xs.into_iter().map(rounded).collect(),
        series,
        bands: Vec::new(),
    }
}

/// Returns the points of the tail axis: those of the table, the last one of each side, and evenly
/// spaced ones.
fn tails(most: f64, curves: &[Curve<'_>]) -> Vec<f64> {
    let decades = most.log10();
    let steps = (decades * f64::from(POINTS_A_DECADE)).ceil().max(1.0) as i32;
    let even = (0..=steps).map(|at| 10_f64.powf(decades * f64::from(at) / f64::from(steps)));
    let listed = SHARES.iter().map(|share| 1.0 / (1.0 - share));
    let ends = curves.iter().map(|curve| curve.found.count() as f64);
    let mut xs: Vec<f64> = even.chain(listed).chain(ends).filter(|&x| x <= most).collect();
    xs.sort_by(f64::total_cmp);
    xs.dedup_by(|a, b| (*a / *b - 1.0).abs() < 1e-6);
    xs
}

fn percentile_table(
    sides: &Sides<'_>,
    phase: TimedPhase,
    curves: &[Curve<'_>],
    most: f64,
) -> Table {
    let mut rows: Vec<Row> = SHARES
        .iter()
        .map(|share| (write::quantile(*share), 1.0 / (1.0 - share)))
        .filter(|(_, tail)| *tail < most)
        .map(|(label, tail)| phase_row(label, curves, |curve| curve.at(tail)))
        .collect();
    rows.push(phase_row("100 %".into(), curves, |curve| Some(curve.found.max_us())));
    let columns = sides.columns("Share");
    Table::new(format!("{}: not longer than", phase_title(phase)), columns, rows)
}

fn phase_row(label: String, curves: &[Curve<'_>], of: impl Fn(&Curve<'_>) -> Option<f64>) -> Row {
    let cell = |us: f64| SheetCell::Number(write::write_time(us), rounded(us));
    Row::new(
        label,
        curves.iter().map(|curve| of(curve).map_or_else(SheetCell::none, cell)).collect(),
    )
}

/// Returns the chart of the cumulative distribution: the share of durations by time.
fn within(phase: TimedPhase, curves: &[Curve<'_>]) -> Chart {
    // The axis omits the longest thousandth, which would take most of the room. The chart of
    // percentiles shows it.
    let bounds = curves.iter().flat_map(|c| [c.found.min_us(), c.found.quantile_us(0.999)]);
    let bounds: Vec<f64> = bounds.collect();
    let x = Axis::durations("", LEAST_US, bounds.into_iter());
    let xs = spread(&x);
    let series: Vec<Series> = curves
        .iter()
        .map(|curve| {
            let ys = xs.iter().map(|&us| Some(rounded(curve.found.share_within(us))));
            curve.series(ys.collect())
        })
        .collect();
    Chart {
        title: format!("{}: cumulative distribution", phase_title(phase)),
        about: describe_curves(curves),
        table: within_table(phase, curves, &xs),
        x,
        y: Axis { to: 1.0, ..Axis::from_zero("share", Unit::Share, std::iter::once(1.0)) },
        labels: Vec::new(),
        xs,
        series,
        bands: Vec::new(),
    }
}

/// Returns points that are evenly spaced on the axis.
fn spread(axis: &Axis) -> Vec<f64> {
    let along = |at: usize| {
        let part = at as f64 / (POINTS - 1) as f64;
        match axis.scale {
            Scale::Linear => axis.from + (axis.to - axis.from) * part,
            Scale::Log => axis.from * (axis.to / axis.from).powf(part),
        }
    };
    (0..POINTS).map(along).map(rounded).collect()
}

fn within_table(phase: TimedPhase, curves: &[Curve<'_>], xs: &[f64]) -> Table {
    let rows = xs.iter().enumerate().filter(|(at, _)| (at + 1).is_multiple_of(ROWS_EVERY));
    let cell = |share: f64| SheetCell::Number(write::quantile((share * 1e5).round() / 1e5), share);
    let row = |(_, &us): (usize, &f64)| {
        let shares = curves.iter().map(|curve| cell(rounded(curve.found.share_within(us))));
        Row::new(SheetCell::Number(write::write_time(us), us), shares.collect())
    };
    let columns = std::iter::once(sixmark_sheet::table::Column::words("Time"))
        .chain(curves.iter().map(|curve| sixmark_sheet::table::Column::number(&curve.side.name)));
    let caption = format!("{}: share within", phase_title(phase));
    Table::new(caption, columns.collect(), rows.map(row).collect())
}

/// Describes the curves in words.
fn describe_curves(curves: &[Curve<'_>]) -> String {
    let of = |curve: &Curve<'_>| {
        let quantiles = [0.5, 0.95, 0.99].map(|q| write::write_time(curve.found.quantile_us(q)));
        let [p50, p95, p99] = quantiles;
        let (name, longest) = (&curve.side.name, write::write_time(curve.found.max_us()));
        let count = write::write_count(curve.found.count());
        format!("{name}: median {p50}, p95 {p95}, p99 {p99}, longest {longest}, of {count}.")
    };
    curves.iter().map(of).collect::<Vec<_>>().join(" ")
}

/// The shortest time that is shown in detail, in microseconds. Shorter ones are within the error of
/// the clocks.
pub(super) const COMPARABLE_US: f64 = 1.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use sixmark_document::timing::Timing;
    use sixmark_http::HttpVersion;

    #[test]
    fn the_shares_of_a_histogram_add_up_to_all_responses() {
        let mut timing = Timing::default();
        (1..=10_000_u64).for_each(|us| timing.record(us * 1_000));
        let summary = timing.summary();
        let figures = fixture::silent();
        let name = "IPv6".to_owned();
        let version = HttpVersion::Http1;
        let side = Side { place: 0, name, figures: &figures, version, hidden: false };
        let found = Distribution::of(&summary).unwrap().unwrap();
        let chart = buckets(&[Curve { side: &side, found }]);
        let ys: Vec<f64> = chart.series[0].ys.iter().flatten().copied().collect();
        assert_eq!((chart.xs.len(), ys.len()), (BUCKETS + 1, BUCKETS + 1));
        let sum: f64 = ys[..BUCKETS].iter().sum();
        assert!((sum - 1.0).abs() < 1e-3, "{sum}");
        assert_eq!(ys[BUCKETS], ys[BUCKETS - 1], "the last step has an end");
        let [first, last] = [chart.xs[1] / chart.xs[0], chart.xs[BUCKETS] / chart.xs[BUCKETS - 1]];
        assert!((first / last - 1.0).abs() < 1e-3, "{first} and {last}");
        assert_eq!(chart.table.rows().count(), BUCKETS);
    }
}
