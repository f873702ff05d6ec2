//! The document's published form.

use std::collections::BTreeSet;

use serde_json::json;
use sixmark_testkit::forms::VITALS;
use sixmark_testkit::vitals::Watching;

const PAGE: &str = include_str!("../../../../../docs/vitals.md");

#[test]
fn schema_and_documentation_cover_every_field() {
    assert!(jsonschema::meta::is_valid(&VITALS.schema()));
    let pid = std::process::id().to_string();
    let mut watching = Watching::start(&["--pid", &pid]);
    (0..3).for_each(|_| drop(watching.next_line()));
    let good = watching.end();
    VITALS.knows_every_field(&good, |path| path.ends_with("sysctls"));
    let validator = VITALS.validator();
    for (path, wrong) in [
        ("/schema", json!("sixmark.vitals/2")),
        ("/change/host/cpu/user_us", json!(-1)),
        ("/change/network/sockets", json!(7)),
        ("/change/groups/0/kind", json!("crowd")),
    ] {
        let mut bad = good.clone();
        *bad.pointer_mut(path).unwrap() = wrong;
        assert!(!validator.is_valid(&bad), "{path}");
    }
    let schema = VITALS.schema();
    // What documents have in common is explained with a run's.
    let shared = ["Environment", "RouteTaken", "Tool", "Warning"];
    let defs = schema["$defs"].as_object().unwrap().iter();
    let own = defs.filter(|(name, _)| !shared.contains(&name.as_str())).map(|(_, def)| def);
    let all = own.chain([&schema]).filter_map(|def| def["properties"].as_object());
    let fields: BTreeSet<&String> = all.flat_map(serde_json::Map::keys).collect();
    assert!(fields.len() > 100, "{fields:?}");
    for field in fields.iter().filter(|field| !["ipv6", "ipv4"].contains(&field.as_str())) {
        assert!(PAGE.contains(&format!("| `{field}` |")), "docs/vitals.md lacks {field}");
    }
}

#[test]
fn every_warning_is_explained() {
    let source = include_str!("../../../../vitals/src/warnings.rs");
    let calls = source.split("warning(\"").skip(1).filter_map(|call| call.split('"').next());
    let codes: BTreeSet<&str> = calls.collect();
    assert!(codes.contains("vitals_apart"), "{codes:?}");
    for code in codes {
        assert!(PAGE.contains(&format!("| `{code}` |")), "{code}");
    }
}

#[test]
fn csv_samples_written_before_a_kill_survive_it() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let path = file.path().to_str().unwrap();
    let mut watching = Watching::start(&["--interval", "20ms", "--csv", path]);
    (0..3).for_each(|_| drop(watching.next_line()));
    watching.kill();
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = text.lines();
    let names = lines.next().unwrap();
    assert!(names.contains("network.families.ipv6.in_octets"), "{names}");
    let columns = names.split(',').count();
    let whole = lines.filter(|line| line.split(',').count() == columns).count();
    // The line of the last sample may have been next.
    assert!(whole >= 2, "{whole} lines");
}

#[test]
fn a_short_measurement_has_all_its_samples() {
    let mut watching = Watching::start(&["--socket-cpu", "100"]);
    (0..5).for_each(|_| drop(watching.next_line()));
    let document = watching.end();
    let samples = document["samples"].as_array().unwrap();
    assert!(samples.len() >= 5, "{}", samples.len());
    assert_eq!(document["taken"], samples.len());
    assert!(samples.iter().any(|sample| !sample["network"]["sockets"].is_null()));
}
