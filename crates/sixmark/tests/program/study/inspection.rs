//! `lazy-eye`, the study of clients, without starting one.

use serde_json::Value;
use sixmark_testkit::study::fine;
use sixmark_testkit::{complaint, sixmark};

#[test]
fn lazy_eye_is_listed_shown_checked_and_has_its_published_table() {
    assert!(fine(&sixmark(&["study", "list"])).contains("lazy-eye"));
    assert!(fine(&sixmark(&["study", "check", "lazy-eye"])).contains("no mistakes found"));
    let quick = fine(&sixmark(&["study", "show", "lazy-eye", "--quick"]));
    assert!(quick.contains("4 clients, 2 times") && quick.contains("takes about"), "{quick}");
    let json = fine(&sixmark(&["study", "reanalyse", "lazy-eye", "--json"]));
    let published: Value = serde_json::from_str(&json).unwrap();
    let row = |name: &str| {
        let rows = published["clients"].as_array().unwrap();
        rows.iter().find(|row| row["client"] == name).unwrap().clone()
    };
    assert_eq!(row("Chromium")["attempt_delay"], "300ms");
    assert_eq!(row("Mozilla Firefox")["aaaa_first"], "No");
    assert_eq!(row("wget")["attempt_delay"], Value::Null);
}

#[test]
fn what_lazy_eye_lacks_is_refused_in_one_line() {
    let refused = |words: &[&str], said: &str| {
        let line = complaint(&sixmark(words), 2);
        assert!(line.contains(said), "{line}");
    };
    refused(&["study", "run", "lazy-eye", "--full"], "lazy-eye has no --full");
    refused(&["study", "run", "lazy-eye", "--until", "decided"], "lazy-eye has no --until");
    refused(&["study", "show", "lazy-eye", "--in-lab"], "always runs in a lab");
    refused(&["study", "run", "anma", "--only", "curl"], "--only names clients of lazy-eye");
    refused(&["study", "run", "lazy-eye", "--only", "lynx"], "possible values");
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("study.json"), "{}").unwrap();
    let out = folder.path().to_str().unwrap();
    refused(&["study", "run", "lazy-eye", "--out", out], "has a study already");
}
