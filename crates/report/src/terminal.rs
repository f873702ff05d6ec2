//! A sheet as text for a terminal.

use std::fmt::Write as _;

use super::sheet::table::{Column, ColumnKind, Group, Row, SheetCell, Table};
use super::sheet::{Block, Part, Sheet, SheetHeadline};

/// Columns of a terminal that nobody made wider.
const WIDTH: usize = 80;

/// What a terminal shows of a sheet, at most 80 columns wide but for URLs and tables; ends with a line
/// feed. The answer comes last, where it is still on the screen, and what makes it doubtful under it.
pub(super) fn sheet_text(of: &Sheet) -> String {
    let mut text = format!("{}: {}\n", of.kind, plain(&of.title));
    paragraph(&mut text, &of.about.join(", "));
    of.parts.iter().for_each(|one| write_part(&mut text, one));
    text.push('\n');
    write_headline(&mut text, &of.headline);
    if !of.warnings.is_empty() {
        text.push_str("\nWHAT MAKES THE FIGURES DOUBTFUL\n");
    }
    for doubt in &of.warnings {
        let _ = writeln!(text, "- {} [{}]", plain(&doubt.message), doubt.code);
    }
    text
}

fn write_headline(text: &mut String, of: &SheetHeadline) {
    write_sentence(text, of);
    of.notes.iter().for_each(|note| paragraph(text, note));
}

/// The verdict, if there is one, and the sentence; no notes.
pub(super) fn write_sentence(text: &mut String, of: &SheetHeadline) {
    let verdict = of.verdict.map(|verdict| SheetCell::Verdict(verdict).text().to_uppercase());
    let verdict = verdict.map_or(String::new(), |word| format!("{word}: "));
    paragraph(text, &format!("{verdict}{}", of.sentence));
}

/// A part under its heading, with an empty line before it; nothing of what only a page shows.
pub(super) fn write_part(text: &mut String, of: &Part) {
    let mut inner = String::new();
    of.blocks.iter().for_each(|one| write_block(&mut inner, one));
    if of.terminal && !inner.is_empty() {
        let _ = write!(text, "\n{}\n{inner}", plain(of.heading).to_uppercase());
    }
}

fn write_block(text: &mut String, of: &Block) {
    match of {
        Block::Heading(words) => {
            write_gap(text);
            paragraph(text, words);
        }
        Block::Text(words) => paragraph(text, words),
        Block::Table(of) => write_table(text, of),
        Block::Charts(_) | Block::Folded(..) | Block::Aside(_) => {}
    }
}

pub(super) fn paragraph(text: &mut String, words: &str) {
    // What must not be parted is still together here.
    let lines = plain(&wrapped(&words.replace('`', ""), WIDTH));
    if !lines.is_empty() {
        let _ = writeln!(text, "{lines}");
    }
}

/// An empty line, unless it would be the first.
fn write_gap(text: &mut String) {
    if !text.is_empty() {
        text.push('\n');
    }
}

/// A table under its caption, as wide as its words. The first column is left, as words are.
pub(super) fn write_table(text: &mut String, of: &Table) {
    write_gap(text);
    paragraph(text, &of.caption);
    let shown: Vec<usize> = (0..of.columns.len()).filter(|&at| is_shown(of, at)).collect();
    let columns: Vec<&Column> = shown.iter().map(|&at| &of.columns[at]).collect();
    let head: Vec<String> = columns.iter().map(|column| plain(&column.name)).collect();
    let grid = Grid { shown, grouped: of.groups.iter().any(|group| group.name.is_some()) };
    let groups: Vec<_> = of.groups.iter().map(|group| (group, grid.rows(group))).collect();
    let all = || std::iter::once(&head).chain(groups.iter().flat_map(|(_, rows)| rows));
    let width = |at: usize| {
        all().filter_map(|row| row.get(at)).map(|word: &String| word.chars().count()).max()
    };
    let widths: Vec<usize> = (0..columns.len()).map(|at| width(at).unwrap_or(0)).collect();
    let line = |text: &mut String, row: &[String]| {
        let of = row.iter().zip(&columns).zip(&widths);
        let cells = of.map(|((word, column), &width)| match column.kind {
            ColumnKind::Number => format!("{word:>width$}"),
            _ => format!("{word:<width$}"),
        });
        let _ = writeln!(text, "{}", cells.collect::<Vec<_>>().join("  ").trim_end());
    };
    if !head.iter().all(String::is_empty) {
        line(text, &head);
    }
    for (group, rows) in &groups {
        if let Some(name) = &group.name {
            let _ = writeln!(text, "{}", plain(name));
        }
        rows.iter().for_each(|row| line(text, row));
    }
}

/// Columns in which nothing stands would only take room.
fn is_shown(of: &Table, at: usize) -> bool {
    let column = &of.columns[at];
    let is_said = |row: &Row| match at.checked_sub(1) {
        None => true,
        Some(at) => row.cells.get(at).is_some_and(|cell| !cell.text().is_empty()),
    };
    column.terminal && column.kind != ColumnKind::Drawn && of.rows().any(is_said)
}

/// Which columns are shown, and whether rows stand under names of groups.
struct Grid {
    shown: Vec<usize>,
    grouped: bool,
}

impl Grid {
    fn rows(&self, group: &Group) -> Vec<Vec<String>> {
        group.rows.iter().map(|row| self.row(row)).collect()
    }

    fn row(&self, row: &Row) -> Vec<String> {
        let all: Vec<&SheetCell> = std::iter::once(&row.label).chain(&row.cells).collect();
        let cells = self.shown.iter().map(|&at| all.get(at).map_or("", |cell| cell.text()));
        let mut words: Vec<String> = cells.map(plain).collect();
        if let Some(label) = words.first_mut().filter(|_| self.grouped) {
            label.insert_str(0, "  ");
        }
        words
    }
}

/// In letters that every terminal has.
pub(super) fn plain(text: &str) -> String {
    let visible = sixmark_units::visible::visible(text);
    visible.replace('\u{a0}', " ").replace('−', "-").replace('’', "'").replace('µ', "u")
}

/// In lines of at most so many columns.
pub(super) fn wrapped(sentence: &str, width: usize) -> String {
    let mut lines = vec![String::new()];
    for word in sentence.split(' ') {
        let last = lines.last().map_or(0, |line| line.chars().count());
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if last + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.join("\n")
}
