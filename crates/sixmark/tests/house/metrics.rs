//! docs/metrics.md says what the table of metrics says.

use std::fs;

/// Writes the page anew where it is set, instead of comparing.
const UPDATE: &str = "SIXMARK_UPDATE_DOCS";

#[test]
fn docs_metrics_page_matches_the_table_of_metrics() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/metrics.md");
    let page = sixmark::report::metrics::metrics_page();
    if std::env::var_os(UPDATE).is_some() {
        fs::write(path, &page).unwrap();
    }
    let kept = fs::read_to_string(path).unwrap_or_default();
    assert!(
        kept == page,
        "docs/metrics.md differs from the table of metrics: {UPDATE}=1 cargo test -p sixmark --test house"
    );
}
