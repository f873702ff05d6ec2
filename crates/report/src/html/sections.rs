//! A document's section of the page, and the overview of several.

use std::fmt::Write as _;

use crate::sheet::{Block, Headline, Part, Sheet, Tile};
use sixmark_model::provenance::Warning;

use super::charts::{self, Ids};
use super::escape::escape;
use super::tables;

/// Several documents: an overview, then each.
pub(super) fn all(text: &mut String, sheets: &[Sheet]) {
    let _ = writeln!(text, "<h1>{} results</h1>", sheets.len());
    overview(text, sheets);
    for (at, one) in sheets.iter().enumerate() {
        sheet(text, one, at + 1, 2);
    }
}

/// One document: `number` counts from 1, its heading is of that `level`.
pub(super) fn sheet(text: &mut String, of: &Sheet, number: usize, level: usize) {
    let (kind, name, title) = (of.kind, escape(&of.name), escape(&of.title));
    let about = of.about.iter().map(|phrase| format!("<li>{}</li>", escape(phrase)));
    let about: String = about.collect();
    let _ = write!(
        text,
        "<article id=\"result-{number}\">\n<header>\n<p class=\"kind\">{kind} <code>{name}</code></p>\n\
         <h{level}>{title}</h{level}>\n<ul class=\"about\">{about}</ul>\n</header>\n"
    );
    headline(text, &of.headline);
    warnings(text, &of.warnings, level + 1);
    tiles(text, &of.tiles);
    contents(text, of, number);
    let mut ids = Ids::of_section(number);
    for (at, one) in of.parts.iter().enumerate() {
        part(text, one, &format!("part-{number}-{at}"), level + 1, &mut ids);
    }
    text.push_str("</article>\n");
}

fn headline(text: &mut String, of: &Headline) {
    let class = match of.verdict {
        Some(verdict) => verdict.word().to_owned(),
        None => "none".into(),
    };
    let chip = of.verdict.map_or(String::new(), tables::verdict);
    let notes = of.notes.iter().map(|note| format!("<p class=\"note\">{}</p>", coded(note)));
    let notes: String = notes.collect();
    let sentence = escape(&of.sentence);
    let _ = writeln!(
        text,
        "<div class=\"headline {class}\">{chip}<p class=\"sentence\">{sentence}</p>{notes}</div>"
    );
}

/// Text in which back quotes mean code.
fn coded(text: &str) -> String {
    let parts = escape(text);
    let parts = parts.split('`').enumerate();
    parts.map(|(at, s)| if at % 2 == 1 { format!("<code>{s}</code>") } else { s.into() }).collect()
}

fn warnings(text: &mut String, all: &[Warning], level: usize) {
    if all.is_empty() {
        return;
    }
    let noun = if all.len() == 1 { "warning" } else { "warnings" };
    let _ = write!(
        text,
        "<section class=\"warnings\">\n<h{level}><span aria-hidden=\"true\">⚠</span> {} {noun}\
         </h{level}>\n<ul>\n",
        all.len()
    );
    for Warning { code, message } in all {
        let (code, message) = (escape(code), escape(message));
        let _ = writeln!(text, "<li>{message} <code>{code}</code></li>");
    }
    text.push_str("</ul>\n</section>\n");
}

fn tiles(text: &mut String, all: &[Tile]) {
    if all.is_empty() {
        return;
    }
    text.push_str("<dl class=\"tiles\">\n");
    for tile in all {
        let _ = write!(text, "<div><dt>{}</dt>", tile.label);
        for (place, name, value) in &tile.sides {
            let (name, value) = (escape(name), escape(value));
            let _ = write!(text, "<dd class=\"s{place}\"><i>{name}</i> <b>{value}</b></dd>");
        }
        if !tile.change.is_empty() {
            let _ = write!(text, "<dd class=\"change\">{}</dd>", escape(&tile.change));
        }
        text.push_str("</div>\n");
    }
    text.push_str("</dl>\n");
}

fn contents(text: &mut String, of: &Sheet, number: usize) {
    let title = escape(&of.title);
    let _ = write!(text, "<nav aria-label=\"Parts of {title}\"><ul>");
    for (at, part) in of.parts.iter().enumerate() {
        let _ = write!(text, "<li><a href=\"#part-{number}-{at}\">{}</a></li>", part.heading);
    }
    text.push_str("</ul></nav>\n");
}

fn part(text: &mut String, of: &Part, id: &str, level: usize, ids: &mut Ids) {
    let _ = writeln!(text, "<section id=\"{id}\">\n<h{level}>{}</h{level}>", of.heading);
    of.blocks.iter().for_each(|one| block(text, one, level + 1, ids));
    text.push_str("</section>\n");
}

fn block(text: &mut String, of: &Block, level: usize, ids: &mut Ids) {
    match of {
        Block::Heading(words) => {
            let _ = writeln!(text, "<h{level}>{}</h{level}>", escape(words));
        }
        Block::Text(words) => {
            let _ = writeln!(text, "<p>{}</p>", coded(words));
        }
        Block::Table(table) => tables::table(text, table),
        Block::Charts(all) => charts::charts(text, all, ids),
        Block::Folded(summary, blocks) => {
            let _ = writeln!(text, "<details><summary>{}</summary>", escape(summary));
            blocks.iter().for_each(|one| block(text, one, level, ids));
            text.push_str("</details>\n");
        }
    }
}

/// One row a document: its verdict and the figures of its tiles.
fn overview(text: &mut String, sheets: &[Sheet]) {
    text.push_str(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Overview\">\
         <table class=\"overview wide\"><caption>Overview</caption>\n<thead><tr>\
         <th scope=\"col\">Result</th><th scope=\"col\">Verdict</th>",
    );
    let labels = sheets.iter().map(|sheet| &sheet.tiles).max_by_key(|tiles| tiles.len());
    labels.into_iter().flatten().for_each(|tile| {
        let _ = write!(text, "<th scope=\"col\" class=\"n\">{}</th>", tile.label);
    });
    text.push_str("</tr></thead>\n<tbody>\n");
    sheets.iter().enumerate().for_each(|(at, sheet)| overview_row(text, sheet, at + 1));
    text.push_str("</tbody></table></div>\n");
}

fn overview_row(text: &mut String, sheet: &Sheet, number: usize) {
    let (title, name) = (escape(&sheet.title), escape(&sheet.name));
    let verdict = sheet.headline.verdict.map_or("–".into(), tables::verdict);
    let _ = write!(
        text,
        "<tr><th scope=\"row\"><a href=\"#result-{number}\">{title}</a> <small>{} {name}</small></th>\
         <td class=\"w\">{verdict}</td>",
        sheet.kind
    );
    if sheet.tiles.is_empty() {
        let sentence = escape(&sheet.headline.sentence);
        let _ = write!(text, "<td class=\"w\" colspan=\"4\">{sentence}</td>");
    }
    for tile in &sheet.tiles {
        text.push_str("<td class=\"n\">");
        for (place, name, value) in &tile.sides {
            let (name, value) = (escape(name), escape(value));
            let _ = write!(text, "<span class=\"pair s{place}\"><i>{name}</i> {value}</span>");
        }
        let _ = write!(text, "<span class=\"pair change\">{}</span></td>", escape(&tile.change));
    }
    text.push_str("</tr>\n");
}
