//! `--fail-if` and `--junit`, of runs and comparisons.

use serde_json::Value;
use sixmark_testkit::{Origin, json, sixmark};

/// Never true of anything that was measured, and always.
const NEVER: &str = "ipv6.response.p50 > 1000s";
const ALWAYS: &str = "ipv4.response.p50 > 0.5ns";

#[test]
fn a_fail_if_condition_that_holds_exits_with_1() {
    let origin = Origin::start();
    let [v6, v4] = origin.urls("/bytes/10");
    for (gates, status) in [(&[NEVER][..], 0), (&[ALWAYS], 1), (&[NEVER, ALWAYS], 1)] {
        let gates = gates.iter().flat_map(|gate| ["--fail-if", gate]);
        let load: Vec<&str> =
            ["run", "-n", "100", "-c", "2", &v6, &v4].into_iter().chain(gates).collect();
        let output = sixmark(&load);
        assert_eq!(output.status.code(), Some(status), "{output:?}");
        let shown = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(shown.contains("FAILED: --fail-if"), status == 1, "{shown}");
        let headline = format!("FAILED: gate {ALWAYS}: ipv4.response.p50 is ");
        assert_eq!(shown.starts_with(&headline), status == 1, "{shown}");
        assert!(!shown.contains('\x1b'), "{shown}");
    }
}

#[test]
fn the_headline_names_failed_gates_and_completely_failed_families() {
    let origin = Origin::start();
    let [v6, _] = origin.urls("/bytes/10");
    let [_, v4] = origin.urls("/status/503");
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html").to_str().unwrap().to_owned();
    let gate = "ipv6.response.p50 > 0.5ns";
    let output = sixmark(&["run", "-n", "40", "--fail-if", gate, "--html", &page, &v6, &v4]);
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines: Vec<&str> = shown.lines().take(2).collect();
    assert!(lines[0].starts_with("FAILED: gate ipv6.response.p50 > 0.5ns: "), "{shown}");
    assert_eq!(lines[1], "FAILED: all 20 requests over IPv4 (status 503).");
    let page = std::fs::read_to_string(page).unwrap();
    let headline = page.split_once("<div class=\"headline not_comparable failed\">").unwrap().1;
    let [gate, family] = ["<code>ipv6.response.p50 &gt; 0.5ns</code>", "all 20 requests over IPv4"]
        .map(|said| headline.find(said).unwrap());
    assert!(gate < family, "{headline}");
}

#[test]
fn a_gate_that_cannot_be_determined_fails_with_a_reason() {
    let origin = Origin::start();
    let [v6, v4] = origin.urls("/bytes/10");
    let load = ["-n", "100", "-c", "2", "--fail-if", "ipv6.tls.p50 > 1s", &v6, &v4];
    let output = sixmark(&[&["run", "--quiet"], &load[..]].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("cannot be determined"), "{said}");
}

#[test]
fn the_document_records_the_outcome_of_each_gate() {
    let origin = Origin::start();
    let [v6, v4] = origin.urls("/bytes/10");
    let document = json(&["-n", "100", "-c", "2", "--fail-if", NEVER, &v6, &v4]);
    assert_eq!(document["gates"][0]["fail_if"], NEVER);
    assert_eq!(document["gates"][0]["failed"], false);
    assert!(document["gates"][0]["because"].as_str().unwrap().contains("ipv6.response.p50 is"));
}

#[test]
fn a_failed_comparison_gate_exits_with_1_and_writes_junit() {
    let origin = Origin::start();
    let [v6, v4] = origin.urls("/bytes/10");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("gates.xml");
    let junit = ["--junit", file.to_str().unwrap(), "--fail-if", "a.wait.p50 > 0.5ns"];
    let load = ["compare", "--quiet", "-n", "20", "-c", "1", "--blocks", "2", &v6, &v4];
    let output = sixmark(&[&load[..], &junit, &["--fail-if", "b.failures > 50%"]].concat());
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let xml = std::fs::read_to_string(&file).unwrap();
    assert!(xml.contains("tests=\"3\" failures=\"1\""), "{xml}");
    assert!(xml.contains("fail if a.wait.p50 &gt; 0.5ns"), "{xml}");
}

#[test]
fn rejects_invalid_conditions_before_sending_anything() {
    let closed = "http://127.0.0.1:1/";
    for (command, gate, why) in [
        ("run", "ipv5.response.p50 > 1ms", "did you mean"),
        ("run", "ipv4.response.p50 > 10", "unit"),
        ("run", "ipv6.response.p50 > 1ms", "ipv6"),
        ("run", "verdict(response.p50) == worse", "use it with sixmark compare"),
        ("compare", "verdict(response.p98) == worse", "response.p98"),
        ("compare", "a.response.p50 >", "column"),
    ] {
        let output = match command {
            "run" => sixmark(&["run", "-4", "-n", "1", "--fail-if", gate, closed]),
            _ => sixmark(&["compare", "--a", "-c 1", "--b", "-c 1", "--fail-if", gate, closed]),
        };
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{gate}: {said}");
        assert!(said.contains(why) && said.lines().count() == 1, "{gate}: {said}");
    }
}

#[test]
fn stores_a_comparison_and_shows_it_from_the_history() {
    let origin = Origin::start();
    let [v6, v4] = origin.urls("/bytes/10");
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store.sqlite");
    let store = store.to_str().unwrap();
    let load = ["compare", "-q", "-n", "20", "-c", "1", "--blocks", "3", "--store", store];
    let output = sixmark(&[&load[..], &[&v6, &v4]].concat());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let listed = sixmark(&["history", "--json", "--store", store]);
    let entry: Value = serde_json::from_slice(&listed.stdout).unwrap();
    assert_eq!(entry["kind"], "comparison");
    let shown = sixmark(&["history", "show", "last", "--store", store]);
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.contains("3 pairs of blocks of 20 requests"), "{shown}");
}
