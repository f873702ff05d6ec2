//! The studies that come with sixmark and need no lab, in their short forms.

use serde_json::Value;
use sixmark_testkit::forms::STUDY;
use sixmark_testkit::study::{assert_complete, fine, read};
use sixmark_testkit::{sixmark, skipped};

/// Its short form to the end: the document.
fn quick(name: &str) -> Value {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let output = sixmark(&["study", "run", name, "--quick", "--out", out.to_str().unwrap()]);
    let text = fine(&output);
    assert!(text.contains("THE PUBLISHED STUDY"), "{text}");
    let document = read(&out.join("study.json"));
    STUDY.check(&document);
    assert_complete(&document);
    for cell in document["cells"].as_array().unwrap() {
        let families = cell["families"].as_object().unwrap();
        assert!(families.values().all(|figures| figures["failed"] == 0.0), "{cell}");
    }
    document
}

#[test]
fn the_quick_anma_study_completes() {
    if skipped("nginx") || skipped("apache") {
        return;
    }
    let document = quick("anma");
    let tables = document["tables"].as_array().unwrap();
    assert_eq!(tables.len(), 4, "two of each server");
    let sent = &tables[0]["rows"][1]["values"][0];
    assert_eq!(
        (&sent["measured"], &sent["published"][0]["printed"]),
        (&1_600.0.into(), &"8001".into())
    );
}

#[test]
fn the_quick_apache_study_completes() {
    if ["nginx", "apache", "ab"].into_iter().any(skipped) {
        return;
    }
    let document = quick("apache");
    let rows = document["tables"][0]["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 8);
    let spoken = |cell: &&Value| cell["command"].to_string().contains("--http1.0");
    let cells = document["cells"].as_array().unwrap();
    assert_eq!(cells.iter().filter(spoken).count(), cells.len() / 4);
}

#[test]
fn the_quick_regensburg_study_completes() {
    if ["apache", "curl", "wget"].into_iter().any(skipped) {
        return;
    }
    let document = quick("regensburg");
    let comparison = &document["comparisons"][0];
    let labels: Vec<_> =
        comparison["entries"].as_array().unwrap().iter().map(|e| &e["label"]).collect();
    assert_eq!(labels, ["sixmark", "curl", "wget"]);
    assert!(comparison["entries"].as_array().unwrap().iter().all(|entry| entry["pairs"] == 7));
    assert_eq!(comparison["published"].as_array().unwrap().len(), 4);
    let lines = document["figures"][0]["series"].as_array().unwrap();
    let published = lines.iter().filter(|line| line["published"] == true).count();
    assert_eq!((lines.len(), published), (14, 8), "three clients here and four systems then");
}
