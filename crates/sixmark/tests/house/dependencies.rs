//! Every dependency of a crate is used by it, and one that only tests use is a `dev-dependency`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::modules::{after_item, ident, is_punct, is_test_attribute};
use super::sources::{all_sources, crates, files};

/// Which part of a file counts.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    WithoutTests,
    Whole,
}

#[test]
fn every_dependency_is_used_by_its_crate_outside_of_tests() {
    let unused: Vec<String> = crates()
        .iter()
        .flat_map(|(name, folder)| {
            let sources = files(&folder.join("src"));
            let texts: Vec<String> = sources.into_iter().map(|file| file.text).collect();
            let named = name_crates(&texts, Part::WithoutTests);
            let unused = unused_dependencies(&folder.join("Cargo.toml"), "dependencies", &named);
            unused.into_iter().map(move |unused| format!("{name}: {unused}"))
        })
        .collect();
    assert!(
        unused.is_empty(),
        "delete these from [dependencies], or move them to [dev-dependencies] if tests use them: {unused:?}"
    );
}

#[test]
fn every_dependency_of_tests_and_of_fuzz_targets_is_used() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut all = crates();
    all.push(("fuzz".to_owned(), root.join("fuzz")));
    let mut unused = Vec::new();
    for (name, folder) in all {
        let named = name_crates(&all_sources(&folder), Part::Whole);
        for table in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let found = unused_dependencies(&folder.join("Cargo.toml"), table, &named);
            unused.extend(found.iter().map(|unused| format!("{name}: [{table}] {unused}")));
        }
    }
    assert!(unused.is_empty(), "delete these: {unused:?}");
}

#[test]
fn every_dependency_of_the_workspace_is_used_by_a_crate() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let workspace = read_manifest(&root.join("Cargo.toml"));
    let of_crate = |folder: &Path| -> Vec<String> {
        let manifest = read_manifest(&folder.join("Cargo.toml"));
        let tables = ["dependencies", "dev-dependencies", "build-dependencies"];
        tables.iter().flat_map(|table| dependencies(&manifest, table)).collect()
    };
    let used: BTreeSet<String> = crates().iter().flat_map(|(_, folder)| of_crate(folder)).collect();
    let all = workspace["workspace"].as_table().unwrap();
    let unused: Vec<String> =
        dependencies(all, "dependencies").into_iter().filter(|name| !used.contains(name)).collect();
    assert!(unused.is_empty(), "delete these from the Cargo.toml of the workspace: {unused:?}");
}

#[test]
fn finds_the_crates_that_a_source_names_in_every_syntax() {
    for (text, outside, whole) in [
        ("use a::b;", "a", "a"),
        ("use a;", "a", "a"),
        ("use a as b;", "a", "a"),
        ("pub use {a::b, c::d as e};", "a c", "a c"),
        ("use crate::{a::b, c};", "crate", "crate"),
        ("extern crate a;", "a", "a"),
        ("fn f() { crate::a::b(); let c = c.a; }", "crate", "crate"),
        ("#[derive(a::B)] struct C(::d::E);", "a d", "a d"),
        ("fn f() { println!(\"{}\", a::b::<c::D>()) }", "a c", "a c"),
        ("use a::b; #[cfg(test)] mod tests { use c::d; }", "a", "a c"),
        ("#[test] fn f() { a::b() }", "", "a"),
        ("/// a::b\nfn f() { g(\"c::d\") }", "", ""),
    ] {
        for (part, expected) in [(Part::WithoutTests, outside), (Part::Whole, whole)] {
            let expected: BTreeSet<String> =
                expected.split_whitespace().map(str::to_owned).collect();
            assert_eq!(name_crates(&[text.to_owned()], part), expected, "{text}");
        }
    }
}

fn read_manifest(path: &Path) -> toml::Table {
    fs::read_to_string(path).unwrap().parse().unwrap()
}

/// The names in a table of a manifest, and in those of single targets.
fn dependencies(manifest: &toml::Table, table: &str) -> Vec<String> {
    let targets = manifest.get("target").and_then(|targets| targets.as_table());
    let targets = targets.into_iter().flat_map(|targets| targets.values());
    let places = std::iter::once(manifest).chain(targets.filter_map(|target| target.as_table()));
    let tables = places.filter_map(|place| place.get(table).and_then(|table| table.as_table()));
    tables.flat_map(|table| table.keys().cloned()).collect()
}

fn unused_dependencies(manifest: &Path, table: &str, named: &BTreeSet<String>) -> Vec<String> {
    let mut all = dependencies(&read_manifest(manifest), table);
    all.retain(|name| !named.contains(&name.replace('-', "_")));
    all
}

/// The first names of all paths: crates, and modules that are in scope.
fn name_crates(texts: &[String], part: Part) -> BTreeSet<String> {
    let mut named = BTreeSet::new();
    for text in texts {
        let tokens: TokenStream = text.parse().expect("the compiler reads it too");
        add_names(&tokens.into_iter().collect::<Vec<_>>(), part, &mut named);
    }
    named
}

fn add_names(tokens: &[TokenTree], part: Part, named: &mut BTreeSet<String>) {
    let mut at = 0;
    while at < tokens.len() {
        if part == Part::WithoutTests && is_test_attribute(&tokens[at..]) {
            at = after_item(tokens, at + 2);
            continue;
        }
        // What stands behind `::` is part of a path whose first name has been seen, unless
        // nothing stands before it: `::a::b`.
        let inside = at >= 3 && is_colons(&tokens[at - 2..]) && ident(&tokens[at - 3]).is_some();
        match &tokens[at] {
            TokenTree::Group(group) if !(inside && group.delimiter() == Delimiter::Brace) => {
                add_names(&group.stream().into_iter().collect::<Vec<_>>(), part, named);
            }
            TokenTree::Ident(word) if !inside && is_named(tokens, at) => {
                named.insert(word.to_string());
            }
            _ => {}
        }
        at += 1;
    }
}

/// Whether the word begins a path, or is one by itself after `use` or `crate`.
fn is_named(tokens: &[TokenTree], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| ident(&tokens[before]));
    is_colons(&tokens[at + 1..]) || matches!(before.as_deref(), Some("use" | "crate"))
}

fn is_colons(tokens: &[TokenTree]) -> bool {
    matches!(tokens, [first, second, ..] if is_punct(first, ':') && is_punct(second, ':'))
}
