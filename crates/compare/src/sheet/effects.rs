//! The verdicts with each metric's estimate on one scale, and charts of each pair's effect.

use crate::comparison_result::ComparisonResult;
use crate::{Compared, Comparison, Settings};
use sixmark_document::verdict::{Estimate, Verdict};
use sixmark_tally::metric::{Metric, Quantity};

use super::intervals::{change, interval_cell, interval_heading, write_change};
use super::next_step::{names_of_metrics, undecided_sentences};
use super::repeated::Repeated;
use crate::deciding::margin_text;
use sixmark_report::sheet::families::{change_of, short};
use sixmark_report::sheet::metric_text::metric_value;
use sixmark_report::sheet::side::shown;
use sixmark_sheet::chart::{Axis, Band, Chart, Mark, Role, Series, Unit, rounded};
use sixmark_sheet::table::{Column, EffectScale, Row, SheetCell, Table};
use sixmark_sheet::write::ChangeForm;
use sixmark_sheet::{Block, Part, write};

/// The scale reaches no further than this many margins, unless the interval of the primary metric
/// does. Longer intervals are truncated, so that the others remain distinguishable.
const FURTHEST: f64 = 3.0;

/// Returns the table of verdicts, with notes, and charts of the effects from which they follow.
pub(super) fn effects_part(result: &ComparisonResult) -> Option<Part> {
    let comparison = &result.comparison;
    let repeated = Repeated::of(comparison);
    let table = verdicts(comparison, &|of| !repeated.has(of.metric));
    let mut blocks = vec![Block::Table(table)];
    blocks.extend(repeated.sentence().map(Block::Text));
    blocks.push(Block::Text(legend(comparison)));
    blocks.extend(undecided_sentences(result, &repeated).into_iter().map(Block::Text));
    blocks.extend(reasons(comparison, &repeated));
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

/// Returns the table of the metrics that are `shown`.
pub(super) fn verdicts(comparison: &Comparison, shown_of: &dyn Fn(&Compared) -> bool) -> Table {
    let [a, b] = [&comparison.a, &comparison.b].map(|name| shown(name));
    let mut columns = vec![
        Column::words("Metric"),
        Column::words("Verdict"),
        Column::number("Change"),
        Column::number(&a),
        Column::number(&b),
        Column::number(interval_heading(&comparison.settings)),
        Column::drawn("Interval and margin"),
        Column::number("p (Holm)").off_terminal(),
    ];
    let floors = comparison.metrics.iter().any(|of| of.noise_floor.is_some());
    columns.extend(floors.then(|| Column::number("Noise floor").off_terminal()));
    let rows = comparison.metrics.iter().filter(|of| shown_of(of));
    let rows = rows.map(|of| verdict_row(of, &comparison.settings, floors)).collect();
    let caption = format!("{a} vs {b} (+ = {a} higher), metric by metric");
    let mut table = Table::new(caption, columns, rows);
    table.scale = Some(scale(comparison));
    table
}

fn verdict_row(of: &Compared, settings: &Settings, floors: bool) -> Row {
    let figure = |value: Option<f64>| {
        value.map_or_else(SheetCell::none, |v| SheetCell::Number(metric_value(of.metric, v), v))
    };
    let decides = of.deciding_interval(settings);
    let changed = decides.map(|found| change(of.metric, found.estimate));
    let share = |v: f64| SheetCell::Number(write_change(of.metric, v), v);
    let margin = Some(settings.margin_of(of.metric));
    let p =
        |p: f64| SheetCell::Number(if p < 0.001 { "< 0.001".into() } else { format!("{p:.3}") }, p);
    let mut cells = vec![
        SheetCell::Verdict(of.verdict),
        changed.map_or_else(SheetCell::none, |e| share(e.value)),
        figure(of.a),
        figure(of.b),
        decides.map_or_else(SheetCell::none, |found| {
            SheetCell::Text(interval_cell(of.metric, found, settings))
        }),
        changed.map_or_else(SheetCell::none, |estimate| SheetCell::Effect { estimate, margin }),
        of.p_holm.map_or_else(SheetCell::none, p),
    ];
    let floor = |v: f64| SheetCell::Number(write::write_percent(v), v);
    cells.extend(floors.then(|| of.noise_floor.map_or_else(SheetCell::none, floor)));
    let row = Row::new(short(of.metric), cells);
    // A terminal has only a sentence about metrics without an estimate.
    let folded = changed.is_none() && of.cause.is_some();
    if folded { row.off_terminal() } else { row }
}

/// Returns a scale that includes the margin and all intervals, except those that are much longer
/// than the margin and than the interval of the primary metric.
fn scale(comparison: &Comparison) -> EffectScale {
    let margin = comparison.settings.margin;
    let ends = |of: &Compared| {
        let shown = of.ratio.and_then(|_| of.deciding_interval(&comparison.settings));
        shown.map(|found| change_of(found.estimate)).map_or([0.0; 2], |e| [e.low, e.high])
    };
    let furthest = |ends: [f64; 2]| ends.map(EffectScale::distance).into_iter().fold(0.0, f64::max);
    let first = comparison.metrics.first().map_or(0.0, |of| furthest(ends(of)));
    let most = (1.08 * first).exp_m1().max(FURTHEST * margin);
    let all = comparison.metrics.iter().flat_map(ends).chain([margin * 1.5]);
    EffectScale::around(all, most, margin)
}

fn legend(comparison: &Comparison) -> String {
    let settings = &comparison.settings;
    let out = match comparison.left_out {
        0 => String::new(),
        1 => " One pair is omitted, because one of its sides was cut short.".to_owned(),
        n => format!(" {n} pairs are omitted, because one of their sides was cut short."),
    };
    let [usual, narrower] =
        [settings.confidence, settings.confidence_of_equivalence()].map(write::write_percent);
    let failures = Metric::Quantity(Quantity::Failures);
    let of_failures = if comparison.metrics.iter().any(|of| of.metric == failures) {
        format!(", of failures ±{}", margin_text(failures, settings))
    } else {
        String::new()
    };
    format!(
        "Estimates and {usual} intervals over {} pairs of blocks; sides count as equivalent if the \
         {narrower} interval lies within a margin of ±{}{of_failures}.{out}",
        comparison.pairs,
        write::write_percent(settings.margin),
    )
}

/// Returns the reasons why metrics can't be compared and, in documents without causes, why they have
/// no verdict; without the reason that the headline gives.
fn reasons(comparison: &Comparison, repeated: &Repeated) -> Vec<Block> {
    let above = comparison.metrics.first().and_then(|first| first.reason.as_deref());
    let above = comparison.not_same().or(above);
    let others = super::super::reasons::reasons(comparison).into_iter();
    let others = others.filter(|(reason, _)| Some(*reason) != above);
    let said = others.filter_map(|(reason, metrics)| {
        let is_refused =
            |of: &Compared| of.verdict == Verdict::NotComparable && metrics.contains(&of.metric);
        let refused = comparison.metrics.iter().any(is_refused);
        let begin = if refused { "Not compared:" } else { "Inconclusive for" };
        let shown = metrics.into_iter().filter(|metric| !repeated.has(*metric));
        let metrics = names_of_metrics(shown);
        let said = || Block::Text(format!("{begin} {metrics}: {reason}."));
        (!metrics.is_empty()).then(said)
    });
    said.collect()
}

fn header_corrected(comparison: &Comparison) -> Option<Block> {
    let settings = &comparison.settings;
    let row = |of: &Compared| {
        let corrected = of.header_corrected?;
        let decides = corrected.deciding_interval(settings);
        let Estimate { value, .. } = change_of(corrected.ratio);
        let expected = corrected.expected - 1.0;
        let cells = vec![
            SheetCell::Number(write::change(expected), expected),
            SheetCell::Number(write::change(value), value),
            SheetCell::Text(interval_cell(of.metric, decides, settings)),
            SheetCell::Verdict(corrected.verdict),
        ];
        Some(Row::new(short(of.metric), cells))
    };
    let rows: Vec<Row> = comparison.metrics.iter().filter_map(row).collect();
    let columns = vec![
        Column::words("Metric"),
        Column::number("Headers alone"),
        Column::number("Beyond that"),
        Column::number(interval_heading(settings)),
        Column::words("Verdict"),
    ];
    let caption = "Against what the larger header of IPv6 makes of it on a full link";
    (!rows.is_empty()).then(|| Block::Table(Table::new(caption, columns, rows)))
}

/// Returns a chart with a dot for the effect of each pair, as a relative change, or `None` if there
/// are no effects.
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
    let decides = of.ratio.and_then(|_| of.deciding_interval(&comparison.settings));
    let interval = decides.map(|found| (found.confidence, change_of(found.estimate)));
    let interval = interval.map(|(confidence, e)| Band {
        name: format!("{} interval", write::write_percent(confidence)),
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
        let form = ChangeForm::of(band.at.unwrap_or(0.0));
        let at = band.at.map_or(String::new(), |at| format!(" around {}", form.write(at)));
        format!("{} {} to {}{at}.", band.name, form.write(band.from), form.write(band.to))
    });
    let drawn = drawn.collect::<Vec<_>>().join(" ");
    let again = of.autocorrelation.map_or(String::new(), |r| {
        format!(" Correlation of each with the one before: {r:.2}.").replace('-', "−")
    });
    let form = ChangeForm::of(f64::midpoint(low, high));
    let [low, high] = [low, high].map(|end| form.write(end));
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
