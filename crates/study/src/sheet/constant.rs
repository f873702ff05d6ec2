//! Columns of a study's tables that have the same figure in every row, which are a sentence instead.

use super::rows::measured_text;
use sixmark_design::levels::LevelLabels;
use sixmark_design::study_result::{Table, TableValue};

/// Returns the numbers of the columns that have the same figure in every row, nothing published
/// beside it and no improvement; none of a table of one row. `beside` has the numbers of the
/// published figures that follow each column.
pub(super) fn constant_columns(of: &Table, beside: &[Vec<usize>]) -> Vec<usize> {
    let is_constant = |at: usize| {
        let mut values = of.rows.iter().filter_map(|row| row.values.get(at));
        let Some(first) = values.next() else { return false };
        let is_known = first.measured.is_some() || first.missing.is_some();
        is_known && values.all(|value| is_same(first, value)) && !is_improved(of, at)
    };
    let columns = 0..of.columns.len();
    let alone = |at: &usize| beside.get(*at).is_none_or(Vec::is_empty);
    columns.filter(|at| of.rows.len() > 1 && alone(at) && is_constant(*at)).collect()
}

fn is_same(a: &TableValue, b: &TableValue) -> bool {
    let shown = |of: &TableValue| (of.measured, of.low, of.high, of.missing);
    shown(a) == shown(b)
}

fn is_improved(of: &Table, column: usize) -> bool {
    let rows = of.improvement.iter().flat_map(|improvement| &improvement.rows);
    rows.filter_map(|row| row.values.get(column)).any(|value| value.measured.is_some())
}

/// Returns the figures of these columns in words: `failed 0, write errors 0`.
pub(super) fn describe_columns(of: &Table, columns: &[usize]) -> String {
    let one = |at: &usize| {
        let (column, value) = (of.columns.get(*at)?, of.rows.first()?.values.get(*at)?);
        let unit = if column.unit.is_empty() { "" } else { " " };
        let figure = measured_text(value)?;
        Some(format!("{} {figure}{unit}{}", column.label, column.unit))
    };
    columns.iter().filter_map(one).collect::<Vec<_>>().join(", ")
}

/// Describes all rows of a table: `all 15 combinations of filter and remedy`.
pub(super) fn describe_rows(of: &Table, labels: &LevelLabels) -> String {
    let factors: Vec<&str> = of.factors.iter().map(|factor| labels.factor(factor)).collect();
    let all = match of.rows.len() {
        2 => "both".to_owned(),
        n => format!("all {n}"),
    };
    match factors.as_slice() {
        [] => format!("{all} rows"),
        [only] => format!("{all} levels of {only}"),
        [first @ .., last] => format!("{all} combinations of {} and {last}", first.join(", ")),
    }
}
