//! Tables of documentation pages that are made of tables of the source.

use std::fs;
use std::path::Path;

/// Writes the page anew where it is set, instead of comparing.
const UPDATE: &str = "SIXMARK_UPDATE_DOCS";

/// Checks that tables of a page, each by its head, have these rows; or writes them.
pub(crate) fn check_tables(page: &str, tables: &[(&str, Vec<String>)]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(page);
    let kept = fs::read_to_string(&path).unwrap();
    let made = tables.iter().fold(kept.clone(), |text, (head, rows)| with_rows(&text, head, rows));
    if std::env::var_os(UPDATE).is_some() {
        fs::write(&path, &made).unwrap();
        return;
    }
    assert!(
        kept == made,
        "{page} differs from the source: {UPDATE}=1 cargo test -p sixmark --test house"
    );
}

/// Returns the page with these rows below the head of a table, in the place of those that it has.
fn with_rows(page: &str, head: &str, rows: &[String]) -> String {
    let begin = page.find(head).expect("the page has the head of the table");
    let ruled = page[begin + head.len() + 1..].find('\n').unwrap();
    let first = begin + head.len() + 1 + ruled + 1;
    let old: usize = page[first..]
        .split_inclusive('\n')
        .take_while(|line| line.starts_with('|'))
        .map(str::len)
        .sum();
    format!("{}{}{}", &page[..first], rows.concat(), &page[first + old..])
}
