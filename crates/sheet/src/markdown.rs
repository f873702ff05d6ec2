//! Markdown for pull requests: the summary and the main tables first, everything else collapsed.

use std::fmt::Write as _;

use crate::table::{Column, ColumnKind, SheetCell, Table};
use crate::warnings as doubts;
use crate::{Block, Part, Sheet};
use sixmark_document::provenance::Warning;

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
    of.blocks.iter().for_each(|one| write_block(&mut inner, one, under));
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

/// Writes a block below the heading `under`, or below none if it is empty.
fn write_block(text: &mut String, of: &Block, under: &str) {
    match of {
        Block::Table(of) => write_table(text, of, under),
        Block::Folded(_, blocks) => blocks.iter().for_each(|one| write_block(text, one, under)),
        Block::Heading(words) => {
            let _ = writeln!(text, "**{}**\n", escape(words));
        }
        Block::Text(words) => {
            let _ = writeln!(text, "{}\n", coded(words));
        }
        Block::Charts(_) | Block::Aside(_) => {}
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

fn write_table(text: &mut String, of: &Table, under: &str) {
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
    for group in &of.groups {
        if let Some(name) = &group.name {
            let _ = writeln!(text, "| **{}** {}|", escape(name), "| ".repeat(columns.len() - 1));
        }
        for row in &group.rows {
            let kinds = of.columns.iter().skip(1).map(|column| column.kind);
            let cells = row.cells.iter().zip(kinds).filter(|(_, kind)| shown(*kind));
            let cells = cells.map(|(cell, _)| escape(cell.text()));
            let all: Vec<String> = std::iter::once(escape(row.label.text())).chain(cells).collect();
            let _ = writeln!(text, "| {} |", all.join(" | "));
        }
    }
    text.push('\n');
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
    fn foreign_text_is_no_markup() {
        assert_eq!(escape("a|b\n*<b>"), "a\\|b \\*&lt;b\\>");
        let columns = vec![Column::words("Name"), Column::number("x|y"), Column::drawn("z")];
        let rows = vec![Row::new("a|b", vec!["1".into(), SheetCell::none()])];
        let mut text = String::new();
        write_table(&mut text, &Table::new("", columns, rows), "");
        assert_eq!(text, "| Name | x\\|y |\n| --- | --: |\n| a\\|b | 1 |\n\n");
    }
}
