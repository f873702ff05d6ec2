//! What the tables of a study's report are made of.

use super::interval;
use sixmark_design::levels::LevelLabels;
use sixmark_design::study_result::{At, PrintedFigure, TableValue};
use sixmark_sheet::table::{Column, Row, SheetCell};
use sixmark_sheet::write::figure;

/// Returns the first columns, which name levels of these factors.
pub(super) fn factor_columns(factors: &[String], labels: &LevelLabels) -> Vec<Column> {
    if factors.is_empty() {
        vec![Column::words("")]
    } else {
        factors.iter().map(|name| Column::words(labels.factor(name))).collect()
    }
}

/// Returns the labels of the levels of a row, one for each factor.
pub(super) fn level_names(
    factors: &[String],
    levels: &[String],
    labels: &LevelLabels,
) -> Vec<String> {
    let at = factors.iter().zip(levels);
    let at = at.map(|(factor, level)| At { factor: factor.clone(), level: level.clone() });
    at.map(|at| labels.under_factor(&at)).collect()
}

/// Creates a row whose first columns name levels.
pub(super) fn labelled(levels: &[String], cells: impl Iterator<Item = SheetCell>) -> Row {
    let label = levels.first().map_or("", String::as_str);
    let others = levels.iter().skip(1).map(|level| SheetCell::from(level.as_str()));
    Row::new(label, others.chain(cells).collect())
}

/// Returns the measured value with its interval, or the reason why nothing was measured; `None` if
/// nothing was sent.
pub(super) fn measured_text(value: &TableValue) -> Option<String> {
    match value.measured {
        Some(measured) => Some(figure(measured) + &interval::of_value(value)),
        None => value.missing.map(|why| why.words().to_owned()),
    }
}

/// Returns the cells of the published values of these numbers.
pub(super) fn published_cells<'a>(
    value: &'a TableValue,
    beside: &'a [usize],
    cell: impl Fn(&PrintedFigure) -> SheetCell + 'a,
) -> impl Iterator<Item = SheetCell> + 'a {
    let there = move |at: &usize| value.published.get(*at).and_then(Option::as_ref);
    beside.iter().map(move |at| there(at).map_or_else(SheetCell::none, &cell))
}

/// Returns a heading with the unit of the figures below it.
pub(super) fn with_unit(label: &str, unit: &str) -> String {
    if unit.is_empty() { label.to_owned() } else { format!("{label}, {unit}") }
}
