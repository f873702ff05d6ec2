//! What the blocks say: each metric's estimate on one scale, and each pair's effect.

use sixmark_model::comparison::{Compared, Comparison, Estimate};
use sixmark_model::metric::{Metric, MetricKind, Quantity};

use super::chart::{Axis, Band, Chart, Mark, Role, Series, Unit, rounded};
use super::side::shown;
use super::table::{Column, EffectScale, Row, SheetCell, Table};
use super::verdict::{change_of, short};
use super::{Block, Part, write};

/// Intervals that reach further than so many margins are cut off, so that the others can be told
/// apart.
const FURTHEST: f64 = 3.0;

/// The verdicts, and the effects behind them.
pub(super) fn effects_part(comparison: &Comparison) -> Option<Part> {
    let mut blocks = vec![Block::Table(verdicts(comparison)), Block::Text(legend(comparison))];
    blocks.extend(reasons(comparison));
    blocks.extend(header_corrected(comparison));
    let mut charts = comparison.metrics.iter().filter_map(|of| effects(comparison, of));
    blocks.extend(charts.next().map(|first| Block::Charts(vec![first])));
    let others: Vec<Chart> = charts.collect();
    if !others.is_empty() {
        let words = format!("Block effects of {} other metrics", others.len());
        blocks.push(Block::Folded(words, vec![Block::Charts(others)]));
    }
    Part::new("Verdicts", blocks).map(Part::open)
}

fn verdicts(comparison: &Comparison) -> Table {
    let [a, b] = [&comparison.a, &comparison.b].map(|name| shown(name));
    let mut columns = vec![
        Column::words("Metric"),
        Column::words("Verdict"),
        Column::number(&a),
        Column::number(&b),
        Column::number("Change"),
        Column::number("Interval"),
        Column::drawn("Interval and margin"),
        Column::number("p (Holm)").off_terminal(),
    ];
    let floors = comparison.metrics.iter().any(|of| of.noise_floor.is_some());
    columns.extend(floors.then(|| Column::number("Noise floor").off_terminal()));
    let rows = comparison.metrics.iter().map(|of| verdict_row(of, floors)).collect();
    let caption = format!("{a} against {b}, metric by metric");
    let mut table = Table::new(caption, columns, rows);
    table.scale = Some(scale(comparison));
    table
}

fn verdict_row(of: &Compared, floors: bool) -> Row {
    let figure = |value: Option<f64>| {
        value.map_or_else(SheetCell::none, |v| SheetCell::Number(written(of.metric, v), v))
    };
    let change = of
        .ratio
        .map(change_of)
        .or(of.difference.filter(|_| of.metric == Metric::Quantity(Quantity::Failures)));
    let share = |v: f64| SheetCell::Number(write::change(v), v);
    let range = |e: Estimate| format!("{} to {}", write::change(e.low), write::change(e.high));
    let p =
        |p: f64| SheetCell::Number(if p < 0.001 { "< 0.001".into() } else { format!("{p:.3}") }, p);
    let mut cells = vec![
        SheetCell::Verdict(of.verdict),
        figure(of.a),
        figure(of.b),
        change.map_or_else(SheetCell::none, |e| share(e.value)),
        change.map_or_else(SheetCell::none, |e| SheetCell::Text(range(e))),
        change.map_or_else(SheetCell::none, SheetCell::Effect),
        of.p_holm.map_or_else(SheetCell::none, p),
    ];
    let floor = |v: f64| SheetCell::Number(write::write_percent(v), v);
    cells.extend(floors.then(|| of.noise_floor.map_or_else(SheetCell::none, floor)));
    Row::new(short(of.metric), cells)
}

/// A metric's figure with its unit.
pub(super) fn written(metric: Metric, value: f64) -> String {
    match metric.kind() {
        MetricKind::Time => write::write_time(value),
        MetricKind::Seconds => write::write_time(value * 1e6),
        MetricKind::Frequency => write::per_s(value),
        MetricKind::BytesPerS => write::write_rate(value),
        MetricKind::Share => write::write_percent(value),
        MetricKind::Count => write::write_count(value.round() as u64),
    }
}

/// Wide enough for all intervals, but for those that are wider than the others and the margin.
fn scale(comparison: &Comparison) -> EffectScale {
    let margin = comparison.settings.margin;
    let ends = |of: &Compared| {
        let change = of.ratio.map(change_of);
        change.map_or(0.0, |e| e.low.abs().max(e.high.abs()))
    };
    let first = comparison.metrics.first().map_or(0.0, ends);
    let furthest = comparison.metrics.iter().map(ends).fold(margin * 1.5, f64::max);
    let reach = furthest.min(first.max(FURTHEST * margin));
    // Less than nothing there is not.
    EffectScale { reach: (1.08 * reach).min(1.0), margin }
}

fn legend(comparison: &Comparison) -> String {
    let settings = &comparison.settings;
    let out = match comparison.left_out {
        0 => String::new(),
        1 => " One pair was left out, one of its sides having been cut short.".to_owned(),
        n => format!(" {n} pairs were left out, one of their sides having been cut short."),
    };
    format!(
        "Estimates and {} intervals over {} pairs of blocks; sides count as equivalent within a \
         margin of ±{}.{out}",
        write::write_percent(settings.confidence),
        comparison.pairs,
        write::write_percent(settings.margin),
    )
}

/// Why some metrics have no verdict, but for what the headline says already.
fn reasons(comparison: &Comparison) -> impl Iterator<Item = Block> {
    let above = comparison.metrics.first().and_then(|first| first.reason.as_deref());
    let above = comparison.not_same().or(above);
    let others = super::super::reasons::reasons(comparison).into_iter();
    others.filter(move |(reason, _)| Some(*reason) != above).map(|(reason, metrics)| {
        let metrics: Vec<String> = metrics.into_iter().map(short).collect();
        Block::Text(format!("Inconclusive for {}: {reason}.", metrics.join(", ")))
    })
}

fn header_corrected(comparison: &Comparison) -> Option<Block> {
    let row = |of: &Compared| {
        let corrected = of.header_corrected?;
        let Estimate { value, low, high } = change_of(corrected.ratio);
        let expected = corrected.expected - 1.0;
        let cells = vec![
            SheetCell::Number(write::change(expected), expected),
            SheetCell::Number(write::change(value), value),
            SheetCell::Text(format!("{} to {}", write::change(low), write::change(high))),
            SheetCell::Verdict(corrected.verdict),
        ];
        Some(Row::new(short(of.metric), cells))
    };
    let rows: Vec<Row> = comparison.metrics.iter().filter_map(row).collect();
    let columns = vec![
        Column::words("Metric"),
        Column::number("Headers alone"),
        Column::number("Beyond that"),
        Column::number("Interval"),
        Column::words("Verdict"),
    ];
    let caption = "Against what the larger header of IPv6 makes of it on a full link";
    (!rows.is_empty()).then(|| Block::Table(Table::new(caption, columns, rows)))
}

/// A dot for each pair's effect, as a change.
fn effects(comparison: &Comparison, of: &Compared) -> Option<Chart> {
    if of.effects.is_empty() {
        return None;
    }
    let ys: Vec<f64> = of.effects.iter().map(|effect| rounded(effect.exp_m1())).collect();
    let xs: Vec<f64> = (1..=ys.len()).map(|at| at as f64).collect();
    let bands = bands(comparison, of);
    let reach = bands.iter().flat_map(|band| [band.from, band.to]).chain(ys.iter().copied());
    let reach = reach.map(f64::abs).fold(0.0, f64::max) * 1.1;
    let name = format!("{} to {}", shown(&comparison.a), shown(&comparison.b));
    let dots = ys.iter().copied().map(Some).collect();
    let series = Series::new("pair".into(), 0, Mark::Dots, dots);
    Some(Chart {
        title: format!("Block effects: {}", short(of.metric)),
        about: effects_about(of, &ys, &bands),
        table: effects_table(of, &name, &ys),
        x: Axis::linear("pair, in order", Unit::Count, 0.5, ys.len() as f64 + 0.5),
        y: Axis::linear(&name, Unit::Change, -reach.min(1.0), reach),
        labels: Vec::new(),
        xs,
        series: vec![series],
        bands,
    })
}

fn bands(comparison: &Comparison, of: &Compared) -> Vec<Band> {
    let margin = comparison.settings.margin;
    let both = |name: &str, role, share: f64| Band {
        name: name.into(),
        role,
        from: -share,
        to: share,
        at: None,
    };
    let interval = of.ratio.map(change_of).map(|e| Band {
        name: format!("{} interval", write::write_percent(comparison.settings.confidence)),
        role: Role::Interval,
        from: e.low,
        to: e.high,
        at: Some(e.value),
    });
    let floor = of.noise_floor.map(|floor| both("noise floor", Role::Floor, floor));
    [Some(both("margin", Role::Margin, margin)), floor, interval].into_iter().flatten().collect()
}

fn effects_about(of: &Compared, ys: &[f64], bands: &[Band]) -> String {
    let (low, high) =
        (ys.iter().copied().fold(f64::MAX, f64::min), ys.iter().copied().fold(f64::MIN, f64::max));
    let drawn = bands.iter().map(|band| {
        let at = band.at.map_or(String::new(), |at| format!(" around {}", write::change(at)));
        format!("{} {} to {}{at}.", band.name, write::change(band.from), write::change(band.to))
    });
    let drawn = drawn.collect::<Vec<_>>().join(" ");
    let again = of.autocorrelation.map_or(String::new(), |r| {
        format!(" Correlation of each with the one before: {r:.2}.").replace('-', "−")
    });
    let [low, high] = [low, high].map(write::change);
    format!("{} pairs from {low} to {high}; {drawn}{again}", ys.len())
}

fn effects_table(of: &Compared, name: &str, ys: &[f64]) -> Table {
    let row = |(at, &y): (usize, &f64)| {
        Row::new((at + 1).to_string(), vec![SheetCell::Number(write::change(y), y)])
    };
    let rows = ys.iter().enumerate().map(row).collect();
    let columns = vec![Column::words("Pair"), Column::number(name)];
    Table::new(format!("Effect of each pair: {}", short(of.metric)), columns, rows)
}
