//! The lists of what is linked in.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use super::tree::{command, complaint, root, said};

fn list(words: &[&str]) -> String {
    said(command(root().join("scripts/third-party"), &root()).args(words))
}

#[test]
fn licences_and_sbom_name_each_linked_crate_and_the_c_libraries() {
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
fn only_package_lists_include_the_nats_server_modules() {
    let target = ["--target", "x86_64-unknown-linux-musl"];
    let packaged = |what: &str| list(&[&[what], &target[..]].concat());
    let kept = fs::read_to_string(root().join("packaging/nats-server.json")).unwrap();
    let kept: Value = serde_json::from_str(&kept).unwrap();
    let (licences, sbom) = (packaged("licences"), packaged("sbom"));
    assert!(!list(&["licences"]).contains("nats-server"));
    let sbom: Value = serde_json::from_str(&sbom).unwrap();
    let modules = kept["modules"].as_array().unwrap();
    assert!(modules.len() >= 5, "{modules:?}");
    for module in modules {
        let word = |name: &str| module[name].as_str().unwrap();
        let listed = format!("\n{} {} ", word("path"), word("version"));
        assert_eq!(licences.matches(&listed).count(), 1, "{listed}");
        let purl = format!("pkg:golang/{}@{}", word("path"), word("version"));
        let mut components = sbom["components"].as_array().unwrap().iter();
        let found = components.find(|of| of["purl"] == *purl).unwrap_or_else(|| panic!("{purl}"));
        assert_eq!(found["licenses"][0]["expression"], module["licence"]);
        assert_eq!(found["hashes"][0]["content"].as_str().unwrap().len(), 64, "{found}");
    }
    let references = sbom["components"].as_array().unwrap().iter().map(|of| &of["bom-ref"]);
    let references: Vec<&str> = references.map(|of| of.as_str().unwrap()).collect();
    let once: BTreeSet<&str> = references.iter().copied().collect();
    assert_eq!(once.len(), references.len(), "each once");
    assert!(licences.contains("Apache License") && licences.contains("The Go Authors"));
}

/// What Go writes into a program, with other modules than those of the list.
#[test]
fn detects_a_nats_server_built_from_other_modules_than_listed() {
    let folder = tempfile::tempdir().unwrap();
    let check = |modules: &[(&str, &str, &str)]| {
        let line = |(at, (path, version, sum)): (usize, &(&str, &str, &str))| {
            let kind = if at == 0 { "mod" } else { "dep" };
            format!("{kind}\t{path}\t{version}\t{sum}\n")
        };
        let file = folder.path().join("nats-server");
        let text: String = modules.iter().enumerate().map(line).collect();
        fs::write(&file, format!("\u{7f}ELF\n{text}build\tGOOS=linux\n")).unwrap();
        let mut script = command(root().join("scripts/third-party"), &root());
        script.arg("check-server").arg(file).output().unwrap()
    };
    let kept = fs::read_to_string(root().join("packaging/nats-server.json")).unwrap();
    let kept: Value = serde_json::from_str(&kept).unwrap();
    let listed: Vec<(&str, &str, &str)> =
        kept["modules"].as_array().unwrap().iter().map(triple).collect();
    let output = check(&listed);
    assert!(output.status.success(), "{}", complaint(&output));
    let more = ("example.net/more", "v1.0.0", "h1:AAAA");
    for wrong in [&listed[..2], &[&listed[..], &[more]].concat()[..], &[more], &[]] {
        let output = check(wrong);
        assert_eq!(output.status.code(), Some(1), "{wrong:?}");
        assert_eq!(complaint(&output).lines().count(), 1, "{}", complaint(&output));
    }
}

fn triple(module: &Value) -> (&str, &str, &str) {
    let word = |name: &str| module[name].as_str().unwrap();
    (word("path"), word("version"), word("sum"))
}

#[test]
fn detects_linked_libraries_missing_from_the_licences() {
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
