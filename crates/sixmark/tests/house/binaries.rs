//! Every binary of tests is run by `make test` and has its row in CONTRIBUTING.md.

use std::fs;
use std::path::Path;

/// The names of the binaries that `cargo test` leaves out.
fn left_out() -> Vec<String> {
    let manifest = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")).unwrap();
    let manifest: toml::Table = manifest.parse().unwrap();
    let tests = manifest["test"].as_array().unwrap().iter();
    let left_out = tests.filter(|test| test["test"].as_bool() == Some(false));
    left_out.map(|test| test["name"].as_str().unwrap().to_owned()).collect()
}

/// The names of all binaries: the files and the folders with a main file among this crate's tests.
fn binaries() -> Vec<String> {
    let entries = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests")).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let binaries = paths.filter(|path| path.is_file() || path.join("main.rs").exists());
    binaries.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect()
}

fn page(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    fs::read_to_string(root.join(name)).unwrap()
}

#[test]
fn make_test_runs_every_test_binary_and_contributing_lists_it() {
    let (makefile, contributing, names) = (page("Makefile"), page("CONTRIBUTING.md"), binaries());
    assert!(names.len() >= 7, "{names:?}");
    for name in &names {
        assert!(contributing.contains(&format!("`{name}`")), "CONTRIBUTING.md has no `{name}`");
    }
    for name in left_out() {
        assert!(names.contains(&name), "no folder has the tests of {name}");
        let words = format!("--test {name}");
        assert!(makefile.contains(&words), "make test leaves {name} out");
        assert!(contributing.contains(&words), "CONTRIBUTING.md has no command for {name}");
    }
}
