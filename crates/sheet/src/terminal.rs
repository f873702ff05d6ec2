//! A sheet as text for a terminal.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};

mod columns;

use columns::GridColumns;

use crate::table::{Column, ColumnKind, Group, Row, SheetCell, Table};
use crate::warnings as doubts;
use crate::{Block, Part, Sheet, SheetHeadline};

/// The width in characters of what is printed, unless the terminal is narrower.
pub const WIDTH: usize = 80;

/// The least width for which lines are made: words would not fit into fewer columns.
const LEAST_WIDTH: usize = 30;

/// The width for which lines are made. It is one for the process, as its terminal is.
static FITTED: AtomicUsize = AtomicUsize::new(WIDTH);

/// Makes lines from now on for a terminal of so many columns, if it is narrower than [`WIDTH`].
pub fn fit_width(columns: usize) {
    FITTED.store(columns.clamp(LEAST_WIDTH, WIDTH), Ordering::Relaxed);
}

/// Returns the width in characters for which lines are made.
pub fn width() -> usize {
    FITTED.load(Ordering::Relaxed)
}

/// The most columns of numbers beside a column of joined keys, which has long words.
const MOST_BESIDE_JOINED: usize = 2;

/// Returns a sheet as text for a terminal, which ends with a line feed. Lines have at most
/// [`width`] characters, except for URLs and single words. The summary comes last, where it remains visible on the
/// screen, followed by the warnings.
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
        let line = format!("- {}", doubt.message);
        let _ = writeln!(text, "{}", plain(&hanging(&line, width())));
    }
    text
}

fn write_headline(text: &mut String, of: &SheetHeadline) {
    write_failed(text, of);
    write_sentence(text, of);
    of.notes.iter().for_each(|note| paragraph(text, note));
}

/// The beginning of a line about what failed altogether. Such lines are red where there is colour.
pub const FAILED: &str = "FAILED: ";

/// The beginning of a line that continues such a line.
pub const INDENT: &str = "  ";

/// Writes a sentence for each thing that failed altogether.
pub fn write_failed(text: &mut String, of: &SheetHeadline) {
    for failed in &of.failed {
        let line = format!("{FAILED}{failed}.").replace('`', "");
        let _ = writeln!(text, "{}", plain(&hanging(&line, width())));
    }
}

/// Writes the verdict, if there is one, and the sentence of a headline, without its notes.
pub fn write_sentence(text: &mut String, of: &SheetHeadline) {
    let verdict = of.verdict.map(|verdict| SheetCell::Verdict(verdict).text().to_uppercase());
    let verdict = verdict.map_or(String::new(), |word| format!("{word}: "));
    paragraph(text, &format!("{verdict}{}", of.sentence));
}

/// Writes an empty line, the heading of a part and its blocks, except for those that only an HTML
/// page shows.
pub fn write_part(text: &mut String, of: &Part) {
    let mut inner = String::new();
    of.blocks.iter().for_each(|one| write_block(&mut inner, one, of.heading));
    if of.terminal && !inner.is_empty() {
        let _ = write!(text, "\n{}\n{inner}", plain(of.heading).to_uppercase());
    }
}

/// Writes blocks that have no heading.
pub fn write_blocks(text: &mut String, of: &[Block]) {
    of.iter().for_each(|one| write_block(text, one, ""));
}

/// Writes a block of the part with the heading `under`.
fn write_block(text: &mut String, of: &Block, under: &str) {
    match of {
        Block::Heading(words) => {
            write_gap(text);
            paragraph(text, words);
        }
        Block::Text(words) => paragraph(text, words),
        Block::Command(words) => {
            let _ = writeln!(text, "$ {}", plain(words));
        }
        Block::Table(of) => write_table(text, of, under),
        Block::Charts(_) | Block::Timelines(_) | Block::Folded(..) | Block::Aside(_) => {}
    }
}

/// Writes a paragraph, wrapped at the width of a terminal, without back quotes.
pub fn paragraph(text: &mut String, words: &str) {
    // No-break spaces are replaced only after wrapping.
    let lines = plain(&wrapped(&words.replace('`', ""), width()));
    if !lines.is_empty() {
        let _ = writeln!(text, "{lines}");
    }
}

/// Writes an empty line, unless the text is still empty.
fn write_gap(text: &mut String) {
    if !text.is_empty() {
        text.push('\n');
    }
}

/// Writes a table below its caption, which is omitted if it only repeats the heading `under`. If the
/// table is wider than the terminal, first the headings are wrapped, then the cells of words. If that
/// is not enough, it is divided into several, each of which repeats the columns before the first
/// column of numbers; those become one column if they leave no room for another.
fn write_table(text: &mut String, of: &Table, under: &str) {
    write_gap(text);
    if of.caption != under {
        paragraph(text, &of.caption);
    }
    write_rows(text, of, usize::MAX);
}

/// Writes the rows of a table, with at most `most` columns of numbers beside one another.
fn write_rows(text: &mut String, of: &Table, most: usize) {
    let shown: Vec<usize> = (0..of.columns.len()).filter(|&at| is_shown(of, at)).collect();
    let is_key = |at: &usize| of.columns[*at].kind != ColumnKind::Number;
    let keys = shown.iter().take_while(|at| is_key(at)).count();
    let is_too_wide = |number: &usize| {
        Grid::new(of, [&shown[..keys], &[*number]].concat()).columns.width() > width()
    };
    if keys > 1 && shown[keys..].iter().any(is_too_wide) {
        return write_rows(text, &with_joined_keys(of, &shown, keys), MOST_BESIDE_JOINED);
    }
    let mut first = keys;
    while first == keys || first < shown.len() {
        let part = |end: usize| [&shown[..keys], &shown[first..end]].concat();
        let fits = |end: &usize| Grid::new(of, part(*end)).columns.width() <= width();
        let least = (first + 1).min(shown.len());
        let furthest = first.saturating_add(most).min(shown.len()).max(least);
        let end = (least..=furthest).rev().find(fits).unwrap_or(least);
        if first > keys {
            text.push('\n');
        }
        Grid::new(of, part(end)).write(text);
        first = end.max(keys + 1);
    }
}

/// Returns a table with one column in place of the first `keys` of the columns that are shown, which
/// are too wide for a terminal: `server / delay`, `nginx / 5 ms`.
fn with_joined_keys(of: &Table, shown: &[usize], keys: usize) -> Table {
    let (keys, others) = shown.split_at(keys);
    let names: Vec<&str> = keys.iter().map(|&at| of.columns[at].name.as_str()).collect();
    let others_of = |row: &Row| -> Vec<SheetCell> {
        others.iter().filter_map(|at| row.cells.get(at - 1)).cloned().collect()
    };
    let row = |row: &Row| {
        let all: Vec<&SheetCell> = std::iter::once(&row.label).chain(&row.cells).collect();
        let words: Vec<&str> =
            keys.iter().filter_map(|&at| all.get(at)).map(|cell| cell.text()).collect();
        let joined = Row::new(words.join(" / "), others_of(row));
        if row.terminal { joined } else { joined.off_terminal() }
    };
    let group =
        |of: &Group| Group { name: of.name.clone(), rows: of.rows.iter().map(row).collect() };
    let columns = others.iter().map(|&at| of.columns[at].clone());
    Table {
        columns: std::iter::once(Column::words(names.join(" / "))).chain(columns).collect(),
        groups: of.groups.iter().map(group).collect(),
        ..Table::default()
    }
}

/// Returns whether a column is shown. Empty columns and drawings are not.
fn is_shown(of: &Table, at: usize) -> bool {
    let column = &of.columns[at];
    let is_said = |row: &Row| match at.checked_sub(1) {
        None => true,
        Some(at) => row.cells.get(at).is_some_and(|cell| !cell.text().is_empty()),
    };
    let mut rows = of.rows().filter(|row| row.terminal);
    column.terminal && column.kind != ColumnKind::Drawn && rows.any(is_said)
}

/// Some columns of a table, prepared for a terminal.
struct Grid {
    head: Vec<String>,
    /// Each group: its name, if it has one, and the texts of its rows.
    groups: Vec<(Option<String>, Vec<Vec<String>>)>,
    columns: GridColumns,
}

impl Grid {
    fn new(of: &Table, shown: Vec<usize>) -> Grid {
        let columns: Vec<&Column> = shown.iter().map(|&at| &of.columns[at]).collect();
        let head: Vec<String> = columns.iter().map(|column| plain(&column.name)).collect();
        let grouped = of.groups.iter().any(|group| group.name.is_some());
        let rows = |group: &Group| -> Vec<Vec<String>> {
            let rows = group.rows.iter().filter(|row| row.terminal);
            rows.map(|row| row_words(row, &shown, grouped)).collect()
        };
        let each = of.groups.iter().map(|group| (group.name.as_deref().map(plain), rows(group)));
        let groups: Vec<_> = each.filter(|(_, rows)| !rows.is_empty()).collect();
        let all: Vec<&[String]> =
            groups.iter().flat_map(|(_, rows)| rows).map(Vec::as_slice).collect();
        let columns = GridColumns::fit(&columns, &head, &all, width());
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

/// Returns the texts of a row in the columns that are shown. If the table has groups with names,
/// the label is indented.
fn row_words(row: &Row, shown: &[usize], grouped: bool) -> Vec<String> {
    let all: Vec<&SheetCell> = std::iter::once(&row.label).chain(&row.cells).collect();
    let cells = shown.iter().map(|&at| all.get(at).map_or("", |cell| cell.text()));
    let mut words: Vec<String> = cells.map(plain).collect();
    if let Some(label) = words.first_mut().filter(|_| grouped) {
        label.insert_str(0, "  ");
    }
    words
}

/// Replaces characters that some terminals cannot show by similar ones, and makes hidden characters
/// visible.
pub fn plain(text: &str) -> String {
    let visible = sixmark_units::visible::visible(text);
    visible.replace('\u{a0}', " ").replace('−', "-").replace('’', "'").replace('µ', "u")
}

/// Wraps a sentence into lines of at most `width` characters. All lines but the first are indented
/// by two.
pub fn hanging(sentence: &str, width: usize) -> String {
    wrapped(sentence, width.saturating_sub(2)).replace('\n', "\n  ")
}

/// Wraps a sentence into lines of at most `width` characters, unless a word is longer.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merges_key_columns_that_are_too_wide_for_the_terminal() {
        let names =
            ["server", "round_trip_of_the_link", "connections_at_once", "queue_of_the_server"];
        let keys = names.map(Column::words);
        let numbers = ["sent", "answered", "failed"].map(Column::number);
        let row = |server: &str| {
            let words = ["5_ms_and_20_ms_of_jitter", "1,000_connections", "4,096_places"];
            let words = words.into_iter().map(SheetCell::from);
            let numbers = [1.0, 2.0, 3.0].map(|n| SheetCell::Number(format!("{n}"), n));
            Row::new(server, words.chain(numbers).collect())
        };
        let columns = keys.into_iter().chain(numbers).collect();
        let rows = vec![row("nginx"), row("apache").off_terminal()];
        let mut text = String::new();
        write_table(&mut text, &Table::new("", columns, rows), "");
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        assert!(lines.iter().all(|line| line.chars().count() <= WIDTH), "{text}");
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.starts_with("server / round_trip_of_the_link / "), "{text}");
        assert!(
            words.contains("nginx / 5_ms_and_20_ms_of_jitter / 1,000_connections / "),
            "{text}"
        );
        assert_eq!((words.matches("nginx").count(), words.matches("apache").count()), (2, 0));
    }
}
