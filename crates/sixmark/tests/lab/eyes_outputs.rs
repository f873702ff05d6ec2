//! What `sixmark eyes` writes of a real client: document, page, test report, and the exit status of gates.

use std::fs;

use serde_json::Value;
use sixmark_testkit::forms::EYES;
use sixmark_testkit::{complaint, sixmark, skipped};

#[test]
fn curl_is_held_by_gates_and_written_in_each_form() {
    if skipped("netns") || skipped("curl") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (json, html, junit) = (path("eyes.json"), path("eyes.html"), path("eyes.xml"));
    let files = ["--json", &json, "--html", &html, "--junit", &junit];
    // It begins the next attempt after 200 ms.
    let gates = ["--gate", "survives(dead-ipv6)", "--gate", "attempt_delay < 100ms"];
    let client = ["--", "curl", "-s", "-o", "/dev/null"];
    let begin = ["eyes", "--cases", "healthy,dead-ipv6", "--repeat", "1"];
    let output = sixmark(&[&begin[..], &gates, &files, &client].concat());
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(
        output.status.code(),
        Some(1),
        "{said}{:?}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(said.contains("FAILED: gate attempt_delay < 100ms: attempt_delay is"), "{said}");
    let document: Value = serde_json::from_str(&fs::read_to_string(&json).unwrap()).unwrap();
    EYES.check(&document);
    let failed: Vec<bool> =
        document["gates"].as_array().unwrap().iter().map(|of| of["failed"] == true).collect();
    assert_eq!(failed, [false, true]);
    assert_eq!(
        fs::read_to_string(&html).unwrap().matches("<figure class=\"timeline\">").count(),
        2
    );
    let suite = fs::read_to_string(&junit).unwrap();
    assert!(suite.contains("name=\"--gate attempt_delay &lt; 100ms\""), "{suite}");
    assert!(suite.contains("failures=\"1\""), "{suite}");
}

#[test]
fn a_gate_on_a_case_that_is_omitted_is_refused_before_the_client_starts() {
    let output = sixmark(&[
        "eyes",
        "--cases",
        "healthy",
        "--gate",
        "survives(dead-ipv6)",
        "--",
        "/no/such/client",
    ]);
    let said = complaint(&output, 2);
    assert!(
        said.contains(
            "--gate 'survives(dead-ipv6)': column 10: no case is called 'dead-ipv6' here"
        ),
        "{said}"
    );
}
