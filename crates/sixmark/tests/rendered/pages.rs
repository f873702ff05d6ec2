//! Pages as snapshots have them: a tag a line, without the scripts and styles that all have.

use sha2::{Digest as _, Sha256};
use sixmark::report::html_page;
use sixmark::report::sheet::Named;

/// What `documents` look like between `<main>` and `</main>`.
pub(crate) fn body(documents: &[Named<'_>]) -> String {
    tidy(between(&html_page(documents), "<main id=\"main\">", "</main>"))
}

/// The part of it before the first document.
pub(crate) fn overview(documents: &[Named<'_>]) -> String {
    tidy(between(&html_page(documents), "<main id=\"main\">", "<article"))
}

/// What is around the documents, but for the scripts and styles.
pub(crate) fn frame(documents: &[Named<'_>]) -> String {
    let page = html_page(documents);
    let (before, rest) = page.split_once("<main id=\"main\">").unwrap();
    let (_, after) = rest.rsplit_once("</main>").unwrap();
    let frame = [("<style>", "</style>"), ("<script>", "</script>"), ("'sha256-", "'")]
        .into_iter()
        .fold(format!("{before}<main id=\"main\"></main>{after}"), |text, (begin, end)| {
            replaced(&text, begin, end, |_| "…".to_owned())
        });
    tidy(&frame)
}

fn between<'a>(page: &'a str, begin: &str, end: &str) -> &'a str {
    page.split_once(begin).unwrap().1.split_once(end).unwrap().0
}

/// What charts draw is long: its hash tells that it is the same. Blanks at the ends of lines mean nothing
/// in HTML, others do.
fn tidy(html: &str) -> String {
    let json = "<script type=\"application/json\">";
    let text = replaced(html, json, "</script>", |drawn| {
        let hash = Sha256::digest(drawn.as_bytes());
        format!(
            "{} bytes, {:02x}{:02x}{:02x}{:02x}",
            drawn.len(),
            hash[0],
            hash[1],
            hash[2],
            hash[3]
        )
    });
    let lines: Vec<&str> =
        text.split('\n').map(str::trim).filter(|line| !line.is_empty()).collect();
    // The same in HTML, whoever writes it.
    let text = lines.join("").replace("&#39;", "'");
    let tags = text.split('<').skip(1).map(|tag| match tag.split_once("/>") {
        Some((of, rest)) => {
            let name = of.split(' ').next().unwrap();
            format!("<{of}>\n</{name}>{rest}\n")
        }
        None => format!("<{tag}\n"),
    });
    tags.collect()
}

/// With what is between each `begin` and `end` replaced.
fn replaced(text: &str, begin: &str, end: &str, by: impl Fn(&str) -> String) -> String {
    let mut parts = text.split(begin);
    let mut done = parts.next().unwrap().to_owned();
    for part in parts {
        let (inner, rest) = part.split_once(end).unwrap();
        done += &format!("{begin}{}{end}{rest}", by(inner));
    }
    done
}
