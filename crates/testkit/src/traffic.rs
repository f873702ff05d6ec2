//! The documents of background traffic.

use std::process::Output;

use serde_json::Value;

use crate::forms;

/// Returns the document on the standard output of a `sixmark traffic` that succeeded or was
/// interrupted.
pub fn traffic_document(output: &Output) -> Value {
    let said = String::from_utf8_lossy(&output.stderr);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let status = if document["ended"] == "interrupted" { 130 } else { 0 };
    assert_eq!(output.status.code(), Some(status), "{said}");
    forms::TRAFFIC.check(&document);
    document
}

/// Returns the number of messages that a flow offered, sent or received, as named by `what`.
pub fn messages(figures: &Value, what: &str) -> u64 {
    figures[what]["messages"].as_u64().unwrap()
}
