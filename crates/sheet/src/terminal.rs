//! A sheet as text for a terminal.

use std::fmt::Write as _;

mod columns;

use columns::GridColumns;

use crate::table::{Column, ColumnKind, Group, Row, SheetCell, Table};
use crate::warnings as doubts;
use crate::{Block, Part, Sheet, SheetHeadline};

/// Columns of a terminal that nobody made wider.
pub const WIDTH: usize = 80;

/// What a terminal shows of a sheet, at most 80 columns wide but for URLs and tables; ends with a line
/// feed. The answer comes last, where it is still on the screen, and what makes it doubtful under it.
pub fn sheet_text(of: &Sheet) -> String {
    let mut text = String::new();
    paragraph(&mut text, &format!("{}: {}", of.kind, of.title));
    paragraph(&mut text, &of.about.join(", "));
    of.parts.iter().for_each(|one| write_part(&mut text, one));
    text.push('\n');
    write_headline(&mut text, &of.headline);
    if !of.warnings.is_empty() {
        text.push_str("\nWHAT MAKES THE FIGURES DOUBTFUL\n");
    }
    for doubt in doubts::condensed(&of.warnings) {
        let line = format!("- {} [{}]", doubt.message, doubt.code);
        let _ = writeln!(text, "{}", plain(&hanging(&line, WIDTH)));
    }
    text
}

fn write_headline(text: &mut String, of: &SheetHeadline) {
    write_sentence(text, of);
    of.notes.iter().for_each(|note| paragraph(text, note));
}

/// The verdict, if there is one, and the sentence; no notes.
pub fn write_sentence(text: &mut String, of: &SheetHeadline) {
    let verdict = of.verdict.map(|verdict| SheetCell::Verdict(verdict).text().to_uppercase());
    let verdict = verdict.map_or(String::new(), |word| format!("{word}: "));
    paragraph(text, &format!("{verdict}{}", of.sentence));
}

/// A part under its heading, with an empty line before it; nothing of what only a page shows.
pub fn write_part(text: &mut String, of: &Part) {
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

/// Writes a paragraph, wrapped at the width of a terminal, without the marks of Markdown.
pub fn paragraph(text: &mut String, words: &str) {
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

/// A table under its caption. Where it would be wider than the terminal, headings take several lines, then
/// cells of words do, and then it is parted: the columns before the first number stand in each part.
pub(super) fn write_table(text: &mut String, of: &Table) {
    write_gap(text);
    paragraph(text, &of.caption);
    let shown: Vec<usize> = (0..of.columns.len()).filter(|&at| is_shown(of, at)).collect();
    let is_key = |at: &usize| of.columns[*at].kind != ColumnKind::Number;
    let keys = shown.iter().take_while(|at| is_key(at)).count();
    let mut first = keys;
    while first == keys || first < shown.len() {
        let part = |end: usize| [&shown[..keys], &shown[first..end]].concat();
        let fits = |end: &usize| Grid::new(of, part(*end)).columns.width() <= WIDTH;
        let least = (first + 1).min(shown.len());
        let end = (least..=shown.len()).rev().find(fits).unwrap_or(least);
        if first > keys {
            text.push('\n');
        }
        Grid::new(of, part(end)).write(text);
        first = end.max(keys + 1);
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

/// Some columns of a table, as a terminal shows them.
struct Grid {
    head: Vec<String>,
    /// The name of each group, if it has one, and its rows.
    groups: Vec<(Option<String>, Vec<Vec<String>>)>,
    columns: GridColumns,
}

impl Grid {
    fn new(of: &Table, shown: Vec<usize>) -> Grid {
        let columns: Vec<&Column> = shown.iter().map(|&at| &of.columns[at]).collect();
        let head: Vec<String> = columns.iter().map(|column| plain(&column.name)).collect();
        let grouped = of.groups.iter().any(|group| group.name.is_some());
        let rows = |group: &Group| -> Vec<Vec<String>> {
            group.rows.iter().map(|row| row_words(row, &shown, grouped)).collect()
        };
        let groups: Vec<_> =
            of.groups.iter().map(|group| (group.name.as_deref().map(plain), rows(group))).collect();
        let all: Vec<&[String]> =
            groups.iter().flat_map(|(_, rows)| rows).map(Vec::as_slice).collect();
        let columns = GridColumns::fit(&columns, &head, &all, WIDTH);
        Grid { head, groups, columns }
    }

    fn write(&self, text: &mut String) {
        if !self.head.iter().all(String::is_empty) {
            self.columns.write_head(text, &self.head);
        }
        for (name, rows) in &self.groups {
            name.iter().for_each(|name| text.extend([name, "\n"]));
            rows.iter().for_each(|row| self.columns.write_row(text, row));
        }
    }
}

/// A row's words in the columns that are shown; under the name of a group its label is indented.
fn row_words(row: &Row, shown: &[usize], grouped: bool) -> Vec<String> {
    let all: Vec<&SheetCell> = std::iter::once(&row.label).chain(&row.cells).collect();
    let cells = shown.iter().map(|&at| all.get(at).map_or("", |cell| cell.text()));
    let mut words: Vec<String> = cells.map(plain).collect();
    if let Some(label) = words.first_mut().filter(|_| grouped) {
        label.insert_str(0, "  ");
    }
    words
}

/// In letters that every terminal has.
pub fn plain(text: &str) -> String {
    let visible = sixmark_units::visible::visible(text);
    visible.replace('\u{a0}', " ").replace('−', "-").replace('’', "'").replace('µ', "u")
}

/// In lines of at most so many columns, those after the first indented by two.
pub fn hanging(sentence: &str, width: usize) -> String {
    wrapped(sentence, width.saturating_sub(2)).replace('\n', "\n  ")
}

/// In lines of at most so many columns.
pub fn wrapped(sentence: &str, width: usize) -> String {
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
