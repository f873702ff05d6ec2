//! Charts of the distribution of each phase's durations: percentiles and cumulative distribution.

use sixmark_document::histogram::Distribution;
use sixmark_tally::timed_phase::TimedPhase;

use sixmark_sheet::chart::{Axis, Chart, Mark, Scale, Unit, rounded};

use super::buckets::buckets;
use super::curves::{Curve, LEAST_US, describe_curves, each_cell, each_series};
use super::side::Sides;
use sixmark_sheet::table::{Row, SheetCell, Table};
use sixmark_sheet::{Block, Part, write};

/// Points of the percentile curve per factor of ten in the tail.
const POINTS_A_DECADE: i32 = 24;
/// Points of the cumulative curve.
const POINTS: usize = 128;
/// One in this many points of the cumulative curve has a row in the table.
const ROWS_EVERY: usize = 8;
/// The shares that have a row in the table of a percentile curve, if there are enough durations.
const SHARES: [f64; 15] = [
    0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 0.9995, 0.9999, 0.99999, 0.999999,
    0.9999999,
];

/// Returns the name of a phase, capitalised.
pub(super) fn phase_title(phase: TimedPhase) -> String {
    write::capitalised(phase.noun())
}

/// Returns the charts of all phases that took any time.
pub fn phases_part(sides: &Sides<'_>) -> Option<Part> {
    let blocks =
        TimedPhase::by_interest().into_iter().flat_map(|phase| blocks(sides, phase)).collect();
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
                "{} Never more than {COMPARABLE_US} us.",
                sides.definition(phase)
            )),
        ],
        _ => vec![Block::Heading(phase_title(phase)), Block::Aside(sides.definition(phase).into())]
            .into_iter()
            .chain(
                (phase == TimedPhase::Response)
                    .then(|| Block::Charts(vec![buckets(sides, &curves)])),
            )
            .chain([Block::Charts(vec![
                percentiles(sides, phase, &curves),
                within(sides, phase, &curves),
            ])])
            .collect(),
    }
}

/// Returns the chart of durations by share, on an axis that is logarithmic in the tail: 90 % to 99
/// % is as wide as 0 % to 90 %.
fn percentiles(sides: &Sides<'_>, phase: TimedPhase, curves: &[Curve<'_>]) -> Chart {
    let most = curves.iter().map(|curve| curve.found.count()).max().unwrap_or(1).max(2) as f64;
    let xs = tails(most, curves);
    let ys = |curve: &Curve<'_>| xs.iter().map(|&x| curve.at(x).map(rounded)).collect();
    let series = each_series(sides, curves, Mark::Line, curves.iter().map(ys));
    let values = || series.iter().flat_map(|series| series.ys.iter().flatten().copied());
    let y = Axis::durations("", LEAST_US, values().collect::<Vec<_>>().into_iter());
    Chart {
        title: format!("{}: percentiles", phase_title(phase)),
        about: describe_curves(sides, curves),
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
        .map(|(label, tail)| phase_row(label, sides, curves, |curve| curve.at(tail)))
        .collect();
    rows.push(phase_row("100 %".into(), sides, curves, |curve| Some(curve.found.max_us())));
    let columns = sides.columns("Share");
    Table::new(format!("{}: not longer than", phase_title(phase)), columns, rows)
}

fn phase_row(
    label: String,
    sides: &Sides<'_>,
    curves: &[Curve<'_>],
    of: impl Fn(&Curve<'_>) -> Option<f64>,
) -> Row {
    let cell = |us: f64| SheetCell::Number(write::write_time(us), rounded(us));
    let cells = curves.iter().map(|curve| of(curve).map_or_else(SheetCell::none, cell));
    Row::new(label, each_cell(sides, curves, cells))
}

/// Returns the chart of the cumulative distribution: the share of durations by time.
fn within(sides: &Sides<'_>, phase: TimedPhase, curves: &[Curve<'_>]) -> Chart {
    // The axis omits the longest thousandth, which would take most of the room. The chart of
    // percentiles shows it.
    let bounds = curves.iter().flat_map(|c| [c.found.min_us(), c.found.quantile_us(0.999)]);
    let bounds: Vec<f64> = bounds.collect();
    let x = Axis::durations("", LEAST_US, bounds.into_iter());
    let xs = spread(&x);
    let ys = |curve: &Curve<'_>| {
        xs.iter().map(|&us| Some(rounded(curve.found.share_within(us)))).collect()
    };
    let series = each_series(sides, curves, Mark::Line, curves.iter().map(ys));
    Chart {
        title: format!("{}: cumulative distribution", phase_title(phase)),
        about: describe_curves(sides, curves),
        table: within_table(sides, phase, curves, &xs),
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

fn within_table(sides: &Sides<'_>, phase: TimedPhase, curves: &[Curve<'_>], xs: &[f64]) -> Table {
    let rows = xs.iter().enumerate().filter(|(at, _)| (at + 1).is_multiple_of(ROWS_EVERY));
    let cell = |share: f64| SheetCell::Number(write::quantile((share * 1e5).round() / 1e5), share);
    let row = |(_, &us): (usize, &f64)| {
        let shares = curves.iter().map(|curve| cell(rounded(curve.found.share_within(us))));
        let cells = each_cell(sides, curves, shares);
        Row::new(SheetCell::Number(write::write_time(us), us), cells)
    };
    let caption = format!("{}: share within", phase_title(phase));
    Table::new(caption, sides.columns("Time"), rows.map(row).collect())
}

/// The shortest time that is shown in detail, in microseconds. Shorter ones are within the error of
/// the clocks.
pub(super) const COMPARABLE_US: f64 = 1.0;

#[cfg(test)]
mod tests {
    use super::*;
    use sixmark_result::fixture;

    #[test]
    fn shows_a_side_without_durations_as_none() {
        let mut run = fixture::run();
        run.families.ipv6 = Some(fixture::silent());
        let sides = Sides::of_families(&run);
        let part = phases_part(&sides).unwrap();
        let charts = part.blocks.iter().filter_map(|block| match block {
            Block::Charts(charts) => Some(charts),
            _ => None,
        });
        let charts: Vec<&Chart> = charts.flatten().collect();
        assert!(!charts.is_empty());
        for chart in charts {
            let names: Vec<&str> = chart.series.iter().map(|of| of.name.as_str()).collect();
            assert_eq!(names, ["IPv6: none", "IPv4"], "{}", chart.title);
            assert!(chart.series[0].ys.iter().all(Option::is_none), "{}", chart.title);
            assert_eq!(chart.series[0].ys.len(), chart.xs.len(), "{}", chart.title);
            let cells = &chart.table.rows().next().unwrap().cells;
            assert_eq!((cells.len(), cells[0].text()), (2, "none"), "{}", chart.table.caption);
            assert!(chart.about.ends_with("IPv6: none."), "{}", chart.about);
        }
    }
}
