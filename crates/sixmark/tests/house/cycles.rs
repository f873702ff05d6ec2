//! Modules that stand side by side use each other in one direction.

use std::collections::{BTreeMap, BTreeSet};

use super::modules::{ModulePath, Modules};
use super::sources::{SourceFile, crates, files};

/// Who uses whom among the modules of one module, and by which names.
type Uses = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

#[test]
fn modules_form_no_cycle() {
    let mut found = Vec::new();
    for (name, folder) in crates() {
        let modules = Modules::of(&files(&folder.join("src")));
        assert!(!modules.known.is_empty(), "{name} has no modules");
        found.extend(cycles(&modules).into_iter().map(|cycle| format!("{name}: {cycle}")));
    }
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

#[test]
fn finds_module_cycles_however_the_imports_are_written() {
    let file = |module: &str, text: &str| SourceFile {
        module: module.split("::").filter(|name| !name.is_empty()).map(str::to_owned).collect(),
        text: text.to_owned(),
    };
    for (one, other, expected) in [
        ("use crate::b::B;", "", false),
        ("use crate::b::B;", "use crate::a::A;", true),
        ("use super::b::{B, C};", "fn f() -> crate::a::A { todo!() }", true),
        ("fn f() { assert!(super::b::f()) }", "use crate::{a::{self, A}, c};", true),
        ("use crate::b::B;", "#[cfg(test)] mod more { use crate::a::A; }", false),
        ("use crate::b::B;", "mod more { use super::super::a::A; }", true),
        ("use crate::B;", "use crate::a::A;", true),
        ("use crate::D;", "use crate::a::A;", false),
        ("use crate::Other;", "use crate::a::A;", true),
        ("use crate::Renamed;", "use crate::a::A;", false),
    ] {
        let root = file("", "mod a; mod b; pub use b::{B, Renamed as Other};");
        let modules = Modules::of(&[root, file("a", one), file("b", other)]);
        assert_eq!(!cycles(&modules).is_empty(), expected, "{one} {other}");
    }
}

fn cycles(modules: &Modules) -> Vec<String> {
    let parents: BTreeSet<ModulePath> =
        modules.known.iter().filter_map(|path| Some(path.split_last()?.1.to_vec())).collect();
    let cycle = |parent: &ModulePath| {
        let uses = uses_below(modules, parent);
        let edges = uses.iter().flat_map(|(from, all)| all.iter().map(move |to| (from, to)));
        let closed = edges.filter(|(from, (to, _))| reachable(&uses, to).contains(*from));
        let lines: Vec<String> = closed
            .map(|(from, (to, names))| {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                format!("\n  {from} uses {to}: {}", names.join(", "))
            })
            .collect();
        let place = [&["crate".to_owned()], parent.as_slice()].concat().join("::");
        (!lines.is_empty()).then(|| format!("{place}{}", lines.concat()))
    };
    parents.iter().filter_map(cycle).collect()
}

fn uses_below(modules: &Modules, parent: &[String]) -> Uses {
    let child = |path: &[String]| -> Option<String> {
        let name = path.strip_prefix(parent)?.first()?;
        modules.known.contains(&[parent, std::slice::from_ref(name)].concat()).then(|| name.clone())
    };
    let mut uses = Uses::new();
    for (from, to) in &modules.named {
        let to = modules.resolve(to);
        if let (Some(from), Some(used)) = (child(from), child(&to))
            && from != used
        {
            uses.entry(from).or_default().entry(used).or_default().insert(to.join("::"));
        }
    }
    uses
}

fn reachable(uses: &Uses, from: &str) -> BTreeSet<String> {
    let (mut seen, mut next) = (BTreeSet::new(), vec![from.to_owned()]);
    while let Some(name) = next.pop() {
        for to in uses.get(&name).into_iter().flat_map(BTreeMap::keys) {
            if seen.insert(to.clone()) {
                next.push(to.clone());
            }
        }
    }
    seen
}
