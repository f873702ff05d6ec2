//! Tables as HTML.

use maud::{Markup, html};
use sixmark_units::visible::visible;

use crate::table::{Column, ColumnKind, EffectScale, Row, SheetCell, Table};
use sixmark_document::verdict::Verdict;

use super::{effect, waterfall};

/// Returns a table in a box of its own, which scrolls if the table is wider than the page. `under` is
/// the heading above it: a caption that only repeats it is not shown, but still names the table.
pub(super) fn table_markup(table: &Table, under: &str) -> Markup {
    let caption = visible(&table.caption);
    let hidden = (table.caption == under).then_some("hidden");
    let class = width_class(table);
    html! {
        div.scroll tabindex="0" role="region" aria-label=(caption) {
            table class=[class] {
                caption class=[hidden] { (caption) }
                thead { tr { @for column in &table.columns { (column_head(column, table.scale.as_ref())) } } }
                @for group in &table.groups {
                    tbody {
                        @if let Some(name) = &group.name {
                            tr {
                                th class="group" scope="rowgroup" colspan=(table.columns.len()) {
                                    (visible(name))
                                }
                            }
                        }
                        @for row in &group.rows { (row_of(table, row)) }
                    }
                }
            }
        }
    }
}

/// The most characters of a name. What is longer in a first column is a sentence.
const NAME: usize = 24;

/// Returns the class of a table that is wider than text: one of many columns, or of several columns
/// of words, which then share the width instead of leaving it to the first one. Where the first one has
/// names alone, it needs no share.
fn width_class(table: &Table) -> Option<&'static str> {
    let words = table.columns.iter().all(|column| column.kind == ColumnKind::Words);
    let is_name = |row: &Row| row.label.text().chars().count() <= NAME;
    let named = table.groups.iter().flat_map(|group| &group.rows).all(is_name);
    match table.columns.len() {
        4.. if words && named => Some("sentences named"),
        4.. if words => Some("sentences"),
        6.. => Some("wide"),
        _ => None,
    }
}

/// Returns a verdict with a symbol, so that it does not depend on colour alone.
pub(super) fn verdict_markup(verdict: Verdict) -> Markup {
    let (class, sign) = match verdict {
        Verdict::Better => ("better", "▲"),
        Verdict::Worse => ("worse", "▼"),
        Verdict::Equivalent => ("equivalent", "="),
        Verdict::Inconclusive => ("inconclusive", "?"),
        Verdict::NotComparable => ("not_comparable", "≠"),
    };
    let word = SheetCell::Verdict(verdict);
    html! {
        span class={ "chip " (class) } { span aria-hidden="true" { (sign) } " " (word.text()) }
    }
}

fn column_head(column: &Column, scale: Option<&EffectScale>) -> Markup {
    let name = visible(&column.name);
    html! {
        @match (column.kind, scale) {
            (ColumnKind::Number, _) => th scope="col" class="n" { (name) },
            (ColumnKind::Drawn, Some(scale)) => th scope="col" class="drawn" { (name) (effect::axis(scale)) },
            _ => th scope="col" { (name) },
        }
    }
}

fn row_of(table: &Table, row: &Row) -> Markup {
    let kinds = table.columns.iter().skip(1).map(|column| column.kind);
    html! {
        tr {
            th scope="row" data-v=[number_in(&row.label)] { (visible(row.label.text())) }
            @for (cell, kind) in row.cells.iter().zip(kinds) {
                td class=(class(kind)) data-v=[number_in(cell)] {
                    @match (cell, &table.scale) {
                        (SheetCell::Verdict(of), _) => (verdict_markup(*of)),
                        (SheetCell::Effect { estimate, margin }, Some(scale)) => {
                            (effect::drawn(estimate, margin.unwrap_or(scale.margin), scale))
                        },
                        (SheetCell::Step { ends, of }, _) => (waterfall::draw_step(*ends, *of)),
                        (cell, _) => (visible(cell.text())),
                    }
                }
            }
        }
    }
}

fn class(kind: ColumnKind) -> &'static str {
    match kind {
        ColumnKind::Number => "n",
        ColumnKind::Words => "w",
        ColumnKind::Drawn => "drawn",
    }
}

/// Returns the number of a cell, unrounded as charts use it, or `None` if the cell is not a number.
fn number_in(cell: &SheetCell) -> Option<f64> {
    match cell {
        SheetCell::Number(_, value) => Some(*value),
        _ => None,
    }
}
