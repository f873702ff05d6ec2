//! The study of clients: curl, in the networks of its cases.

use std::fs;

use serde_json::Value;
use sixmark_testkit::sixmark;
use sixmark_testkit::study::fine;

#[test]
fn lazy_eye_finds_what_curl_does_and_keeps_a_document_and_a_page() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("kept");
    let shown = out.to_str().unwrap();
    let words = ["study", "run", "lazy-eye", "--quick", "--only", "curl,curl-500", "--seed", "3"];
    let text = fine(&sixmark(&[&words[..], &["--store", "none", "--out", shown]].concat()));
    assert!(text.contains("MEASURED AND PUBLISHED"), "{text}");
    let document = fs::read_to_string(out.join("study.json")).unwrap();
    let document: Value = serde_json::from_str(&document).unwrap();
    assert_eq!(document["schema"], "sixmark.eyes-study/1");
    let clients = document["clients"].as_array().unwrap();
    let names: Vec<&str> = clients.iter().map(|of| of["client"].as_str().unwrap()).collect();
    assert_eq!(names, ["curl", "curl-500"]);
    assert!(clients[0]["version"].as_str().unwrap().starts_with("curl "));
    let traits = &clients[0]["traits"];
    // All starts ask and begin with IPv6, and none waits for IPv6 alone.
    for (name, shown) in [("asked", 2), ("over_ipv6", 2), ("stayed", 0)] {
        assert_eq!(traits[name], serde_json::json!({ "shown": shown, "of": 2 }), "{name}");
    }
    // A timer is never early; how late it is depends on the machine.
    let least = |at: usize| {
        let delays = clients[at]["traits"]["attempt_delays_ms"].as_array().unwrap();
        assert_eq!(delays.len(), 2);
        delays.iter().map(|ms| ms.as_f64().unwrap()).fold(f64::INFINITY, f64::min)
    };
    assert!((195.0..500.0).contains(&least(0)) && least(1) >= 495.0, "{clients:#?}");
    let page = fs::read_to_string(out.join("report.html")).unwrap();
    assert!(page.contains("Lazy Eye Inspection"));
    assert_eq!(fine(&sixmark(&["study", "show", shown])), text);
    let claims = fine(&sixmark(&["study", "claims", shown]));
    assert!(claims.contains("curl prefers IPv6"), "{claims}");
}
