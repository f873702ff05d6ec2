//! The lists of what is linked in.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use super::tree::{command, complaint, root, said};

fn list(words: &[&str]) -> String {
    said(command(root().join("scripts/third-party"), &root()).args(words))
}

#[test]
fn licences_and_the_inventory_name_each_crate_of_the_program_and_the_code_in_c() {
    let [licences, sbom] = ["licences", "sbom"].map(|what| list(&[what]));
    for part in [
        "AWS-LC ",
        "SQLite ",
        "uPlot ",
        "Rust standard library ",
        "rustls ",
        "The author disclaims copyright to this source code",
        "Apache License",
        "Permission is hereby granted, free of charge",
    ] {
        assert!(licences.contains(part), "{part}");
    }
    assert_eq!(list(&["sbom"]), sbom, "the same each time");
    let document: Value = serde_json::from_str(&sbom).unwrap();
    assert_eq!(
        (&document["bomFormat"], &document["specVersion"]),
        (&"CycloneDX".into(), &"1.6".into())
    );
    let components = document["components"].as_array().unwrap();
    let own = &document["metadata"]["component"];
    let references: BTreeSet<&str> =
        components.iter().chain([own]).map(|of| of["bom-ref"].as_str().unwrap()).collect();
    assert_eq!(references.len(), components.len() + 1, "each once");
    for entry in document["dependencies"].as_array().unwrap() {
        let uses = entry["dependsOn"].as_array().unwrap().iter();
        for reference in uses.chain([&entry["ref"]]) {
            assert!(references.contains(reference.as_str().unwrap()), "{reference}");
        }
    }
    let of_registry = |of: &&Value| of["purl"].as_str().unwrap().starts_with("pkg:cargo/");
    for component in components.iter().filter(of_registry) {
        let name = component["name"].as_str().unwrap();
        let own = name.starts_with("sixmark-");
        assert_eq!(component["hashes"][0]["alg"] == "SHA-256", !own, "{component}");
        let line = format!("\n{name} {} ", component["version"].as_str().unwrap());
        assert_eq!(licences.contains(&line), !own, "{line}");
    }
}

#[test]
fn what_is_in_the_binary_and_in_no_list_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    for what in ["licences", "sbom"] {
        fs::write(path(what), list(&[what])).unwrap();
    }
    let check = |licences: &str| {
        let program = env!("CARGO_BIN_EXE_sixmark");
        let mut script = command(root().join("scripts/third-party"), &root());
        script.args(["check", program, &path(licences), &path("sbom")]).output().unwrap()
    };
    let output = check("licences");
    assert!(output.status.success(), "{}", complaint(&output));
    let text = fs::read_to_string(path("licences")).unwrap();
    for name in ["rustls ", "SQLite "] {
        let kept: Vec<&str> = text.lines().filter(|line| !line.starts_with(name)).collect();
        fs::write(path("shorter"), kept.join("\n")).unwrap();
        let output = check("shorter");
        let complaint = complaint(&output);
        assert_eq!(output.status.code(), Some(1), "{complaint}");
        assert!(complaint.contains(name) && complaint.contains("in the licences"), "{complaint}");
        assert_eq!(complaint.lines().count(), 1, "{complaint}");
    }
}
