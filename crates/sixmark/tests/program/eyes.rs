//! The document of `sixmark eyes`, as one that was recorded has it. After its form changed it is recorded anew, in four
//! minutes: `sixmark eyes --repeat 3 --gate 'attempt_delay < 300ms' --gate 'survives(dead-ipv6)' --json
//! crates/sixmark/tests/data/eyes.json -- curl -s -o /dev/null`.

use serde_json::Value;
use sixmark_testkit::forms::EYES;
use sixmark_testkit::{complaint, sixmark};

#[test]
fn a_recorded_document_has_all_fields_of_the_published_form_and_no_other() {
    let document: Value = serde_json::from_str(include_str!("../data/eyes.json")).unwrap();
    EYES.check(&document);
    EYES.knows_every_field(&document, |path| path.starts_with("/environment"));
}

#[test]
fn mistakes_in_gates_are_refused_before_anything_starts() {
    for (gate, expected) in [
        (
            "survives(dead-ipv5)",
            "column 10: no case is called 'dead-ipv5' here: did you mean 'dead-ipv6' or",
        ),
        ("met(least)", "column 5: no clause is called 'least' here"),
        ("attempt_delay < 300", "column 17: attempt_delay is a time: give 300 a unit, as in 300ms"),
        ("content < 1s", "column 1: content takes a case, as in content(healthy)"),
    ] {
        let said = complaint(&sixmark(&["eyes", "--gate", gate, "--", "/no/such/client"]), 2);
        assert!(said.contains(&format!("--gate '{gate}': {expected}")), "{said}");
    }
}

#[test]
fn files_that_cant_be_written_are_refused_before_anything_starts() {
    for files in [["--html", "/"], ["--junit", "/no/such/folder/x"], ["--json", "/"]] {
        let output = sixmark(&[&["eyes"][..], &files, &["--", "/no/such/client"]].concat());
        let _ = complaint(&output, 2);
    }
    let both = ["eyes", "--json", "-", "--junit", "-", "--", "/no/such/client"];
    assert!(complaint(&sixmark(&both), 2).contains("two documents"));
}
