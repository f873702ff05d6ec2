//! The figures of both sides, in columns.

use super::phases::COMPARABLE_US;
use sixmark_document::timing::Summary;
use sixmark_sheet::Figure;
use sixmark_tally::family_result::FamilyResult;
use sixmark_tally::metric::{Metric, MetricKind, Quantity, QuantityGroup};
use sixmark_tally::timed_phase::{TimePoint, TimedPhase};

use super::side::Sides;
use sixmark_sheet::BOTH_PLACE;
use sixmark_sheet::table::{Group, Row, SheetCell, Table};
use sixmark_sheet::{Block, Part, Tile, write};

/// The statistics that are shown of each phase.
const QUANTILES: [Figure<Summary>; 7] = [
    ("mean", |s| s.mean),
    ("median", |s| s.p50),
    ("p90", |s| s.p90),
    ("p95", |s| s.p95),
    ("p99", |s| s.p99),
    ("p99.9", |s| s.p999),
    ("longest", |s| s.max),
];

/// The statistics that a terminal, which is small, does not show.
const ONLY_ON_PAGES: [&str; 2] = ["p90", "p99.9"];

/// Returns the part with all figures.
pub fn figures_part(sides: &Sides<'_>) -> Option<Part> {
    let requests = Group { name: Some("Requests".into()), rows: counts(sides) };
    let mut groups: Vec<Group> =
        Some(requests).filter(|_| !sides.hides_all()).into_iter().collect();
    groups.extend(TimedPhase::ALL.into_iter().filter_map(|phase| times(sides, phase)));
    let columns = sides.columns("Figure");
    let caption = "Figures".to_owned();
    let table = Table { caption, columns, groups, scale: None };
    let blocks = std::iter::once(Block::Table(table)).chain(rates_of_both(sides)).collect();
    Part::new("Figures", blocks).map(Part::open)
}

/// Returns the rates of both families together, if the ratio fixes each family's share of them, so
/// that they are not figures of one family.
fn rates_of_both(sides: &Sides<'_>) -> Option<Block> {
    let both = sides.both?;
    let [rate, goodput] = [both.requests_per_s, both.goodput_bytes_per_s];
    Some(Block::Text(format!(
        "Both families: {} requests/s, goodput {}. The ratio fixes each family’s share of them.",
        write::per_s(rate),
        write::write_rate(goodput)
    )))
}

/// Returns the few figures that most readers look for.
pub fn tiles(sides: &Sides<'_>) -> Vec<Tile> {
    let time = |point| Some(Metric::Time(TimedPhase::Response, point));
    let tile = |label, metric, values: Values| tile(sides, label, metric, values);
    let times = |quantile: fn(&Summary) -> Option<f64>| {
        let of = |side: &super::side::Side<'_>| {
            let response = &side.figures.response_us;
            let written =
                |us| sixmark_sheet::write::write_bound(response, "", us, write::write_time);
            if side.hidden {
                "not seen".to_owned()
            } else {
                quantile(response).map_or("none".into(), written)
            }
        };
        sides.all.iter().map(of).collect::<Values>()
    };
    let failed = values(sides, FamilyResult::failed_share, write::write_percent);
    // Documents of an earlier version lack it.
    let has_p95 = sides.all.iter().any(|side| side.figures.response_us.p95.is_some());
    let p95 = has_p95.then(|| tile("p95 response time", time(TimePoint::P95), times(|s| s.p95)));
    let others = [
        tile("p99 response time", time(TimePoint::P99), times(|s| s.p99)),
        rate_tile(sides),
        tile("Failed", Some(Metric::Quantity(Quantity::Failures)), failed),
    ];
    let median = tile("Median response time", time(TimePoint::P50), times(|s| s.p50));
    std::iter::once(median).chain(p95).chain(others).collect()
}

/// Returns the tile of the rate: one rate for both sides together if the ratio fixes each side's
/// share.
fn rate_tile(sides: &Sides<'_>) -> Tile {
    let metric = Some(Metric::Quantity(Quantity::RequestsPerS));
    let mut of_sides =
        tile(sides, "Requests/s", metric, values(sides, |f| Some(f.requests_per_s), write::per_s));
    if let Some(both) = sides.both {
        let rate = write::per_s(both.requests_per_s);
        of_sides.sides = vec![(BOTH_PLACE, "both families".to_owned(), rate)];
    }
    of_sides
}

/// A figure of each side, as text.
type Values = Vec<String>;

fn values(
    sides: &Sides<'_>,
    figure: impl Fn(&FamilyResult) -> Option<f64>,
    write: impl Fn(f64) -> String,
) -> Values {
    let said = |value: Option<f64>| value.map_or("none".into(), &write);
    let of = |side: &super::side::Side<'_>| {
        if side.hidden { "not seen".to_owned() } else { said(figure(side.figures)) }
    };
    sides.all.iter().map(of).collect()
}

fn tile(sides: &Sides<'_>, label: &'static str, metric: Option<Metric>, values: Values) -> Tile {
    let named = sides.all.iter().zip(values);
    let sides = named.map(|(side, said)| (side.place, side.name.clone(), said)).collect();
    Tile { label, metric: metric.map(|of| of.to_string()), sides, change: String::new() }
}

fn counts(sides: &Sides<'_>) -> Vec<Row> {
    let is_any = |quantity: &Quantity| sides.any(|f| quantity.value(f));
    let connections = Quantity::in_group(QuantityGroup::Connections);
    let there = Quantity::unusual().chain(connections).filter(is_any);
    let rates = Quantity::in_group(QuantityGroup::Rates).filter(|_| sides.both.is_none());
    let counted = Quantity::in_group(QuantityGroup::Always).chain(there);
    let row = |quantity| quantity_row(sides, quantity);
    counted.map(row).chain(open_connections_row(sides)).chain(rates.map(row)).collect()
}

/// Returns the row of the mean number of open connections, if there were any.
fn open_connections_row(sides: &Sides<'_>) -> Option<Row> {
    let mean_open = |of: &FamilyResult| Some(of.connections.mean_open);
    sides
        .any(mean_open)
        .then(|| sides.row("connections open, mean", mean_open, |mean| format!("{mean:.1}")))
}

/// Returns the row of a quantity.
pub(crate) fn quantity_row(sides: &Sides<'_>, quantity: Quantity) -> Row {
    let entry = quantity.entry();
    let written: fn(f64) -> String = match entry.kind {
        MetricKind::BytesPerS => write::write_rate,
        MetricKind::Frequency => write::per_s,
        _ => |value| write::write_count(value as u64),
    };
    let value = |f: &FamilyResult| quantity.value(f);
    if quantity.is_of_connections() {
        sides.row(entry.title, value, written)
    } else {
        sides.exchanges_row(entry.title, value, written)
    }
}

/// Returns the row of a statistic of a phase's durations. Values that are lower bounds are marked.
pub(crate) fn times_row(
    sides: &Sides<'_>,
    phase: TimedPhase,
    (name, quantile): (&'static str, fn(&Summary) -> Option<f64>),
) -> Row {
    let cell = |figures: &FamilyResult| {
        let summary = phase.durations(figures);
        let Some((us, of)) = summary.and_then(quantile).zip(summary) else {
            return SheetCell::none();
        };
        SheetCell::Number(sixmark_sheet::write::write_bound(of, name, us, write::write_time), us)
    };
    let row = Row::new(name, sides.all.iter().map(|side| cell(side.figures)).collect());
    let terminal = phase.is_on_terminal() && !ONLY_ON_PAGES.contains(&name);
    Row { terminal, ..row }
}

fn times(sides: &Sides<'_>, phase: TimedPhase) -> Option<Group> {
    if !sides.any(|f| phase.durations(f).map(|summary| summary.count as f64)) {
        return None;
    }
    // If nothing took any time, only the maximum is shown.
    let longest = |f: &FamilyResult| phase.durations(f).and_then(|summary| summary.max);
    let none = !sides.any(|f| longest(f).map(|us| us - COMPARABLE_US));
    let shown = if none { &QUANTILES[QUANTILES.len() - 1..] } else { &QUANTILES[..] };
    // Documents of an earlier version lack some of them.
    let rows = shown.iter().filter_map(|&(name, quantile)| {
        let value = |f: &FamilyResult| phase.durations(f).and_then(quantile);
        let any = sides.all.iter().any(|side| value(side.figures).is_some());
        any.then(|| times_row(sides, phase, (name, quantile)))
    });
    Some(Group { name: Some(super::phases::phase_title(phase)), rows: rows.collect() })
}
