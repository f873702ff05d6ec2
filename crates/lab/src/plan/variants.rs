//! The variants of a lab file.
//!
//! ```toml
//! [variants.offload.off.hosts.server.offloads]
//! tso = false
//! gso = false
//! ```
//!
//! The choice `offload=off` applies this table as an overlay to the rest of the file. Tables are
//! merged key by key; any other value replaces the previous one.

use std::collections::BTreeMap;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use sixmark_document::fields::FileText;

/// The variants of a lab, and the chosen values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variants {
    /// The possible values of each variant, by its name.
    pub allowed: BTreeMap<String, Vec<String>>,
    /// The chosen values, by the names of the variants. A variant without a choice leaves the file
    /// unchanged.
    pub chosen: BTreeMap<String, String>,
}

/// The overlays of a file's variants.
pub(super) struct Overlays<'a> {
    found: Vec<(String, String, DeTable<'a>)>,
}

impl<'a> Overlays<'a> {
    /// Removes the variants from the table of a file and returns them.
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

    /// Returns every possible choice of a single value.
    pub(super) fn each(&self) -> impl Iterator<Item = BTreeMap<String, String>> {
        self.found.iter().map(|(name, value, _)| BTreeMap::from([(name.clone(), value.clone())]))
    }

    /// Returns the possible values of each variant.
    pub(super) fn allowed(&self) -> BTreeMap<String, Vec<String>> {
        let mut allowed: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (name, value, _) in &self.found {
            allowed.entry(name.clone()).or_default().push(value.clone());
        }
        allowed
    }

    /// Applies the overlays of the chosen values, in the order of the file.
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

/// Returns the entries of a table.
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
