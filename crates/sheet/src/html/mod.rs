//! A self-contained HTML page: it needs no network, loads nothing and runs only its own script.

mod charts;
mod effect;
mod sections;
mod tables;
mod timelines;
mod waterfall;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::{Markup, PreEscaped, html};
use sha2::{Digest as _, Sha256};
use sixmark_units::visible::visible;

use crate::Sheet;

const STYLE: &str = include_str!("page.css");
const CHART_STYLE: &str = include_str!("vendor/uplot/uPlot.min.css");
const SCRIPT: &str = include_str!("page.js");
const CHART_SCRIPT: &str = include_str!("vendor/uplot/uPlot.iife.min.js");
const CHART_LICENSE: &str = include_str!("vendor/uplot/LICENSE");

/// Returns the page that shows one or several documents, in the given order.
pub fn html_page(sheets: &[Sheet]) -> String {
    let script = format!("{CHART_SCRIPT}\n{SCRIPT}");
    let page = html! {
        (PreEscaped("<!doctype html>\n"))
        html lang="en" {
            (page_head(&page_title(sheets), &script))
            body {
                a.skip href="#main" { "Skip to the results" }
                div.bar role="banner" {
                    span.brand { "sixmark" }
                    button type="button" id="theme" hidden { "Theme: " span { "automatic" } }
                }
                main #main {
                    @match sheets {
                        [one] => (sections::sheet_markup(one, 1, 1)),
                        many => (sections::all(many)),
                    }
                }
                (foot())
                script { (PreEscaped(&script)) }
            }
        }
    };
    page.into_string() + "\n"
}

fn page_title(sheets: &[Sheet]) -> String {
    match sheets {
        [one] => format!("{}: {}", one.kind, one.title),
        many => format!("{} results", many.len()),
    }
}

/// Returns the head of the page. Its content security policy forbids loading anything and allows
/// only this one script, whatever a document contains.
fn page_head(title: &str, script: &str) -> Markup {
    let hash = STANDARD.encode(Sha256::digest(script.as_bytes()));
    let policy = format!(
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{hash}'; \
         img-src data:; base-uri 'none'; form-action 'none'"
    );
    html! {
        head {
            meta charset="utf-8";
            meta http-equiv="Content-Security-Policy" content=(policy);
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            meta name="generator" content={ "sixmark " (env!("CARGO_PKG_VERSION")) };
            title { (visible(title)) " – sixmark" }
            link rel="icon" href="data:,";
            style { (PreEscaped(CHART_STYLE)) "\n" (PreEscaped(STYLE)) }
            noscript { style { ".plot,.key{display:none}" } }
        }
    }
}

fn foot() -> Markup {
    html! {
        footer {
            p { "Made by sixmark " (env!("CARGO_PKG_VERSION")) ". Charts by uPlot." }
            details.licence {
                summary { "uPlot’s licence" }
                pre { (CHART_LICENSE) }
            }
        }
    }
}

#[cfg(test)]
mod tests;
