//! The packages of the crates.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::tree::{command, git, root, said};

/// Whoever installs from a registry gets the packages and nothing else of the tree.
#[test]
fn sixmark_is_installed_from_a_registry_of_its_packages() {
    let folder = tempfile::tempdir().unwrap();
    // Cargo writes it into the package.
    let commit = git(&root(), &["rev-parse", "HEAD"]);
    said(command(root().join("scripts/package-check"), &root()).arg(folder.path()));
    let installed = |words: &[&str]| {
        said(
            Command::new(folder.path().join("bin/sixmark"))
                .args(words)
                .env("SIXMARK_STORE", "none"),
        )
    };
    let version = concat!("sixmark ", env!("CARGO_PKG_VERSION"), "\n");
    assert_eq!(installed(&["--version"]), version);
    let all = installed(&["--version", "--verbose"]);
    assert!(all.starts_with(version), "{all}");
    assert!(all.contains(&format!("\ncommit: {commit}")), "{all}");
    assert!(all.contains("\nprofile: debug\n") && all.contains("\nrustls: "), "{all}");
    let studies = installed(&["study", "list"]);
    assert!(studies.contains("anma") && studies.contains("towson"), "{studies}");
    each_has_its_licences_and_a_readme(&folder.path().join("packages/package"));
}

fn each_has_its_licences_and_a_readme(packages: &Path) {
    let entries = fs::read_dir(packages).unwrap().map(|entry| entry.unwrap().path());
    let archives: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|end| end == "crate")).collect();
    assert!(archives.len() >= 20, "{archives:?}");
    for archive in archives {
        let listed = said(Command::new("tar").arg("-tzf").arg(&archive));
        for name in ["LICENSE-MIT", "LICENSE-APACHE", "README.md", ".cargo_vcs_info.json"] {
            assert!(
                listed.lines().any(|line| line.ends_with(&format!("/{name}"))),
                "{archive:?}: {name}"
            );
        }
        assert!(!listed.contains("/tests/data/") && !listed.contains(".snap"), "{archive:?}");
        let size = fs::metadata(&archive).unwrap().len();
        assert!(size < 1_000_000, "{archive:?} has {size} bytes");
    }
}
