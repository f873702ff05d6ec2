//! What TLS is asked for on the command line, and how it fails.

mod clients;
mod failures;
mod options;
mod trust;
mod usage;

use serde_json::Value;
use sixmark_testkit::{Origin, json};

const FAMILIES: [&str; 2] = ["ipv6", "ipv4"];

/// The result of a run against `path` of an origin whose authority is trusted.
pub(super) fn trusting(origin: &Origin, path: &str, options: &[&str]) -> Value {
    let [v6, v4] = origin.urls(path);
    json(&[&["--cacert", origin.authority()], options, &[&v6, &v4]].concat())
}

/// The figures of both families.
pub(super) fn both(result: &Value) -> [&Value; 2] {
    FAMILIES.map(|family| &result["families"][family])
}

pub(super) fn warnings(result: &Value) -> Vec<&str> {
    let warnings = result["warnings"].as_array().unwrap().iter();
    warnings.map(|warning| warning["code"].as_str().unwrap()).collect()
}

/// Fails unless this many exchanges of each family ended NORMAL and no others were sent.
pub(super) fn assert_normal(result: &Value, count: u64) {
    for figures in both(result) {
        assert_eq!(figures["outcomes"], serde_json::json!({"NORMAL": count}), "{figures}");
    }
}
