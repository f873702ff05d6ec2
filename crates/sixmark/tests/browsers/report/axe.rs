//! axe-core's checks of accessibility (WCAG 2.2 A and AA, best practices), run on reports in Chromium
//! and in Firefox.

use std::path::PathBuf;

use serde_json::Value;
use sixmark_testkit::skipped;

use super::marionette::Firefox;
use super::{all_documents, report, with_pages};
use sixmark_testkit::documents::real_run;

/// The width of a phone, in pixels.
const PHONE: [u32; 2] = [390, 844];

/// Returns a script that runs the checks with everything unfolded, and gives those that failed and
/// are serious to its last argument.
fn script() -> String {
    let axe = std::fs::read_to_string(file()).unwrap();
    format!(
        "{axe};
        const done = arguments[arguments.length - 1];
        document.querySelectorAll('details').forEach((d) => (d.open = true));
        axe.run(document, {{resultTypes: ['violations']}}).then(({{violations}}) => done(
            violations.filter(({{impact}}) => ['serious', 'critical'].includes(impact))
                .map(({{id, help, nodes}}) => `${{id}}: ${{help}} (${{nodes.length}}): ${{nodes[0].html.slice(0, 200)}} ${{nodes[0].failureSummary}}`)
        ), (error) => done([String(error)]));"
    )
}

/// Returns the file with the checks.
fn file() -> PathBuf {
    // The test binary is in cargo's target folder, below `debug/deps`.
    let test = std::env::current_exe().unwrap();
    let mut files = test.ancestors().map(|folder| folder.join("peers/axe.min.js"));
    files.find(|file| file.is_file()).unwrap_or_else(|| {
        panic!(
            "cargo's target folder has no peers/axe.min.js: run scripts/install-axe, or leave these \
             tests out with SIXMARK_SKIP=axe"
        )
    })
}

fn assert_none(found: &Value, at: &str) {
    let found: Vec<&str> = found.as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(found.is_empty(), "{at}:\n{}", found.join("\n"));
}

#[test]
fn axe_finds_no_serious_issue_in_chromium() {
    if skipped("axe") {
        return;
    }
    let script = script();
    let documents = all_documents();
    let documents: Vec<(&str, &[&Value])> =
        documents.iter().map(|(name, of)| (*name, &of[..])).collect();
    with_pages(&documents, |name, page| {
        assert_none(&page.script_async(&script), name);
        page.scheme("dark");
        assert_none(&page.script_async(&script), &format!("{name}, dark"));
        page.scheme("light");
        page.sized(PHONE);
        assert_none(&page.script_async(&script), &format!("{name}, on a phone"));
        page.wide();
    });
}

/// A page without a language is a serious failure: the checks must find it.
#[test]
fn axe_detects_a_page_without_a_language() {
    if skipped("axe") {
        return;
    }
    let script = format!("document.documentElement.removeAttribute('lang'); {}", script());
    with_pages(&[("run", &[real_run()])], |_, page| {
        let found = page.script_async(&script);
        assert!(found[0].as_str().is_some_and(|first| first.contains("html-has-lang")), "{found}");
    });
}

#[test]
fn axe_finds_no_serious_issue_in_firefox() {
    if skipped("axe") || skipped("firefox") {
        return;
    }
    let script = script();
    let folder = tempfile::tempdir().unwrap();
    let mut firefox = Firefox::start();
    for (name, documents) in all_documents() {
        firefox.open(&report(folder.path(), name, &documents));
        assert_none(&firefox.script_async(&script), name);
        firefox.sized(PHONE);
        assert_none(&firefox.script_async(&script), &format!("{name}, narrow"));
        firefox.sized([1200, 900]);
    }
}
