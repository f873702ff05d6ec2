//! A histogram of response times.

use sixmark_sheet::chart::{Axis, Chart, Mark, Scale, Unit, rounded};
use sixmark_sheet::table::{Row, SheetCell, Table};
use sixmark_sheet::write;

use super::curves::{Curve, LEAST_US, describe_curves, each_cell, each_series};
use super::side::Sides;

/// Buckets of the histogram.
const BUCKETS: usize = 40;
/// The least ratio of the histogram's upper bound to its lower one, since times in documents have
/// only three digits.
const NARROWEST: f64 = 1.5;

/// Returns a histogram of response times, whose buckets are equally wide on a logarithmic axis. The
/// last bucket ends at the longest p99.9, and also counts all longer times.
pub(super) fn buckets(sides: &Sides<'_>, curves: &[Curve<'_>]) -> Chart {
    let low = curves.iter().map(|curve| curve.found.min_us()).fold(f64::MAX, f64::min);
    let high = curves.iter().map(|curve| curve.found.quantile_us(0.999)).fold(0.0, f64::max);
    let low = low.max(LEAST_US);
    let high = high.max(low * NARROWEST);
    let step = (high / low).powf(1.0 / BUCKETS as f64);
    let bounds: Vec<f64> = (0..=BUCKETS).map(|at| rounded(low * step.powi(at as i32))).collect();
    let shares: Vec<Vec<f64>> = curves.iter().map(|curve| shares(curve, &bounds)).collect();
    let steps = |shares: &Vec<f64>| {
        // A step lasts until the next point.
        shares.iter().chain(shares.last()).copied().map(Some).collect()
    };
    let series = each_series(sides, curves, Mark::Steps, shares.iter().map(steps));
    let most = shares.iter().flatten().copied();
    Chart {
        title: "Response: histogram".to_owned(),
        about: describe_curves(sides, curves),
        table: bucket_table(sides, curves, &bounds, &shares),
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

fn bucket_table(
    sides: &Sides<'_>,
    curves: &[Curve<'_>],
    bounds: &[f64],
    shares: &[Vec<f64>],
) -> Table {
    let row = |at: usize| {
        let [from, to] = [bounds[at], bounds[at + 1]].map(write::write_time);
        let label = if at + 2 == bounds.len() {
            format!("more than {from}")
        } else {
            format!("{from} to {to}")
        };
        let cell = |of: &Vec<f64>| SheetCell::Number(write::write_percent(of[at]), of[at]);
        let cells = each_cell(sides, curves, shares.iter().map(cell));
        Row::new(SheetCell::Number(label, bounds[at]), cells)
    };
    let rows = (0..bounds.len() - 1).map(row).collect();
    Table::new("Response: share of responses by time", sides.columns("Response time"), rows)
}

#[cfg(test)]
mod tests {
    use super::super::side::Side;
    use super::*;
    use sixmark_document::histogram::Distribution;
    use sixmark_document::timing::Timing;
    use sixmark_http::HttpVersion;
    use sixmark_result::fixture;

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
        let sides = Sides { all: vec![side.clone()], both: None, watched: false };
        let chart = buckets(&sides, &[Curve { side: &side, found }]);
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
