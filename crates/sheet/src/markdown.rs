//! Markdown for pull requests: the summary and the main tables first, everything else collapsed.

use std::fmt::Write as _;

use crate::table::{Column, ColumnKind, SheetCell, Table};
use crate::warnings as doubts;
use crate::{Block, Part, Sheet};
use sixmark_document::provenance::Warning;
use sixmark_units::quantity::write_count;

/// Returns the Markdown of several documents, with a section for each.
pub fn markdown_page(sheets: &[Sheet]) -> String {
    let sections: Vec<String> = sheets.iter().map(section).collect();
    sections.join("\n---\n\n")
}

/// Returns the section of one document.
pub fn section(sheet: &Sheet) -> String {
    let mut text = format!("### {}: {}\n\n", sheet.kind, escape(&sheet.title));
    for failed in &sheet.headline.failed {
        let _ = writeln!(text, "**FAILED** – {}.\n", coded(failed));
    }
    let verdict =
        sheet.headline.verdict.map(|verdict| SheetCell::Verdict(verdict).text().to_owned());
    let verdict = verdict.map_or(String::new(), |word| format!("**{}** – ", word.to_uppercase()));
    let _ = writeln!(text, "{verdict}{}\n", escape(&sheet.headline.sentence));
    for note in &sheet.headline.notes {
        let _ = writeln!(text, "{}\n", coded(note));
    }
    warnings(&mut text, &sheet.warnings);
    sheet.parts.iter().for_each(|one| write_part(&mut text, one));
    let when = Some(&sheet.when).filter(|when| !when.is_empty());
    let about = when.into_iter().chain(&sheet.about).map(|phrase| escape(phrase));
    let about: Vec<String> = about.collect();
    let _ = writeln!(text, "{}", about.join(" · "));
    text
}

/// Returns a paragraph, in which words between back quotes are code.
pub fn paragraph(words: &str) -> String {
    format!("{}\n", coded(words))
}

fn warnings(text: &mut String, all: &[Warning]) {
    let all = doubts::condensed(all);
    for Warning { code, message } in &all {
        let _ = writeln!(text, "> ⚠ {} (`{}`)", escape(message), code.replace('`', ""));
    }
    if !all.is_empty() {
        text.push('\n');
    }
}

/// Writes a part. Charts are omitted; the main points of their curves are among the figures.
fn write_part(text: &mut String, of: &Part) {
    let mut inner = String::new();
    // A part that is not folded has no heading.
    let under = if of.folded { of.heading } else { "" };
    of.blocks.iter().for_each(|one| write_block(&mut inner, one, under, usize::MAX));
    if inner.is_empty() {
        return;
    }
    if !of.folded {
        text.push_str(&inner);
        return;
    }
    let heading = escape(of.heading);
    let _ = write!(text, "<details><summary>{heading}</summary>\n\n{inner}</details>\n\n");
}

/// The most rows of a table that pages fold. All the cells of a study would be too long for the comment of a
/// pull request.
const MOST_FOLDED: usize = 200;

/// Writes a block below the heading `under`, or below none if it is empty, with at most `most` rows of a
/// table.
fn write_block(text: &mut String, of: &Block, under: &str, most: usize) {
    match of {
        Block::Table(of) => write_table(text, of, under, most),
        Block::Folded(_, blocks) => {
            blocks.iter().for_each(|one| write_block(text, one, under, MOST_FOLDED));
        }
        Block::Heading(words) => {
            let _ = writeln!(text, "**{}**\n", escape(words));
        }
        Block::Text(words) => {
            let _ = writeln!(text, "{}\n", coded(words));
        }
        // Nothing is markup in code, which ends at the end of its line.
        Block::Command(words) => {
            let _ = writeln!(text, "    {}\n", words.replace(char::is_control, " "));
        }
        Block::Charts(_) | Block::Timelines(_) | Block::Aside(_) => {}
    }
}

/// Escapes text in which words between back quotes are code.
fn coded(words: &str) -> String {
    let parts: Vec<&str> = words.split('`').collect();
    // A back quote without another one begins no code, and several in a row would begin other code.
    let within = parts.get(1..parts.len() - 1).unwrap_or_default();
    if parts.len().is_multiple_of(2) || within.contains(&"") {
        return escape(words);
    }
    let part = |(at, part): (usize, &&str)| match at % 2 {
        0 => escape(part),
        // Nothing is markup in code, and a backslash is itself.
        _ => part.replace(char::is_control, " "),
    };
    parts.iter().enumerate().map(part).collect::<Vec<_>>().join("`")
}

fn write_table(text: &mut String, of: &Table, under: &str, most: usize) {
    if !of.caption.is_empty() && of.caption != under {
        let _ = writeln!(text, "**{}**\n", escape(&of.caption));
    }
    let shown = |kind: ColumnKind| kind != ColumnKind::Drawn;
    let columns: Vec<&Column> = of.columns.iter().filter(|column| shown(column.kind)).collect();
    let names: Vec<String> = columns.iter().map(|column| escape(&column.name)).collect();
    let rules =
        columns.iter().map(|column| if column.kind == ColumnKind::Number { "--:" } else { "---" });
    let rules: Vec<&str> = rules.collect();
    let _ = write!(text, "| {} |\n| {} |\n", names.join(" | "), rules.join(" | "));
    let (mut left, all) = (most, of.rows().count());
    for group in &of.groups {
        if left == 0 {
            break;
        }
        if let Some(name) = &group.name {
            let _ = writeln!(text, "| **{}** {}|", escape(name), "| ".repeat(columns.len() - 1));
        }
        for row in group.rows.iter().take(left) {
            let kinds = of.columns.iter().skip(1).map(|column| column.kind);
            let cells = row.cells.iter().zip(kinds).filter(|(_, kind)| shown(*kind));
            let cells = cells.map(|(cell, _)| escape(cell.text()));
            let all: Vec<String> = std::iter::once(escape(row.label.text())).chain(cells).collect();
            let _ = writeln!(text, "| {} |", all.join(" | "));
        }
        left -= left.min(group.rows.len());
    }
    text.push('\n');
    if all > most {
        let (most, all) = (write_count(most as u64), write_count(all as u64));
        let _ = writeln!(text, "The first {most} of {all} rows; the HTML page has all.\n");
    }
}

/// Escapes untrusted text, such that it contains no markup and stays on one line.
fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => safe.push_str("&lt;"),
            '&' => safe.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '#' | '!' | '>' | '@' => {
                safe.push('\\');
                safe.push(c);
            }
            c if c.is_control() => safe.push(' '),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Row;

    #[test]
    fn code_is_not_escaped() {
        assert_eq!(coded("use `a '[::1]'` or [b]"), "use `a '[::1]'` or \\[b\\]");
        assert_eq!(coded("one ` and <b>"), "one \\` and &lt;b\\>");
        assert_eq!(coded("```<b>`"), "\\`\\`\\`&lt;b\\>\\`");
    }

    #[test]
    fn escapes_markup_in_foreign_text() {
        assert_eq!(escape("a|b\n*<b>"), "a\\|b \\*&lt;b\\>");
        let columns = vec![Column::words("Name"), Column::number("x|y"), Column::drawn("z")];
        let rows = vec![Row::new("a|b", vec!["1".into(), SheetCell::none()])];
        let mut text = String::new();
        write_table(&mut text, &Table::new("", columns, rows), "", usize::MAX);
        assert_eq!(text, "| Name | x\\|y |\n| --- | --: |\n| a\\|b | 1 |\n\n");
    }

    #[test]
    fn cuts_a_long_folded_table_and_says_so() {
        let rows = |n: usize| (0..n).map(|at| Row::new(at.to_string(), Vec::new())).collect();
        let folded = |n| {
            let table = Table::new("", vec![Column::words("Cell")], rows(n));
            let mut text = String::new();
            let block = Block::Folded(String::new(), vec![Block::Table(table)]);
            write_block(&mut text, &block, "", usize::MAX);
            text
        };
        let whole = folded(MOST_FOLDED);
        assert!(whole.ends_with("| 199 |\n\n"), "{whole}");
        let cut = folded(MOST_FOLDED + 1);
        let said = "| 199 |\n\nThe first 200 of 201 rows; the HTML page has all.\n\n";
        assert!(cut.ends_with(said), "{cut}");
    }
}
