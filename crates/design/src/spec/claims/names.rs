//! The names of factors and levels that a claim may use.

use super::roles::{is_pattern, matches_pattern};
use super::{SideLevels, items_or_one};
use crate::spec::known_names::{KnownNames, scalar};
use crate::spec::published::PublishedOf;
use crate::study_result::PublishedTable;
use sixmark_document::fields::FileField;

/// The names that a claim is checked against: those of the study or, for a claim that can't be
/// tested here, those of the published table.
pub(super) struct ClaimNames<'a> {
    pub(super) study: &'a KnownNames<'a>,
    /// True if only published figures are tested.
    published_only: bool,
    /// The published table, if the claim names one.
    table: Option<&'a PublishedTable>,
}

impl<'a> ClaimNames<'a> {
    pub(super) fn new(
        study: &'a KnownNames<'a>,
        published_only: bool,
        published: Option<&PublishedOf>,
    ) -> ClaimNames<'a> {
        let tables = study.published.map_or(&[][..], |of| &of.tables);
        let table = published.and_then(|of| tables.iter().find(|table| table.name == of.table));
        ClaimNames { study, published_only, table }
    }

    /// Parses the selection of a side: factors, each with one level or several.
    pub(super) fn read_side(&self, field: &FileField<'_>) -> SideLevels {
        let Some(mut fields) = field.fields() else { return Vec::new() };
        let one = |field: &FileField<'_>| {
            let items = items_or_one(field);
            (field.name.clone(), self.named_levels(&field.name, &items))
        };
        fields.rest().iter().filter(|field| self.is_factor(field, &field.name)).map(one).collect()
    }

    /// Parses the name of a factor.
    pub(super) fn factor(&self, field: &FileField<'_>) -> Option<String> {
        let name = field.text()?;
        self.is_factor(field, &name).then_some(name)
    }

    /// Parses levels of a factor, some of which patterns may name.
    pub(super) fn named_levels(&self, factor: &str, items: &[FileField<'_>]) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        for level in items.iter().flat_map(|item| self.matching_levels(factor, item)) {
            if !all.contains(&level) {
                all.push(level);
            }
        }
        all
    }

    /// Parses a level of a factor, or a pattern, which stands for the levels that it matches. That of
    /// the factor of imports is kept, because imports add levels.
    fn matching_levels(&self, factor: &str, field: &FileField<'_>) -> Vec<String> {
        let Some(name) = scalar(field) else { return Vec::new() };
        let known = self.levels(factor);
        if !is_pattern(&name) || known.contains(&name) {
            return self.level(factor, field).into_iter().collect();
        }
        if self.study.open == Some(factor) || known.is_empty() {
            return vec![name];
        }
        let levels = known.join(", ");
        let matching: Vec<String> =
            known.into_iter().filter(|level| matches_pattern(&name, level)).collect();
        if matching.is_empty() {
            field.wrong(&format!("'{name}' matches no level of {factor}; levels: {levels}"));
        }
        matching
    }

    /// Parses a level of a factor. It may be one that a short form omits.
    pub(super) fn level(&self, factor: &str, field: &FileField<'_>) -> Option<String> {
        let known = self.levels(factor);
        let name = scalar(field)?;
        let is_open = self.study.open == Some(factor);
        if !known.is_empty() && !known.contains(&name) && !is_open {
            let known = known.join(", ");
            field.wrong(&format!("'{name}' is not a level of {factor}; levels: {known}"));
            return None;
        }
        Some(name)
    }

    /// Returns the levels of a factor in all forms of the study, or in the published table; empty
    /// if they are not known.
    pub(super) fn levels(&self, factor: &str) -> Vec<String> {
        match (self.published_only, self.table) {
            (true, None) => Vec::new(),
            (true, Some(table)) if has_factor(table, factor) => published_levels(table, factor),
            _ => self.study.long_levels(factor).into_iter().map(str::to_owned).collect(),
        }
    }

    fn is_factor(&self, field: &FileField<'_>, name: &str) -> bool {
        let mut known: Vec<&str> = self.study.all();
        if self.published_only {
            let Some(table) = self.table else { return true };
            known.extend(table.factors.iter().map(String::as_str));
            let at = table.columns.iter().flat_map(|column| &column.at);
            known.extend(at.map(|at| at.factor.as_str()));
            known.sort_unstable();
        }
        let found = known.contains(&name);
        if !found {
            known.dedup();
            field.wrong(&format!("'{name}' is not a factor; factors: {}", known.join(", ")));
        }
        found
    }
}

fn has_factor(table: &PublishedTable, factor: &str) -> bool {
    let at = table.columns.iter().flat_map(|column| &column.at);
    table.factors.iter().any(|name| name == factor) || at.into_iter().any(|at| at.factor == factor)
}

/// Returns the levels of a factor in a published table, in its order.
pub fn published_levels(table: &PublishedTable, factor: &str) -> Vec<String> {
    let place = table.factors.iter().position(|name| name == factor);
    let of_rows = table.rows.iter().filter_map(|row| row.levels.get(place?));
    let at = table.columns.iter().flat_map(|column| &column.at);
    let of_columns = at.filter(|at| at.factor == factor).map(|at| &at.level);
    let mut levels: Vec<String> = Vec::new();
    for level in of_rows.chain(of_columns) {
        if !levels.contains(level) {
            levels.push(level.clone());
        }
    }
    levels
}
