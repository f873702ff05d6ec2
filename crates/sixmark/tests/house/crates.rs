//! Crates use each other as the map says.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use super::sources::crates;

/// Crates by name, with those that each may use.
type Map = BTreeMap<String, BTreeSet<String>>;

#[test]
fn crate_dependencies_match_the_architecture_map() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/architecture.md");
    let drawn = read_map(&fs::read_to_string(page).unwrap());
    let found: Map = crates()
        .into_iter()
        .map(|(name, folder)| {
            let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
            (name, used_crates(&manifest))
        })
        .collect();
    assert_eq!(drawn, found, "docs/architecture.md and the crates' manifests differ");
}

/// Rows such as "| `load` | what it is | `http`, `sys` |".
fn read_map(page: &str) -> Map {
    let quoted = |cell: &str| -> BTreeSet<String> {
        cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
    };
    let row = |line: &str| {
        let cells: Vec<&str> = line.split('|').collect();
        let [_, name, _, uses, _] = cells.as_slice() else { return None };
        Some((quoted(name).into_iter().next()?, quoted(uses)))
    };
    let lines = page.lines().skip_while(|line| !line.starts_with("| crate"));
    lines.take_while(|line| line.starts_with('|')).filter_map(row).collect()
}

/// What a crate uses but for its tests.
fn used_crates(manifest: &str) -> BTreeSet<String> {
    let manifest: toml::Table = manifest.parse().unwrap();
    let names = manifest["dependencies"].as_table().unwrap().keys();
    names.filter_map(|name| Some(name.strip_prefix("sixmark-")?.to_owned())).collect()
}
