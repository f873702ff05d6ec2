//! What the files of packaging/ name agrees with what is built. The packages themselves are tested in `distribution`.

use std::fs;
use std::path::{Path, PathBuf};

const VERSION: &str = env!("CARGO_PKG_VERSION");

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn each_package_has_the_version_of_the_crate() {
    for (name, begin) in [
        ("packaging/install.sh", "version="),
        ("packaging/arch/PKGBUILD", "_version="),
        ("packaging/rpm/sixmark.spec", "%global upstream "),
    ] {
        let text = read(name);
        let found: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix(begin)).collect();
        assert_eq!(found, [VERSION], "{name}: scripts/set-version writes it");
    }
    // It reads the version where it is.
    let flake = read("flake.nix");
    assert!(flake.contains("readFile ./Cargo.toml") && !flake.contains(VERSION), "{flake}");
}

#[test]
fn all_references_to_nats_server_name_the_same_version() {
    let text = read("scripts/install-nats-server");
    let version = text.lines().find_map(|line| line.strip_prefix("version=")).unwrap();
    let kept: serde_json::Value =
        serde_json::from_str(&read("packaging/nats-server.json")).unwrap();
    assert_eq!(kept["version"], version);
    let module = format!("github.com/nats-io/nats-server/v2@v{version}");
    for name in ["crates/fleet/src/engine/nats/program.rs", "docs/fleet.md"] {
        let text = read(name);
        let named = text.matches("nats-server/v2@v").count();
        assert!(named > 0 && text.matches(&module).count() == named, "{name}: {module}");
    }
}

/// cargo-binstall asks for the file that `scripts/package` makes and a release has.
#[test]
fn binstall_metadata_matches_the_release_archive_name() {
    let manifest: toml::Table = read("crates/sixmark/Cargo.toml").parse().unwrap();
    let binstall = &manifest["package"]["metadata"]["binstall"];
    let of = |name: &str| {
        let text = binstall[name].as_str().unwrap();
        let values = [
            ("{ repo }", "REPOSITORY"),
            ("{ version }", "1.2.3"),
            ("{ target-arch }", "aarch64"),
            ("{ bin }", "sixmark"),
            ("{ binary-ext }", ""),
        ];
        values.iter().fold(text.to_owned(), |text, (name, value)| text.replace(name, value))
    };
    assert!(read("scripts/package").contains("name=sixmark-$3-$architecture-linux"));
    let name = "sixmark-1.2.3-aarch64-linux";
    assert_eq!(of("pkg-url"), format!("REPOSITORY/releases/download/v1.2.3/{name}.tar.xz"));
    assert_eq!(of("bin-dir"), format!("{name}/sixmark"));
    assert_eq!(of("pkg-fmt"), "txz");
}

/// The address of the repository is that of whoever publishes.
#[test]
fn the_repository_owner_placeholder_appears_only_once() {
    let place = "crates/sixmark/Cargo.toml";
    let mut folders: Vec<PathBuf> =
        [".github", "action", "docs", "packaging", "scripts"].map(|name| root().join(name)).into();
    let mut files = [
        place,
        "Cargo.toml",
        "README.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "flake.nix",
        "Makefile",
    ]
    .map(|name| root().join(name))
    .to_vec();
    files.push(root().join("crates/sixmark/README.md"));
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    let names = |path: &PathBuf| {
        let bytes = fs::read(path).unwrap();
        String::from_utf8_lossy(&bytes).matches("OWNER/").count()
    };
    let found: Vec<_> = files.iter().filter(|path| names(path) > 0).collect();
    assert_eq!(found, [&root().join(place)]);
    assert_eq!(names(found[0]), 1);
}
