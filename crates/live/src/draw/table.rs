//! The rows of a page: a name, and a figure for each column.

use ratatui::Frame;
use ratatui::layout::{Constraint, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Text};
use ratatui::widgets::{Row, Table};
use sixmark_sheet::board::{BoardPage, BoardRow};

use super::{alarm, bold, column_style};
use crate::ViewColour;

/// The width of a column of figures, in characters.
const FIGURE: u16 = 16;

/// Draws the rows under the names of the columns.
pub(super) fn draw_rows(frame: &mut Frame<'_>, area: Rect, page: &BoardPage, colour: ViewColour) {
    if page.rows.is_empty() {
        return;
    }
    let names = page.columns.iter().enumerate().map(|(number, column)| {
        let style = column_style(number, colour).patch(bold());
        Text::from(Line::styled(column.name.as_str(), style).right_aligned())
    });
    let head = Row::new(std::iter::once(Text::default()).chain(names));
    let rows = page.rows.iter().map(|row| row_of(row, colour));
    let figures = std::iter::repeat_n(Constraint::Length(FIGURE), page.columns.len());
    let widths = std::iter::once(Constraint::Fill(1)).chain(figures);
    frame.render_widget(Table::new(rows, widths).header(head), area);
}

fn row_of(row: &BoardRow, colour: ViewColour) -> Row<'_> {
    let style = if row.bad { alarm(colour) } else { Style::new() };
    let figures =
        row.figures.iter().map(|figure| Text::from(Line::from(figure.as_str()).right_aligned()));
    Row::new(std::iter::once(Text::from(row.label.as_str())).chain(figures)).style(style)
}
