//! Tables as HTML.

use std::fmt::Write as _;

use crate::sheet::table::{Cell, Column, EffectScale, Kind, Row, Table};
use sixmark_model::comparison::Verdict;

use super::effect;
use super::escape::escape;

/// A table in a box of its own, which scrolls where the table is wider than the page.
pub(super) fn table(text: &mut String, table: &Table) {
    let caption = escape(&table.caption);
    let wide = if table.columns.len() > 5 { " class=\"wide\"" } else { "" };
    let _ = write!(
        text,
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{caption}\"><table{wide}>\
         <caption>{caption}</caption>\n<thead><tr>"
    );
    for column in &table.columns {
        head(text, column, table.scale.as_ref());
    }
    text.push_str("</tr></thead>\n");
    for group in &table.groups {
        text.push_str("<tbody>");
        if let Some(name) = &group.name {
            let (name, columns) = (escape(name), table.columns.len());
            let _ = writeln!(
                text,
                "<tr><th class=\"group\" scope=\"rowgroup\" colspan=\"{columns}\">{name}</th></tr>"
            );
        }
        group.rows.iter().for_each(|row| row_of(text, table, row));
        text.push_str("</tbody>\n");
    }
    text.push_str("</table></div>\n");
}

/// A verdict with its sign, so that it is not told by colour alone.
pub(super) fn verdict(verdict: Verdict) -> String {
    let (class, sign) = match verdict {
        Verdict::Better => ("better", "▲"),
        Verdict::Worse => ("worse", "▼"),
        Verdict::Equivalent => ("equivalent", "="),
        Verdict::Inconclusive => ("inconclusive", "?"),
        Verdict::NotComparable => ("not_comparable", "≠"),
    };
    let word = Cell::Verdict(verdict);
    let word = word.text();
    format!("<span class=\"chip {class}\"><span aria-hidden=\"true\">{sign}</span> {word}</span>")
}

fn head(text: &mut String, column: &Column, scale: Option<&EffectScale>) {
    let name = escape(&column.name);
    match (column.kind, scale) {
        (Kind::Number, _) => {
            let _ = write!(text, "<th scope=\"col\" class=\"n\">{name}</th>");
        }
        (Kind::Drawn, Some(scale)) => {
            let axis = effect::axis(scale);
            let _ = write!(text, "<th scope=\"col\" class=\"drawn\">{name}{axis}</th>");
        }
        _ => {
            let _ = write!(text, "<th scope=\"col\">{name}</th>");
        }
    }
}

fn row_of(text: &mut String, table: &Table, row: &Row) {
    let label = escape(row.label.text());
    let _ = write!(text, "<tr><th scope=\"row\"{}>{label}</th>", value(&row.label));
    let kinds = table.columns.iter().skip(1).map(|column| column.kind);
    for (cell, kind) in row.cells.iter().zip(kinds) {
        let class = match kind {
            Kind::Number => " class=\"n\"",
            Kind::Words => " class=\"w\"",
            Kind::Drawn => " class=\"drawn\"",
        };
        let inner = match (cell, &table.scale) {
            (Cell::Verdict(of), _) => verdict(*of),
            (Cell::Effect(estimate), Some(scale)) => effect::drawn(estimate, scale),
            (cell, _) => escape(cell.text()),
        };
        let _ = write!(text, "<td{class}{}>{inner}</td>", value(cell));
    }
    text.push_str("</tr>\n");
}

/// The number as charts have it.
fn value(cell: &Cell) -> String {
    match cell {
        Cell::Number(_, value) => format!(" data-v=\"{value}\""),
        _ => String::new(),
    }
}
