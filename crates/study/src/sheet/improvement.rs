//! Rows that say by how much one level is better than another.

use super::rows::{labelled, level_names, published_cells};
use sixmark_design::levels::LevelLabels;
use sixmark_design::study_result::{At, PrintedFigure, Row as Better, Table, TableValue};
use sixmark_sheet::table::{Row, SheetCell};
use sixmark_sheet::write;

/// The label of such a row, in place of a level.
const NAME: &str = "%\u{a0}improvement";

/// Creates the row of an improvement, in the columns of these numbers. `beside` has the numbers of the
/// published figures that follow each column of the table.
pub(super) fn improvement_row(
    of: &Table,
    better: &Better,
    (shown, beside): (&[usize], &[Vec<usize>]),
    labels: &LevelLabels,
) -> Row {
    let factor = of.improvement.as_ref().map_or("", |improvement| &improvement.factor);
    let levels = level_names(&of.factors, &better.levels, labels);
    let name = |(level, name): (String, &String)| {
        if name == factor { NAME.to_owned() } else { level }
    };
    let names: Vec<String> = levels.into_iter().zip(&of.factors).map(name).collect();
    let cell = |at: &usize| Some(with_published(better.values.get(*at)?, beside.get(*at)?));
    labelled(&names, shown.iter().filter_map(cell).flatten())
}

/// Returns the text below the table that explains these rows; `None` if it has no such rows.
pub(super) fn note(of: &Table, labels: &LevelLabels) -> Option<String> {
    let levels = of.improvement.as_ref().filter(|of| !of.rows.is_empty())?;
    let [of, over] = [&levels.of, &levels.over].map(|level| {
        labels.under_factor(&At { factor: levels.factor.clone(), level: level.clone() })
    });
    Some(format!(
        "{NAME}: {of} over {over}, of the means, with its interval of 95 %. Of what is better when \
         lower, how much lower."
    ))
}

/// Returns the text that says why some speeds have no percentage; `None` if there is no reason.
pub(super) fn unlike(of: &Table) -> Option<String> {
    let said = of.improvement.as_ref()?.unlike.as_ref()?;
    Some(format!("Some speeds are not comparable: {said}."))
}

fn with_published(value: &TableValue, beside: &[usize]) -> Vec<SheetCell> {
    let interval = match (value.low, value.high) {
        (Some(low), Some(high)) => format!(" ({} to {})", write_percent(low), write_percent(high)),
        _ => String::new(),
    };
    let measured = |v: f64| SheetCell::Number(write_percent(v) + &interval, v);
    let first = value.measured.map_or_else(SheetCell::none, measured);
    std::iter::once(first).chain(published_cells(value, beside, printed_percent)).collect()
}

/// Returns the cell of a published percentage, with the digits and the sign that its source prints.
fn printed_percent(figure: &PrintedFigure) -> SheetCell {
    let percent = PrintedFigure { printed: format!("{} %", figure.printed), ..figure.clone() };
    match figure.value {
        Some(value) => SheetCell::Number(write::together(percent.shown()), value),
        None => percent.shown().into(),
    }
}

fn write_percent(value: f64) -> String {
    write::change(value / 100.0)
}
