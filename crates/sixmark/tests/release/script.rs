//! `scripts/release`, in a copy of the tree, with a stub in place of `make dist`.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::Value;
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use super::tree::{command, complaint, copy_tree, git, said};

const NEXT: &str = "100.0.0";

/// A copy of the tree for which `.ci/run` has passed.
struct Fixture {
    folder: TempDir,
}

impl Fixture {
    fn new() -> Fixture {
        let fixture = Fixture { folder: tempfile::tempdir().unwrap() };
        copy_tree(&fixture.tree());
        let stub = fixture.folder.path().join("dist");
        fs::write(
            &stub,
            "#!/bin/sh\nmkdir -p target/dist\necho binary > target/dist/sixmark.tar.gz\n",
        )
        .unwrap();
        fs::set_permissions(&stub, fs::Permissions::from_mode(0o755)).unwrap();
        fs::create_dir(fixture.tree().join("target")).unwrap();
        fixture.pass_ci();
        fixture
    }

    fn tree(&self) -> PathBuf {
        self.folder.path().join("sixmark")
    }

    fn pass_ci(&self) {
        fs::write(self.tree().join("target/ci-passed"), self.head()).unwrap();
    }

    fn head(&self) -> String {
        git(&self.tree(), &["rev-parse", "HEAD"])
    }

    fn artifacts(&self, name: &str) -> PathBuf {
        self.tree().join("target/releases").join(name)
    }

    fn release(&self, words: &[&str]) -> Output {
        let mut script = command(self.tree().join("scripts/release"), &self.tree());
        script.env("SIXMARK_DIST_COMMAND", self.folder.path().join("dist"));
        script.args(words).output().unwrap()
    }

    fn released(&self, words: &[&str]) {
        let output = self.release(words);
        assert!(output.status.success(), "{words:?}: {}", complaint(&output));
    }

    /// The line with which the script refuses.
    fn refused(&self, words: &[&str]) -> String {
        let output = self.release(words);
        let complaint = complaint(&output);
        assert_eq!(output.status.code(), Some(1), "{words:?}: {complaint}");
        assert_eq!(complaint.lines().count(), 1, "{words:?}: {complaint}");
        complaint
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.tree().join(name)).unwrap()
    }
}

#[test]
fn a_dry_run_makes_everything_and_changes_nothing() {
    let fixture = Fixture::new();
    let head = fixture.head();
    fixture.released(&["--dry-run", NEXT]);
    assert_eq!((fixture.head(), git(&fixture.tree(), &["tag"])), (head, String::new()));
    assert_eq!(git(&fixture.tree(), &["status", "--porcelain"]), "");
    check_artifacts(&fixture.artifacts("v100.0.0-dry-run"), None);
    let change = fs::read_to_string(fixture.artifacts("v100.0.0-dry-run.diff")).unwrap();
    for line in ["+version = \"100.0.0\"", "+## 100.0.0 - 20"] {
        assert!(change.contains(&format!("\n{line}")), "{line}: {change}");
    }
}

#[test]
fn a_release_makes_one_commit_with_matching_tag_and_artifacts() {
    let fixture = Fixture::new();
    let before = fixture.head();
    fixture.released(&[NEXT]);
    let head = fixture.head();
    assert_eq!(git(&fixture.tree(), &["rev-parse", "v100.0.0^{commit}"]), head);
    assert_eq!(git(&fixture.tree(), &["rev-parse", "HEAD^"]), before);
    assert_eq!(git(&fixture.tree(), &["status", "--porcelain"]), "");
    check_versions(&fixture);
    check_artifacts(&fixture.artifacts("v100.0.0"), Some(&head));
    fixture.released(&["--skip-build", NEXT]);
    assert_eq!(fixture.head(), head, "there is no second commit");
    check_artifacts(&fixture.artifacts("v100.0.0"), Some(&head));
}

/// Manifests, locks and the changelog have the new version.
fn check_versions(fixture: &Fixture) {
    let metadata = ["metadata", "--locked", "--no-deps", "--format-version", "1"];
    let metadata = said(command(env!("CARGO"), &fixture.tree()).args(metadata));
    let metadata: Value = serde_json::from_str(&metadata).unwrap();
    for package in metadata["packages"].as_array().unwrap() {
        assert_eq!(package["version"], NEXT, "{}", package["name"]);
        for dependency in package["dependencies"].as_array().unwrap() {
            let name = dependency["name"].as_str().unwrap();
            if name.starts_with("sixmark-") && name != "sixmark-testkit" {
                assert_eq!(dependency["req"], format!("^{NEXT}"), "{name}");
            }
        }
    }
    for lock in ["Cargo.lock", "fuzz/Cargo.lock"] {
        let text = fixture.read(lock);
        let own = text.split("[[package]]").filter(|of| of.contains("\nname = \"sixmark"));
        let old: Vec<&str> = own.filter(|of| !of.contains("\nversion = \"100.0.0\"")).collect();
        assert!(old.iter().all(|of| of.contains("sixmark-fuzz")), "{lock}: {old:?}");
    }
    let changelog = fixture.read("CHANGELOG.md");
    let headings: Vec<&str> = changelog.lines().filter(|line| line.starts_with("## ")).collect();
    assert!(
        headings[0] == "## Unreleased" && headings[1].starts_with("## 100.0.0 - 20"),
        "{headings:?}"
    );
    assert!(changelog.contains("## Unreleased\n\n## 100.0.0"), "nothing is left below Unreleased");
}

/// Checksums, SBOM, licences and provenance say the same of the files.
fn check_artifacts(folder: &Path, commit: Option<&str>) {
    said(command("sha256sum", folder).args(["--strict", "--quiet", "-c", "SHA256SUMS"]));
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let of_version = |end: &str| format!("sixmark-{NEXT}.{end}");
    let (sbom, provenance) = (of_version("cdx.json"), of_version("provenance.json"));
    let expected =
        ["SHA256SUMS", "THIRD-PARTY-LICENSES", "install.sh", &sbom, &provenance, "sixmark.tar.gz"];
    assert_eq!(names, expected);
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    assert_eq!(read("SHA256SUMS").lines().count(), names.len() - 1);
    let sbom: Value = serde_json::from_str(&read(&sbom)).unwrap();
    assert_eq!(sbom["metadata"]["component"]["version"], NEXT);
    assert!(read("THIRD-PARTY-LICENSES").contains("\nmusl  "));
    let installer = read("install.sh");
    assert!(installer.contains(&format!("\nversion={NEXT}\n")), "{installer}");
    assert!(installer.contains("/releases/download\n"), "{installer}");
    let provenance: Value = serde_json::from_str(&read(&provenance)).unwrap();
    assert_eq!(provenance["_type"], "https://in-toto.io/Statement/v1");
    let subjects = provenance["subject"].as_array().unwrap();
    assert_eq!(subjects.len(), 4, "all but the provenance itself and the checksums");
    for subject in subjects {
        let content = fs::read(folder.join(subject["name"].as_str().unwrap())).unwrap();
        let digest: String =
            Sha256::digest(&content).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(subject["digest"]["sha256"], digest, "{subject}");
    }
    let materials = &provenance["predicate"]["buildDefinition"]["resolvedDependencies"];
    let built_from = materials[0]["digest"]["gitCommit"].as_str().unwrap();
    assert!(built_from.len() >= 40 && commit.is_none_or(|commit| commit == built_from));
}

#[test]
fn rejects_an_unready_release_in_one_line() {
    let fixture = Fixture::new();
    for (words, why) in [
        (&[][..], "which version?"),
        (&["next"], "which version?"),
        (&["0.0.1"], "0.0.1 is older than"),
        (&["--force", NEXT], "unknown option --force"),
        (&["--skip-build", NEXT], "leave --skip-build out"),
    ] {
        let said = fixture.refused(words);
        assert!(said.contains(why), "{words:?}: {said}");
    }
    assert_eq!(git(&fixture.tree(), &["status", "--porcelain"]), "", "nothing has been changed");
    fs::create_dir(fixture.tree().join("target/dist")).unwrap();
    let said = fixture.refused(&["--skip-build", NEXT]);
    assert!(said.contains("was not built from the commit of 100.0.0"), "{said}");
    fs::write(fixture.tree().join("README.md"), "changed").unwrap();
    assert!(fixture.refused(&[NEXT]).contains("not committed"));
    git(&fixture.tree(), &["commit", "--quiet", "-a", "-m", "Change"]);
    assert!(fixture.refused(&[NEXT]).contains(".ci/run passed for"));
    fs::remove_file(fixture.tree().join("target/ci-passed")).unwrap();
    assert!(fixture.refused(&[NEXT]).contains(".ci/run has not passed here"));
    fixture.pass_ci();
    git(&fixture.tree(), &["tag", "v100.0.0", "HEAD^"]);
    assert!(fixture.refused(&[NEXT]).contains("is a tag of another commit"));
}
