//! How the durations of each phase are distributed: two curves of each side.

use sixmark_model::histogram::Distribution;
use sixmark_model::timed_phase::TimedPhase;

use super::chart::{Axis, Chart, Mark, Scale, Series, Unit, rounded};

use super::side::{Side, Sides};
use super::table::{Row, SheetCell, Table};
use super::{Block, Part, write};

/// Points of the percentile curve for each factor of ten in the tail.
const POINTS_A_DECADE: i32 = 24;
/// Points of the cumulative curve.
const POINTS: usize = 128;
/// Every so many of them have a row in the table.
const ROWS_EVERY: usize = 8;
/// The shares that the table of a percentile curve has a row for, where there are enough durations.
const SHARES: [f64; 15] = [
    0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 0.9995, 0.9999, 0.99999, 0.999999,
    0.9999999,
];
/// What is drawn as this where it is shorter, on a logarithmic axis.
const LEAST_US: f64 = 0.1;

/// The order in which people want them.
const ORDER: [TimedPhase; 9] = [
    TimedPhase::Response,
    TimedPhase::Ttfb,
    TimedPhase::Wait,
    TimedPhase::Connect,
    TimedPhase::Tls,
    TimedPhase::Transfer,
    TimedPhase::Service,
    TimedPhase::Slip,
    TimedPhase::Lifetime,
];

/// The name of a phase at the start of a line.
pub(super) fn phase_title(phase: TimedPhase) -> String {
    write::capitalised(phase.noun())
}

/// The curves of all phases that took any time.
pub(super) fn phases_part(sides: &Sides<'_>) -> Option<Part> {
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
            Block::Aside(format!("{} Never more than {COMPARABLE_US} µs.", phase.definition())),
        ],
        _ => vec![
            Block::Heading(phase_title(phase)),
            Block::Aside(phase.definition().into()),
            Block::Charts(vec![percentiles(sides, phase, &curves), within(phase, &curves)]),
        ],
    }
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

    /// Beyond one of all durations there is nothing but the longest.
    fn at(&self, tail: f64) -> Option<f64> {
        let count = self.found.count() as f64;
        (tail <= count * 1.000_001).then(|| self.found.quantile_us(tail_share(tail, count)))
    }
}

/// The share that a point of the tail axis stands for; the last one is the longest.
fn tail_share(tail: f64, count: f64) -> f64 {
    if tail >= count * 0.999_999 { 1.0 } else { 1.0 - 1.0 / tail }
}

/// How long up to which share: the tail is drawn as wide as the rest.
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

/// The points of the tail axis: those of the table, each side's last, and enough between.
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

/// Which share up to how long.
fn within(phase: TimedPhase, curves: &[Curve<'_>]) -> Chart {
    // The last thousandth has its place in the other chart, and would take this one's.
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

/// Points along an axis, as it spaces them.
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
    let columns = std::iter::once(super::table::Column::words("Time"))
        .chain(curves.iter().map(|curve| super::table::Column::number(&curve.side.name)));
    let caption = format!("{}: share within", phase_title(phase));
    Table::new(caption, columns.collect(), rows.map(row).collect())
}

/// The curves in words.
fn describe_curves(curves: &[Curve<'_>]) -> String {
    let of = |curve: &Curve<'_>| {
        let [p50, p99] = [0.5, 0.99].map(|q| write::write_time(curve.found.quantile_us(q)));
        let (name, longest) = (&curve.side.name, write::write_time(curve.found.max_us()));
        let count = write::write_count(curve.found.count());
        format!("{name}: median {p50}, 99 % within {p99}, longest {longest}, of {count}.")
    };
    curves.iter().map(of).collect::<Vec<_>>().join(" ")
}

/// The shortest time that is shown in detail, in microseconds: below it lies the error of the clocks.
pub(super) const COMPARABLE_US: f64 = 1.0;
