//! One self-contained page: it needs no network, loads nothing and runs no script but its own.

mod charts;
mod effect;
mod escape;
mod sections;
mod tables;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use super::sheet::{self, Named, Sheet};
use escape::escape;

const STYLE: &str = include_str!("page.css");
const CHART_STYLE: &str = include_str!("vendor/uplot/uPlot.min.css");
const SCRIPT: &str = include_str!("page.js");
const CHART_SCRIPT: &str = include_str!("vendor/uplot/uPlot.iife.min.js");
const CHART_LICENSE: &str = include_str!("vendor/uplot/LICENSE");

/// The page of one or several documents, the first one first.
pub fn page(documents: &[Named<'_>]) -> String {
    let sheets: Vec<Sheet> = documents.iter().map(|named| sheet::of(*named)).collect();
    let script = format!("{CHART_SCRIPT}\n{SCRIPT}");
    let mut text = head(&title(&sheets), &script);
    text.push_str("<body>\n<a class=\"skip\" href=\"#main\">Skip to the results</a>\n");
    text.push_str(BAR);
    text.push_str("<main id=\"main\">\n");
    match sheets.as_slice() {
        [one] => sections::sheet(&mut text, one, 1, 1),
        many => sections::all(&mut text, many),
    }
    text.push_str("</main>\n");
    text.push_str(&foot());
    text.push_str(&format!("<script>{script}</script>\n</body>\n</html>\n"));
    text
}

const BAR: &str = "<div class=\"bar\" role=\"banner\"><span class=\"brand\">sixmark</span>\
    <button type=\"button\" id=\"theme\" hidden>Theme: <span>automatic</span></button></div>\n";

fn title(sheets: &[Sheet]) -> String {
    match sheets {
        [one] => format!("{}: {}", one.kind, one.title),
        many => format!("{} results", many.len()),
    }
}

/// Nothing is loaded, and only this very script runs, whatever a document's words may hold.
fn head(title: &str, script: &str) -> String {
    let hash = STANDARD.encode(Sha256::digest(script.as_bytes()));
    let policy = format!(
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{hash}'; \
         img-src data:; base-uri 'none'; form-action 'none'"
    );
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"generator\" content=\"sixmark {}\">\n\
         <title>{} – sixmark</title>\n<link rel=\"icon\" href=\"data:,\">\n\
         <style>{CHART_STYLE}\n{STYLE}</style>\n\
         <noscript><style>.plot,.key{{display:none}}</style></noscript>\n</head>\n",
        env!("CARGO_PKG_VERSION"),
        escape(title)
    )
}

fn foot() -> String {
    format!(
        "<footer><p>Made by sixmark {}. Charts by uPlot.</p>\n<details class=\"licence\"><summary>uPlot’s \
         licence</summary><pre>{}</pre></details></footer>\n",
        env!("CARGO_PKG_VERSION"),
        escape(CHART_LICENSE)
    )
}

#[cfg(test)]
mod tests;
