//! The document's published form.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use sixmark_testkit::forms::TRAFFIC;

use super::Far;

const DOUBTS: [&str; 2] = [
    include_str!("../../../../traffic/src/warnings.rs"),
    include_str!("../../../src/cli/traffic/mod.rs"),
];
const PAGE: &str = include_str!("../../../../../docs/traffic.md");

#[test]
fn the_schema_requires_every_field_and_rejects_unknown_ones() {
    assert!(jsonschema::meta::is_valid(&TRAFFIC.schema()));
    let far = Far::start();
    let good = far.traffic(&["--rate", "1M", "-d", "200ms"]);
    TRAFFIC.knows_every_field(&good, |path| path.ends_with("sysctls"));
    let validator = TRAFFIC.validator();
    for (path, wrong) in [
        ("/schema", json!("sixmark.traffic/2")),
        ("/asked/kind", json!("mess")),
        ("/flows/0/from", json!("middle")),
        ("/flows/0/lost", json!(-1)),
        ("/total/received", json!(7)),
    ] {
        let mut bad: Value = good.clone();
        *bad.pointer_mut(path).unwrap() = wrong;
        assert!(!validator.is_valid(&bad), "{path}");
    }
}

#[test]
fn every_warning_is_explained() {
    let words = DOUBTS.iter().flat_map(|text| text.split('"'));
    let codes: BTreeSet<&str> = words
        .filter(|word| word.len() > 4 && word.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'))
        .collect();
    assert!(codes.contains("generator_late") && codes.contains("single_family"));
    for code in codes {
        assert!(PAGE.contains(&format!("| `{code}` |")), "{code}");
    }
}
