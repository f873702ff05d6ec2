//! The durations of the sides of a report, as series of charts and cells of their tables. A side
//! without durations has its place there too.

use sixmark_document::histogram::Distribution;
use sixmark_sheet::chart::{Mark, Series};
use sixmark_sheet::table::SheetCell;
use sixmark_sheet::write;

use super::side::{Side, Sides};

/// The shortest time on a logarithmic axis, in microseconds. Shorter ones are drawn there.
pub(super) const LEAST_US: f64 = 0.1;

/// One side's durations of a phase.
pub(super) struct Curve<'a> {
    pub(super) side: &'a Side<'a>,
    pub(super) found: Distribution,
}

impl Curve<'_> {
    fn is_of(&self, side: &Side<'_>) -> bool {
        self.side.place == side.place
    }

    /// Returns the duration that one in `tail` durations exceeds, for a point of the tail axis;
    /// `None` if there are fewer than `tail` durations.
    pub(super) fn at(&self, tail: f64) -> Option<f64> {
        let count = self.found.count() as f64;
        (tail <= count * 1.000_001).then(|| self.found.quantile_us(tail_share(tail, count)))
    }
}

/// Returns the share that a point of the tail axis stands for; 1, the longest duration, for the
/// last point.
fn tail_share(tail: f64, count: f64) -> f64 {
    if tail >= count * 0.999_999 { 1.0 } else { 1.0 - 1.0 / tail }
}

/// Returns a series for each side: of those with durations `ys`, in their order. The others have no
/// point, and their names say so.
pub(super) fn each_series(
    sides: &Sides<'_>,
    curves: &[Curve<'_>],
    mark: Mark,
    mut ys: impl Iterator<Item = Vec<Option<f64>>>,
) -> Vec<Series> {
    let of = |side: &Side<'_>| {
        if curves.iter().any(|curve| curve.is_of(side)) {
            Series::new(side.name.clone(), side.place, mark, ys.next().unwrap_or_default())
        } else {
            Series::new(format!("{}: {}", side.name, absence(side)), side.place, mark, Vec::new())
        }
    };
    let mut series: Vec<Series> = sides.all.iter().map(of).collect();
    let points = series.iter().map(|of| of.ys.len()).max().unwrap_or(0);
    series.iter_mut().for_each(|of| of.ys.resize(points, None));
    series
}

/// Returns a cell for each side: of those with durations `cells`, in their order.
pub(super) fn each_cell(
    sides: &Sides<'_>,
    curves: &[Curve<'_>],
    mut cells: impl Iterator<Item = SheetCell>,
) -> Vec<SheetCell> {
    let of = |side: &Side<'_>| {
        if curves.iter().any(|curve| curve.is_of(side)) {
            cells.next().unwrap_or_else(SheetCell::none)
        } else {
            absence(side).into()
        }
    };
    sides.all.iter().map(of).collect()
}

/// Returns the word for the durations of a side that has none.
fn absence(side: &Side<'_>) -> &'static str {
    if side.hidden { "not seen" } else { "none" }
}

/// Describes the curves in words.
pub(super) fn describe_curves(sides: &Sides<'_>, curves: &[Curve<'_>]) -> String {
    let of = |curve: &Curve<'_>| {
        let quantiles = [0.5, 0.95, 0.99].map(|q| write::write_time(curve.found.quantile_us(q)));
        let [p50, p95, p99] = quantiles;
        let (name, longest) = (&curve.side.name, write::write_time(curve.found.max_us()));
        let count = write::write_count(curve.found.count());
        format!("{name}: median {p50}, p95 {p95}, p99 {p99}, longest {longest}, of {count}.")
    };
    let absent = sides.all.iter().filter(|side| !curves.iter().any(|curve| curve.is_of(side)));
    let absent = absent.map(|side| format!("{}: {}.", side.name, absence(side)));
    curves.iter().map(of).chain(absent).collect::<Vec<_>>().join(" ")
}
