//! Records what `sixmark --version --verbose` says of the build: commit, target, profile, compiler and the versions in
//! Cargo.lock. No time of the build and no path: two builds of a commit give the same bytes.

#[path = "build/commit.rs"]
mod commit;
#[path = "build/lock.rs"]
mod lock;

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use commit::CommitFound;

fn main() {
    let folder = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build");
    let found = find_commit(&folder);
    record("COMMIT", &found.commit);
    record("COMMIT_DATE", &found.date);
    record("TARGET", &env::var("TARGET").unwrap_or_default());
    record("PROFILE", &profile());
    record("FEATURES", &features());
    record("RUSTC", &compiler());
    record("LIBRARIES", &libraries(&folder));
}

fn record(name: &str, value: &str) {
    println!("cargo::rustc-env=SIXMARK_BUILD_{name}={value}");
}

/// Finds the commit: of a package Cargo has written it into a file, of a working tree Git knows it.
///
/// A debug build of a working tree does not ask Git: it would be built anew after each commit.
fn find_commit(folder: &Path) -> CommitFound {
    let package = folder.join(".cargo_vcs_info.json");
    if let Ok(text) = std::fs::read_to_string(&package) {
        println!("cargo::rerun-if-changed={}", package.display());
        return commit::of_package(&text);
    }
    let root = folder.join("../..");
    if env::var("PROFILE").as_deref() == Ok("debug") || !root.join(".git").exists() {
        return CommitFound::default();
    }
    for path in commit::watched(&root) {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    commit::of_tree(&root)
}

/// The profile's name: the folder of the target folder that has this build.
fn profile() -> String {
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    // target/PROFILE/build/sixmark-HASH/out
    let name = out.ancestors().nth(3).and_then(Path::file_name);
    name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn features() -> String {
    let names = env::vars().filter_map(|(name, _)| {
        Some(name.strip_prefix("CARGO_FEATURE_")?.to_lowercase().replace('_', "-"))
    });
    let mut names: Vec<String> = names.collect();
    names.sort();
    names.join(" ")
}

/// The compiler, such as `1.95.0 (59807616e 2026-04-14)`.
fn compiler() -> String {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let said = Command::new(rustc).arg("--version").output();
    let text = said.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    let text = text.unwrap_or_default();
    text.strip_prefix("rustc ").unwrap_or(&text).to_owned()
}

/// The libraries and their versions, joined with `;`.
fn libraries(folder: &Path) -> String {
    let places = [folder.join("Cargo.lock"), folder.join("../../Cargo.lock")];
    let Some(path) = places.iter().find(|path| path.exists()) else { return String::new() };
    println!("cargo::rerun-if-changed={}", path.display());
    lock::libraries(&std::fs::read_to_string(path).unwrap_or_default()).join(";")
}
