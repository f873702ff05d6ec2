//! The section of each document, and the overview of several documents.

use maud::{Markup, html};
use sixmark_units::visible::visible;

use crate::warnings as doubts;
use crate::{Block, Part, Sheet, SheetHeadline, Tile};
use sixmark_document::provenance::Warning;

use super::charts::{self, Ids};
use super::{tables, timelines};

/// Returns an overview of several documents, followed by a section for each.
pub(super) fn all(sheets: &[Sheet]) -> Markup {
    html! {
        h1 { (sheets.len()) " results" }
        (overview(sheets))
        @for (at, one) in sheets.iter().enumerate() { (sheet_markup(one, at + 1, 2)) }
    }
}

/// Returns the section of one document. `number` counts documents from 1; `level` is the level of
/// the section's heading.
pub(super) fn sheet_markup(of: &Sheet, number: usize, level: usize) -> Markup {
    let mut ids = Ids::of_section(number);
    html! {
        article id={ "result-" (number) } {
            header {
                p.kind { (of.kind) " " code { (visible(&of.name)) } }
                (heading(level, with_breaks(&visible(&of.title))))
                ul.about {
                    @if !of.when.is_empty() { li { (of.when) } }
                    @for phrase in &of.about { li { (visible(phrase)) } } }
            }
            (headline_markup(&of.headline))
            (warnings(&of.warnings, level + 1))
            (tiles(&of.tiles))
            (contents(of, number))
            @for (at, one) in of.parts.iter().enumerate() {
                section id={ "part-" (number) "-" (at) } {
                    (heading(level + 1, html! { (one.heading) }))
                    (blocks(&one.blocks, one.heading, level + 2, &mut ids))
                }
            }
        }
    }
}

/// Returns a heading. The template language requires literal element names.
fn heading(level: usize, words: Markup) -> Markup {
    html! {
        @match level {
            1 => h1 { (words) },
            2 => h2 { (words) },
            3 => h3 { (words) },
            _ => h4 { (words) },
        }
    }
}

fn headline_markup(of: &SheetHeadline) -> Markup {
    let class = of.verdict.map_or("none", |verdict| verdict.word());
    let failed = if of.failed.is_empty() { "" } else { " failed" };
    html! {
        div class={ "headline " (class) (failed) } {
            @for failed in &of.failed {
                p.sentence.failure { (failed_chip()) " " (coded(failed)) "." }
            }
            @if let Some(verdict) = of.verdict { (tables::verdict_markup(verdict)) }
            p.sentence { (visible(&of.sentence)) }
            @for note in &of.notes { p.note { (coded(note)) } }
        }
    }
}

/// Returns the word for what failed altogether, with a symbol, so that it does not depend on colour
/// alone.
fn failed_chip() -> Markup {
    html! { span.chip.failed { span aria-hidden="true" { "✗" } " failed" } }
}

/// Returns text in which words between back quotes are code.
fn coded(text: &str) -> Markup {
    html! {
        @for (at, words) in text.split('`').enumerate() {
            @if at % 2 == 1 { code { (visible(words)) } } @else { (visible(words)) }
        }
    }
}

fn warnings(all: &[Warning], level: usize) -> Markup {
    let all = doubts::condensed(all);
    let noun = if all.len() == 1 { "warning" } else { "warnings" };
    let words = html! { span aria-hidden="true" { "⚠" } " " (all.len()) " " (noun) };
    let (first, rest) = all.split_at(if all.len() > MOST_UNFOLDED { UNFOLDED } else { all.len() });
    html! {
        @if !all.is_empty() {
            section.warnings {
                (heading(level, words))
                (warning_list(first))
                @if !rest.is_empty() {
                    details { summary { (rest.len()) " more warnings" } (warning_list(rest)) }
                }
            }
        }
    }
}

/// The number of warnings of which none is folded, and how many are not if there are more. On a narrow
/// screen a long list would hide the answers below it.
const MOST_UNFOLDED: usize = 4;
const UNFOLDED: usize = 3;

fn warning_list(all: &[Warning]) -> Markup {
    html! {
        ul {
            @for Warning { code, message } in all {
                li { (visible(message)) " " code { (visible(code)) } }
            }
        }
    }
}

fn tiles(all: &[Tile]) -> Markup {
    html! {
        @if !all.is_empty() {
            dl.tiles {
                @for tile in all {
                    div {
                        dt { (tile.label) }
                        @for (place, name, value) in &tile.sides {
                            dd class={ "s" (place) } {
                                i { (visible(name)) } " " b { (visible(value)) }
                            }
                        }
                        @if !tile.change.is_empty() { dd.change { (visible(&tile.change)) } }
                    }
                }
            }
        }
    }
}

fn contents(of: &Sheet, number: usize) -> Markup {
    html! {
        nav aria-label={ "Parts of " (visible(&of.title)) } {
            ul {
                @for (at, label) in entries(&of.parts) {
                    li { a href={ "#part-" (number) "-" (at) } { (visible(label)) } }
                }
            }
        }
    }
}

/// Returns the entries of the contents, each with the number of its part. Parts with the same headings, one
/// for each of several subjects, are listed by their first subheading, each subject once.
fn entries(parts: &[Part]) -> Vec<(usize, &str)> {
    let mut entries: Vec<(usize, &str)> = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        let is_repeated = parts.iter().filter(|of| of.heading == part.heading).count() > 1;
        let label = match part.blocks.first() {
            Some(Block::Heading(words)) if is_repeated => words,
            _ => part.heading,
        };
        if !entries.iter().any(|of| of.1 == label) {
            entries.push((at, label));
        }
    }
    entries
}

/// Returns blocks below the heading `under`.
fn blocks(all: &[Block], under: &str, level: usize, ids: &mut Ids) -> Markup {
    let mut under = under;
    let mut each = Vec::new();
    for one in all {
        if let Block::Heading(words) = one {
            under = words;
        }
        each.push(block_markup(one, under, level, ids));
    }
    html! { @for one in each { (one) } }
}

fn block_markup(of: &Block, under: &str, level: usize, ids: &mut Ids) -> Markup {
    match of {
        Block::Heading(words) => heading(level, html! { (visible(words)) }),
        Block::Text(words) | Block::Aside(words) => html! { p { (coded(words)) } },
        Block::Command(words) => html! { pre { code { (visible(words)) } } },
        Block::Table(table) => tables::table_markup(table, under),
        Block::Charts(all) => charts::charts(all, ids),
        Block::Timelines(all) => timelines::draw_timelines(all),
        Block::Folded(summary, inner) => html! {
            details { summary { (visible(summary)) } (blocks(inner, summary, level, ids)) }
        },
    }
}

/// Returns the overview table: for each document, one row with its verdict and the figures of its
/// tiles.
fn overview(sheets: &[Sheet]) -> Markup {
    let labels = overview_labels(sheets);
    html! {
        div.scroll tabindex="0" role="region" aria-label="Overview" {
            table.overview.wide {
                caption { "Overview" }
                thead {
                    tr {
                        th scope="col" { "Result" }
                        th scope="col" { "Verdict" }
                        @for label in &labels { th scope="col" class="n" { (label) } }
                    }
                }
                tbody {
                    @for (at, sheet) in sheets.iter().enumerate() { (overview_row(sheet, at + 1, &labels)) }
                }
            }
        }
    }
}

/// Returns the labels of the tiles that most of the documents have: the columns of the overview.
fn overview_labels(sheets: &[Sheet]) -> Vec<&'static str> {
    let labels = |sheet: &Sheet| sheet.tiles.iter().map(|tile| tile.label).collect::<Vec<_>>();
    let alike = |of: &Vec<&str>| sheets.iter().filter(|sheet| labels(sheet) == *of).count();
    let all = sheets.iter().map(labels).filter(|of| !of.is_empty());
    // Of several equally common lists, the first one is chosen.
    all.rev().max_by_key(alike).unwrap_or_default()
}

/// Returns a row of the overview: the figures of its columns or, if the document has none of them,
/// its headline.
fn overview_row(sheet: &Sheet, number: usize, labels: &[&'static str]) -> Markup {
    let tile = |label: &&str| sheet.tiles.iter().find(|tile| tile.label == *label);
    let has_any = labels.iter().any(|label| tile(label).is_some());
    html! {
        tr {
            th scope="row" {
                a href={ "#result-" (number) } { (with_breaks(&visible(&sheet.title))) }
                " " small { (sheet.kind) " " (visible(&sheet.name)) }
            }
            td.w data-label="Verdict" {
                @match sheet.headline.verdict {
                    _ if !sheet.headline.failed.is_empty() => (failed_chip()),
                    Some(verdict) => (tables::verdict_markup(verdict)),
                    None => "–",
                }
            }
            @if !has_any {
                td.w colspan=(labels.len().max(1)) data-label="" { (visible(&sheet.headline.sentence)) }
            } @else {
                @for label in labels {
                    td.n data-label=(label) { @if let Some(tile) = tile(label) { (pairs(tile)) } @else { "–" } }
                }
            }
        }
    }
}

fn pairs(tile: &Tile) -> Markup {
    html! {
        @for (place, name, value) in &tile.sides {
            span class={ "pair s" (place) } { i { (visible(name)) } " " (visible(value)) }
        }
        span.pair.change { (visible(&tile.change)) }
    }
}

/// Returns a title in which a URL may be broken before each segment of its path, and only there.
fn with_breaks(title: &str) -> Markup {
    html! {
        @for (at, word) in title.split(' ').enumerate() {
            @if at > 0 { " " }
            @for (at, part) in word.split_inclusive('/').enumerate() {
                // The scheme, the slashes and the host stay together.
                @if at > 2 { wbr; }
                (part)
            }
        }
    }
}
