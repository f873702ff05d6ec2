//! Statuses that count as failures, and `--accept-status`.

use serde_json::{Value, json as value};
use sixmark_testkit::{Origin, json, sixmark};

/// The document of a run of 40 requests over both families, one of two paths each.
fn loaded(origin: &Origin, options: &[&str], v6: &str, v4: &str) -> Value {
    let [v6, v4] = [origin.urls(v6)[0].clone(), origin.urls(v4)[1].clone()];
    json(&[&["-n", "40", "-c", "2"], options, &[&v6, &v4]].concat())
}

#[test]
fn counts_error_statuses_as_complete_responses_and_failures() {
    let origin = Origin::start();
    let gate = ["--fail-if", "ipv6.failures > 0.1%", "--fail-if", "ipv4.failures > 0.1%"];
    for (status, options, failed) in [
        ("503", &[][..], true),
        ("404", &[], true),
        ("304", &[], false),
        ("404", &["--accept-status", "200-299,404"], false),
        ("404", &["--accept-status", "4xx"], false),
        ("200", &["--accept-status", "4xx"], true),
        ("404", &["--expect", "status=404"], false),
    ] {
        let path = format!("/status/{status}");
        let [v6, _] = origin.urls(&path);
        let options = [options, &gate[..2], &["--store", "none", "-6"]].concat();
        let load = [&["run", "-q", "--json", "-", "-n", "20", "-c", "2"], &options[..], &[&v6]];
        let output = sixmark(&load.concat());
        let result: Value = serde_json::from_slice(&output.stdout).unwrap();
        let figures = &result["families"]["ipv6"];
        assert_eq!(figures["outcomes"], value!({"NORMAL": 20}), "{status} {options:?}");
        assert_eq!(figures["requests"]["unaccepted"], if failed { 20 } else { 0 });
        assert_eq!(result["gates"][0]["failed"], failed, "{status} {options:?}");
        assert_eq!(output.status.code(), Some(if failed { 3 } else { 0 }), "{output:?}");
    }
    let result = loaded(&origin, &gate, "/status/503", "/bytes/100");
    assert_eq!(result["families"]["ipv6"]["requests"]["unaccepted"], 20);
    assert_eq!(result["families"]["ipv4"]["requests"]["unaccepted"], 0);
    assert_eq!([&result["gates"][0]["failed"], &result["gates"][1]["failed"]], [true, false]);
    let intervals = result["intervals"].as_array().unwrap();
    let seconds = intervals.iter().map(|second| &second["families"]["ipv6"]["unaccepted"]);
    assert_eq!(seconds.map(|number| number.as_u64().unwrap()).sum::<u64>(), 20);
}

#[test]
fn exits_with_status_3_if_a_family_answers_only_with_errors() {
    let origin = Origin::start();
    let [sick, _] = origin.urls("/status/503");
    let [_, fine] = origin.urls("/bytes/100");
    let output = sixmark(&["run", "-n", "40", "-c", "2", &sick, &fine]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("IPv6 answers 503 to every request (20 of 20)"), "{said}");
    assert!(said.contains("--accept-status 503"), "{said}");
    let load = ["compare", "-q", "-n", "20", "-c", "1", "--blocks", "2"];
    let output = sixmark(&[&load[..], &["--a", &fine, "--b", &sick, "--name-b", "sick"]].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    // The first pair decided.
    assert!(said.contains("sick answers 503 to every request (20 of 20)"), "{said}");
}

#[test]
fn rejects_an_invalid_accept_status() {
    let output = sixmark(&["run", "--accept-status", "20x", "http://127.0.0.1:1/"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("'20x' is not a status code, range or class"), "{said}");
}
