//! What a lab may be varied in.
//!
//! ```toml
//! [variants.offload.off.hosts.server.offloads]
//! tso = false
//! gso = false
//! ```
//!
//! `offload=off` lays what stands there over the rest of the file: tables are laid over tables, key by
//! key; everything else takes the place of what was there.

use std::collections::BTreeMap;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use sixmark_document::fields::FileText;

/// What a lab may be varied in, and what has been chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variants {
    /// The values of each, by its name.
    pub allowed: BTreeMap<String, Vec<String>>,
    /// What has been chosen; as the file is of those without a choice.
    pub chosen: BTreeMap<String, String>,
}

/// A file's variants, taken out of it.
pub(super) struct Overlays<'a> {
    found: Vec<(String, String, DeTable<'a>)>,
}

impl<'a> Overlays<'a> {
    /// Takes them out of the table of a whole file.
    pub(super) fn take(book: &FileText<'_>, whole: &mut DeTable<'a>) -> Overlays<'a> {
        let mut found = Vec::new();
        let Some(variants) = whole.remove("variants") else { return Overlays { found } };
        for (name, values) in tables(book, variants, "variants") {
            let path = format!("variants.{name}");
            for (value, table) in tables(book, values, &path) {
                match table.into_inner() {
                    DeValue::Table(table) => found.push((name.clone(), value, table)),
                    _ => book.wrong_line(0, &format!("{path}.{value}"), "expected a table"),
                }
            }
        }
        Overlays { found }
    }

    /// Each choice that there is, one at a time.
    pub(super) fn each(&self) -> impl Iterator<Item = BTreeMap<String, String>> {
        self.found.iter().map(|(name, value, _)| BTreeMap::from([(name.clone(), value.clone())]))
    }

    /// What may be chosen.
    pub(super) fn allowed(&self) -> BTreeMap<String, Vec<String>> {
        let mut allowed: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (name, value, _) in &self.found {
            allowed.entry(name.clone()).or_default().push(value.clone());
        }
        allowed
    }

    /// The file with what has been chosen laid over it, in the file's order.
    pub(super) fn lay(&self, whole: &mut DeTable<'a>, chosen: &BTreeMap<String, String>) {
        for (name, value, table) in &self.found {
            if chosen.get(name) == Some(value) {
                lay(whole, table);
            }
        }
    }
}

fn lay<'a>(under: &mut DeTable<'a>, over: &DeTable<'a>) {
    for (key, value) in over {
        let both = under.get_mut(key.get_ref().as_ref()).map(Spanned::get_mut);
        match (both, value.get_ref()) {
            (Some(DeValue::Table(under)), DeValue::Table(over)) => lay(under, over),
            _ => drop(under.insert(key.clone(), value.clone())),
        }
    }
}

/// The entries of a table.
fn tables<'a>(
    book: &FileText<'_>,
    table: Spanned<DeValue<'a>>,
    path: &str,
) -> Vec<(String, Spanned<DeValue<'a>>)> {
    match table.into_inner() {
        DeValue::Table(table) => {
            table.into_iter().map(|(key, value)| (key.into_inner().into_owned(), value)).collect()
        }
        _ => {
            book.wrong_line(0, path, "expected a table");
            Vec::new()
        }
    }
}
