//! Names can be searched for: few free functions have one word as their name, and few types share
//! theirs. Both numbers may only go down.

use std::collections::BTreeMap;

use super::sources::{crates, files};

/// The most free functions whose name is one word, per thousand free functions.
const ONE_WORD_PER_THOUSAND: usize = 380;
/// The most names that several types have.
const SHARED_TYPE_NAMES: usize = 160;

/// Returns the name of the item that a line without indentation declares with this keyword.
fn declared<'a>(line: &'a str, keyword: &str) -> Option<&'a str> {
    let mut rest = match line.strip_prefix("pub") {
        None => line,
        Some(rest) => match rest.strip_prefix('(') {
            Some(rest) => rest.split_once(')').map_or("", |(_, rest)| rest),
            None => rest,
        }
        .trim_start(),
    };
    for qualifier in ["const ", "async ", "unsafe "] {
        rest = rest.strip_prefix(qualifier).unwrap_or(rest);
    }
    let name = rest.strip_prefix(keyword)?.strip_prefix(' ')?;
    let end = name.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(name.len());
    (end > 0).then(|| &name[..end])
}

/// Returns the names declared outside of tests with one of these keywords, and where.
fn names(keywords: &[&str]) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for (name, folder) in crates() {
        for file in files(&folder.join("src")) {
            let place = format!("{name}::{}", file.module.join("::"));
            let text = file.text.split("#[cfg(test)]\nmod tests {").next().unwrap();
            for line in text.lines() {
                let found = keywords.iter().find_map(|keyword| declared(line, keyword));
                all.extend(found.map(|found| (found.to_owned(), place.clone())));
            }
        }
    }
    all
}

#[test]
fn no_more_free_functions_have_a_name_of_one_word() {
    let all = names(&["fn"]);
    let one_word = all.iter().filter(|(name, _)| !name.contains('_') && name != "main").count();
    let per_thousand = one_word * 1_000 / all.len();
    assert!(
        per_thousand <= ONE_WORD_PER_THOUSAND,
        "{one_word} of {} free functions have a name of one word, {per_thousand} of a thousand: say \
         verb and object",
        all.len()
    );
    assert!(
        per_thousand + 10 > ONE_WORD_PER_THOUSAND,
        "{per_thousand} of a thousand: lower ONE_WORD_PER_THOUSAND"
    );
}

#[test]
fn no_more_types_share_a_name() {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, place) in names(&["struct", "enum", "trait", "type", "union"]) {
        places.entry(name).or_default().push(place);
    }
    places.retain(|_, places| places.len() > 1);
    let listed: Vec<String> =
        places.iter().map(|(name, places)| format!("{name}: {}", places.join(", "))).collect();
    assert!(
        places.len() <= SHARED_TYPE_NAMES,
        "{} names of types are shared:\n{}",
        places.len(),
        listed.join("\n")
    );
    assert!(
        places.len() + 5 > SHARED_TYPE_NAMES,
        "{} names of types are shared: lower SHARED_TYPE_NAMES",
        places.len()
    );
}
