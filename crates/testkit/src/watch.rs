//! Running `sixmark watch` on capture files.

use std::path::Path;

use serde_json::Value;

use crate::{document, sixmark};

/// Runs `sixmark watch` on a file. Returns its document and the codes of its warnings.
pub fn watched(file: &Path, more: &[&str]) -> (Value, Vec<String>) {
    let file = file.to_str().unwrap();
    let output = sixmark(&[&["watch", "-r", file, "--json", "-", "-q"], more].concat());
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    coded(document(&output))
}

/// Returns a document and the codes of its warnings.
fn coded(document: Value) -> (Value, Vec<String>) {
    let warnings = document["warnings"].as_array().unwrap().iter();
    let codes = warnings.map(|warning| warning["code"].as_str().unwrap().to_owned()).collect();
    (document, codes)
}
