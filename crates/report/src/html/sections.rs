//! A document's section of the page, and the overview of several.

use maud::{Markup, html};
use sixmark_units::visible::visible;

use crate::sheet::{Block, Part, Sheet, SheetHeadline, Tile};
use sixmark_model::provenance::Warning;

use super::charts::{self, Ids};
use super::tables;

/// Several documents: an overview, then each.
pub(super) fn all(sheets: &[Sheet]) -> Markup {
    html! {
        h1 { (sheets.len()) " results" }
        (overview(sheets))
        @for (at, one) in sheets.iter().enumerate() { (sheet_markup(one, at + 1, 2)) }
    }
}

/// One document: `number` counts from 1, its heading is of that `level`.
pub(super) fn sheet_markup(of: &Sheet, number: usize, level: usize) -> Markup {
    let mut ids = Ids::of_section(number);
    html! {
        article id={ "result-" (number) } {
            header {
                p.kind { (of.kind) " " code { (visible(&of.name)) } }
                (heading(level, html! { (visible(&of.title)) }))
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
                    (blocks(&one.blocks, level + 2, &mut ids))
                }
            }
        }
    }
}

/// Templates have no names of elements that are decided later.
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
    html! {
        div class={ "headline " (class) } {
            @if let Some(verdict) = of.verdict { (tables::verdict_markup(verdict)) }
            p.sentence { (visible(&of.sentence)) }
            @for note in &of.notes { p.note { (coded(note)) } }
        }
    }
}

/// Text in which back quotes mean code.
fn coded(text: &str) -> Markup {
    html! {
        @for (at, words) in text.split('`').enumerate() {
            @if at % 2 == 1 { code { (visible(words)) } } @else { (visible(words)) }
        }
    }
}

fn warnings(all: &[Warning], level: usize) -> Markup {
    let noun = if all.len() == 1 { "warning" } else { "warnings" };
    let words = html! { span aria-hidden="true" { "⚠" } " " (all.len()) " " (noun) };
    html! {
        @if !all.is_empty() {
            section.warnings {
                (heading(level, words))
                ul {
                    @for Warning { code, message } in all {
                        li { (visible(message)) " " code { (visible(code)) } }
                    }
                }
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
                @for (at, Part { heading, .. }) in of.parts.iter().enumerate() {
                    li { a href={ "#part-" (number) "-" (at) } { (heading) } }
                }
            }
        }
    }
}

fn blocks(all: &[Block], level: usize, ids: &mut Ids) -> Markup {
    let each: Vec<Markup> = all.iter().map(|one| block_markup(one, level, ids)).collect();
    html! { @for one in each { (one) } }
}

fn block_markup(of: &Block, level: usize, ids: &mut Ids) -> Markup {
    match of {
        Block::Heading(words) => heading(level, html! { (visible(words)) }),
        Block::Text(words) | Block::Aside(words) => html! { p { (coded(words)) } },
        Block::Table(table) => tables::table_markup(table),
        Block::Charts(all) => charts::charts(all, ids),
        Block::Folded(summary, inner) => html! {
            details { summary { (visible(summary)) } (blocks(inner, level, ids)) }
        },
    }
}

/// One row a document: its verdict and the figures of its tiles.
fn overview(sheets: &[Sheet]) -> Markup {
    let labels = sheets.iter().map(|sheet| &sheet.tiles).max_by_key(|tiles| tiles.len());
    html! {
        div.scroll tabindex="0" role="region" aria-label="Overview" {
            table.overview.wide {
                caption { "Overview" }
                thead {
                    tr {
                        th scope="col" { "Result" }
                        th scope="col" { "Verdict" }
                        @for tile in labels.into_iter().flatten() {
                            th scope="col" class="n" { (tile.label) }
                        }
                    }
                }
                tbody {
                    @for (at, sheet) in sheets.iter().enumerate() { (overview_row(sheet, at + 1)) }
                }
            }
        }
    }
}

fn overview_row(sheet: &Sheet, number: usize) -> Markup {
    html! {
        tr {
            th scope="row" {
                a href={ "#result-" (number) } { (visible(&sheet.title)) }
                " " small { (sheet.kind) " " (visible(&sheet.name)) }
            }
            td.w {
                @match sheet.headline.verdict {
                    Some(verdict) => (tables::verdict_markup(verdict)),
                    None => "–",
                }
            }
            @if sheet.tiles.is_empty() {
                td.w colspan="4" { (visible(&sheet.headline.sentence)) }
            }
            @for tile in &sheet.tiles {
                td.n {
                    @for (place, name, value) in &tile.sides {
                        span class={ "pair s" (place) } { i { (visible(name)) } " " (visible(value)) }
                    }
                    span.pair.change { (visible(&tile.change)) }
                }
            }
        }
    }
}
