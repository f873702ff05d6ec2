//! The widths of the columns of a table on a terminal.

use super::wrapped;
use crate::table::{Column, ColumnKind};

/// The number of spaces between two columns.
const GAP: usize = 2;
/// The narrowest width to which a column of words is reduced by wrapping.
const NARROWEST: usize = 12;

/// The width and the alignment of each column, in characters.
pub(super) struct GridColumns {
    widths: Vec<usize>,
    right: Vec<bool>,
}

impl GridColumns {
    /// Computes the widths for a table of at most `room` characters. Each column is as wide as its
    /// longest cell if that fits. Otherwise headings are wrapped first, then the cells of the
    /// widest columns of words. Numbers and single words are never broken, so that a table may
    /// remain wider than `room`.
    pub(super) fn fit(
        columns: &[&Column],
        head: &[String],
        rows: &[&[String]],
        room: usize,
    ) -> GridColumns {
        let right: Vec<bool> =
            columns.iter().map(|column| column.kind == ColumnKind::Number).collect();
        let cells = |at: usize| rows.iter().filter_map(move |row| row.get(at)).map(String::as_str);
        let whole = |at: usize| cells(at).map(length).max().unwrap_or(0);
        let word = |text: &str| text.split(' ').map(length).max().unwrap_or(0);
        let longest = |at: usize| cells(at).map(word).max().unwrap_or(0);
        let mut widths: Vec<usize> =
            (0..columns.len()).map(|at| whole(at).max(length(&head[at]))).collect();
        let by_head: Vec<usize> =
            (0..columns.len()).map(|at| whole(at).max(word(&head[at]))).collect();
        shrink(&mut widths, &by_head, room);
        let by_cells: Vec<usize> = (0..columns.len())
            .map(|at| {
                if right[at] {
                    widths[at]
                } else {
                    longest(at).max(word(&head[at])).max(NARROWEST).min(widths[at])
                }
            })
            .collect();
        shrink(&mut widths, &by_cells, room);
        GridColumns { widths, right }
    }

    /// Returns the width of a row in characters.
    pub(super) fn width(&self) -> usize {
        self.widths.iter().sum::<usize>() + GAP * self.widths.len().saturating_sub(1)
    }

    /// Writes the headings, aligned at their last lines.
    pub(super) fn write_head(&self, text: &mut String, head: &[String]) {
        let mut cells = self.cells(head);
        let height = cells.iter().map(Vec::len).max().unwrap_or(0);
        for cell in &mut cells {
            let missing = height - cell.len();
            cell.splice(0..0, std::iter::repeat_n(String::new(), missing));
        }
        self.write_lines(text, &cells);
    }

    /// Writes a row, whose cells are aligned at their first lines.
    pub(super) fn write_row(&self, text: &mut String, row: &[String]) {
        self.write_lines(text, &self.cells(row));
    }

    fn cells(&self, row: &[String]) -> Vec<Vec<String>> {
        let cell = |(word, &width): (&String, &usize)| {
            // A label within a group keeps its indentation.
            let inner = word.trim_start();
            let indent = &word[..word.len() - inner.len()];
            let lines = wrapped(inner, width.saturating_sub(indent.len()));
            lines.lines().map(|line| format!("{indent}{line}")).collect()
        };
        row.iter().zip(&self.widths).map(cell).collect()
    }

    fn write_lines(&self, text: &mut String, cells: &[Vec<String>]) {
        let height = cells.iter().map(Vec::len).max().unwrap_or(0).max(1);
        for at in 0..height {
            let words = cells.iter().map(|cell| cell.get(at).map_or("", String::as_str));
            let padded = words.zip(&self.widths).zip(&self.right);
            let padded = padded.map(|((word, &width), right)| {
                if *right { format!("{word:>width$}") } else { format!("{word:<width$}") }
            });
            let line = padded.collect::<Vec<_>>().join(&" ".repeat(GAP));
            text.push_str(line.trim_end());
            text.push('\n');
        }
    }
}

/// Reduces the widest columns that exceed their minimum `least`, one character at a time, until the
/// table fits into `room` or no column can be reduced.
fn shrink(widths: &mut [usize], least: &[usize], room: usize) {
    let gaps = GAP * widths.len().saturating_sub(1);
    while widths.iter().sum::<usize>() + gaps > room {
        let wider = (0..widths.len()).filter(|&at| widths[at] > least[at]);
        let Some(widest) = wider.max_by_key(|&at| widths[at]) else { return };
        widths[widest] -= 1;
    }
}

fn length(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::{Column, GridColumns};

    fn table(room: usize) -> String {
        let columns =
            [Column::words("Finding"), Column::number("requests sent"), Column::words("Remark")];
        let columns: Vec<&Column> = columns.iter().collect();
        let head = ["Finding", "requests sent", "Remark"].map(str::to_owned);
        let row = ["IPv6 at 1:1", "10,000", "as the authors published it"].map(str::to_owned);
        let grid = GridColumns::fit(&columns, &head, &[&row], room);
        let mut text = String::new();
        grid.write_head(&mut text, &head);
        grid.write_row(&mut text, &row);
        text
    }

    #[test]
    fn narrows_a_table_by_wrapping_headings_first_and_then_words() {
        let wide = "Finding      requests sent  Remark\n\
                    IPv6 at 1:1         10,000  as the authors published it\n";
        assert_eq!(table(80), wide);
        let two = "             requests\n\
                   Finding          sent  Remark\n\
                   IPv6 at 1:1    10,000  as the authors published it\n";
        assert_eq!(table(50), two);
        let words = "             requests\n\
                     Finding          sent  Remark\n\
                     IPv6 at 1:1    10,000  as the authors\n\
                     \u{20}                      published it\n";
        assert_eq!(table(38), words);
    }
}
