//! Running `sixmark watch` on capture files.

use std::path::Path;

use serde_json::Value;

use crate::{document, sixmark};

/// Runs `sixmark watch` on a file. Returns its document and the codes of its warnings.
pub fn watched(file: &Path, more: &[&str]) -> (Value, Vec<String>) {
    let file = file.to_str().unwrap();
    let output = sixmark(&[&["watch", "-r", file, "--json", "-", "-q"], more].concat());
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let document = document(&output);
    check_account(&document);
    coded(document)
}

/// Fails if a document does not account for every packet, as one of a connection or by its kind.
pub fn check_account(document: &Value) {
    let watched = &document["watched"];
    let number = |value: &Value| value.as_u64().expect("a number of packets");
    let others = watched["not_followed"].as_object().expect("packets by kind");
    let others: u64 = others.values().map(number).sum();
    assert_eq!(number(&watched["packets"]), number(&watched["followed"]) + others, "{watched}");
    let of_family = |family: &Value| {
        number(&family["from_client"]["packets"]) + number(&family["from_server"]["packets"])
    };
    let families = watched["families"].as_object().expect("families").values();
    let followed: u64 = families.filter(|family| family.is_object()).map(of_family).sum();
    assert_eq!(number(&watched["followed"]), followed, "{watched}");
}

/// Returns a document and the codes of its warnings.
fn coded(document: Value) -> (Value, Vec<String>) {
    let warnings = document["warnings"].as_array().unwrap().iter();
    let codes = warnings.map(|warning| warning["code"].as_str().unwrap().to_owned()).collect();
    (document, codes)
}
