//! Comparisons of families that do not return the same content, and checks of their reports.

use std::fs;

use serde_json::Value;

use crate::{forms, sixmark};

/// A comparison with gates that a faulty family must not pass, in all its output formats.
pub struct ComparisonOutput {
    /// The exit status.
    pub status: Option<i32>,
    /// The document of the comparison.
    pub document: Value,
    /// The HTML page.
    pub page: String,
    /// The gates as JUnit XML.
    pub junit: String,
    /// The text on standard error.
    pub said: String,
}

/// The gates of each comparison: one on a compared metric, and one on a counter.
pub const GATES: [&str; 2] = ["verdict(response.p50) == worse", "ipv6.failures > 0.1%"];

/// Compares the two URLs with this load and [`GATES`].
pub fn compared(load: &[&str], [v6, v4]: &[String; 2]) -> ComparisonOutput {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (html, junit) = (file("page.html"), file("gates.xml"));
    let (a, b) = (format!("ipv6 {v6}"), format!("ipv4 {v4}"));
    let sides = ["--a", &a, "--name-a", "ipv6", "--b", &b, "--name-b", "ipv4"];
    let gates = ["--fail-if", GATES[0], "--fail-if", GATES[1]];
    let forms = ["--json", "-", "--html", &html, "--junit", &junit, "--warmup", "0"];
    let output = sixmark(&[&["compare", "-q"], load, &gates, &forms, &sides].concat());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let document = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("no document ({error}): {said}"));
    forms::COMPARISON.check(&document);
    let read = |path: &str| fs::read_to_string(path).unwrap();
    let (page, junit) = (read(&html), read(&junit));
    ComparisonOutput { status: output.status.code(), document, page, junit, said }
}

/// Returns true if no metric of speed was compared.
pub fn nothing_of_speed(document: &Value) -> bool {
    let metrics = document["comparison"]["metrics"].as_array().unwrap().iter();
    let mut speeds = metrics.filter(|metric| metric["metric"] != "failures");
    speeds.all(|metric| metric["verdict"] == "not_comparable" && metric["ratio"].is_null())
}

/// Asserts how a comparison with a faulty family is reported: its headline, its exit status and
/// whether the gate on failures failed.
pub fn must_say(urls: &[String; 2], load: &[&str], headline: &str, status: i32, failures: bool) {
    let output = compared(load, urls);
    let context = format!("{}: {}", urls[0], output.said);
    let said = output.document["comparison"]["sameness"]["said"].as_str();
    let said = said.unwrap_or_else(|| panic!("{context} {:#}", output.document["comparison"]));
    assert!(said.starts_with(headline), "{context} {said}");
    assert!(nothing_of_speed(&output.document), "{context}");
    assert_eq!(output.status, Some(status), "{context}");
    let gates = output.document["gates"].as_array().unwrap();
    assert_eq!(gates[0]["failed"], true, "{context} {gates:?}");
    assert_eq!(gates[1]["failed"], failures, "{context} {gates:?}");
    assert!(gates[0]["because"].as_str().unwrap().contains(said), "{context} {gates:?}");
    assert!(output.page.contains("headline not_comparable"), "{context}");
    // Of a side without any complete response, the headline says more.
    let named = output.page.contains(said) || output.page.contains("No answer over IPv6 (");
    assert!(named, "{context}");
    assert!(output.junit.contains(&said.replace('\'', "&apos;")), "{context}");
}

/// The options of a short comparison.
pub const BLOCKS: [&str; 6] = ["--blocks", "6", "-n", "60", "-c", "2"];
