//! Rows and columns of words, as text or as Markdown.

use std::fmt::Write as _;

/// What a report is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// For a screen.
    Text,
    /// For a page.
    Markdown,
}

impl Style {
    /// A heading of a level from 1, with an empty line before it unless it is the first.
    pub(super) fn heading(self, level: usize, title: &str) -> String {
        let before = if level > 1 { "\n" } else { "" };
        match self {
            Style::Text if level == 1 => format!("{title}\n"),
            Style::Text => format!("{before}{title}\n"),
            Style::Markdown => format!("{before}{} {}\n\n", "#".repeat(level), escaped(title)),
        }
    }

    /// A line beside a table.
    pub(super) fn note(self, line: &str) -> String {
        match self {
            Style::Text => line.to_owned(),
            Style::Markdown => format!("\n{}\n", escaped(line)),
        }
    }
}

/// A table of words; the first columns are left, the others right.
pub(super) struct Grid {
    head: Vec<String>,
    rows: Vec<Vec<String>>,
    left: usize,
}

impl Grid {
    pub(super) fn new(head: Vec<String>, left: usize) -> Grid {
        Grid { head, rows: Vec::new(), left }
    }

    pub(super) fn row(&mut self, row: Vec<String>) {
        self.rows.push(row);
    }

    pub(super) fn render(&self, style: Style) -> String {
        match style {
            Style::Text => self.text(),
            Style::Markdown => self.markdown(),
        }
    }

    fn text(&self) -> String {
        let all = || [&self.head].into_iter().chain(&self.rows);
        let width = |column: usize| {
            let words = all().filter_map(|row| row.get(column));
            words.map(|word| word.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.head.len()).map(width).collect();
        // A last column without a head holds words, which stand left.
        let words = self.head.last().is_some_and(String::is_empty);
        let mut text = String::new();
        for row in all() {
            let mut line = String::new();
            for (column, (word, width)) in row.iter().zip(&widths).enumerate() {
                let left = column < self.left || words && column + 1 == row.len();
                let between = if column == 0 { "" } else { "  " };
                let _ = match left {
                    true => write!(line, "{between}{word:<width$}"),
                    false => write!(line, "{between}{word:>width$}"),
                };
            }
            let _ = writeln!(text, "{}", line.trim_end());
        }
        text
    }

    fn markdown(&self) -> String {
        let line = |words: Vec<String>| format!("| {} |\n", words.join(" | "));
        let of = |row: &Vec<String>| line(row.iter().map(|word| escaped(word.trim())).collect());
        let rule = (0..self.head.len()).map(|at| if at < self.left { "---" } else { "---:" });
        let mut text = of(&self.head);
        text.push_str(&line(rule.map(str::to_owned).collect()));
        text.extend(self.rows.iter().map(of));
        text
    }
}

/// A bar would end the cell.
fn escaped(text: &str) -> String {
    text.replace('|', "\\|")
}
