//! The names that outputs may use.

use super::cell_group::CellGroup;
use super::column::LevelFilter;
use super::instruments::Instrument;
use super::published::{PublishedFigures, PublishedOf};
use super::{FAMILY, Factor};
use crate::study_result::At;
use sixmark_document::fields::{FileField, FileFields};
use sixmark_tally::metric::Metric;

/// The names that outputs are checked against.
#[derive(Clone, Copy)]
pub(super) struct KnownNames<'a> {
    pub(super) factors: &'a [Factor],
    /// The factors with the levels of all forms.
    pub(super) long: &'a [Factor],
    /// The groups of cells; empty if the file has none.
    pub(super) groups: &'a [CellGroup],
    pub(super) published: Option<&'a PublishedFigures>,
    /// The instruments beside the client of each cell.
    pub(super) instruments: &'a [Instrument],
    /// The factor to which imports may add any level.
    pub(super) open: Option<&'a str>,
}

impl<'a> KnownNames<'a> {
    /// Returns the names of factors, those of this form and those of all forms, and nothing else.
    pub(super) fn of_factors(factors: &'a [Factor], long: &'a [Factor]) -> KnownNames<'a> {
        KnownNames { factors, long, groups: &[], published: None, instruments: &[], open: None }
    }
}

impl KnownNames<'_> {
    pub(super) fn all(&self) -> Vec<&str> {
        let own = self.factors.iter().map(|factor| factor.name.as_str());
        let mut all: Vec<_> = own.collect();
        if !all.contains(&FAMILY) {
            all.push(FAMILY);
        }
        all
    }

    /// Returns true if the key is the name of a factor; otherwise reports it as wrong.
    pub(super) fn is_factor(&self, field: &FileField<'_>) -> bool {
        let known = self.all();
        let found = known.contains(&field.name.as_str());
        if !found {
            field.wrong(&format!("is not a factor; factors: {}", known.join(", ")));
        }
        found
    }

    /// Parses the group of cells that an output is computed from; default: the first one. `None` if
    /// the study has no groups.
    pub(super) fn group(&self, field: Option<FileField<'_>>) -> Option<String> {
        let first = || self.groups.first().map(|group| group.name.clone());
        let Some(field) = field else { return first() };
        let name = field.text()?;
        if !self.groups.iter().any(|group| group.name == name) {
            let known: Vec<&str> = self.groups.iter().map(|group| group.name.as_str()).collect();
            let known = if known.is_empty() { "there are none".into() } else { known.join(", ") };
            field.wrong(&format!("'{name}' is not a group of cells: {known}"));
        }
        Some(name)
    }

    /// Returns the names of a factor's levels in all forms of the study.
    pub(super) fn long_levels(&self, factor: &str) -> Vec<&str> {
        levels(self.long, factor)
    }

    pub(super) fn levels(&self, factor: &str) -> Vec<&str> {
        levels(self.factors, factor)
    }

    /// Returns the names of a factor's levels in a group; if it has no cells, those of the study.
    pub(super) fn levels_in(&self, group: Option<&str>, factor: &str) -> Vec<&str> {
        let group = self.groups.iter().find(|known| Some(known.name.as_str()) == group);
        let of_group = group.and_then(|group| group.levels_of(factor)).unwrap_or_default();
        if of_group.is_empty() {
            self.levels(factor)
        } else {
            of_group.iter().map(String::as_str).collect()
        }
    }

    pub(super) fn factor(&self, field: &FileField<'_>) -> Option<String> {
        let name = field.text()?;
        let known = self.all();
        if !known.contains(&name.as_str()) {
            field.wrong(&format!("'{name}' is not a factor; factors: {}", known.join(", ")));
            return None;
        }
        Some(name)
    }

    pub(super) fn several(&self, field: Option<FileField<'_>>) -> Vec<String> {
        let items = field.map_or(Vec::new(), |field| field.items());
        items.iter().filter_map(|item| self.factor(item)).collect()
    }

    pub(super) fn level(&self, factor: &str, field: &FileField<'_>) -> Option<String> {
        let name = scalar(field)?;
        let known = levels(self.long, factor);
        if !known.contains(&name.as_str()) && self.open != Some(factor) {
            field.wrong(&format!(
                "'{name}' is not a level of {factor}; levels: {}",
                known.join(", ")
            ));
            return None;
        }
        Some(name)
    }

    /// Parses a filter: one level for each of some factors.
    pub(super) fn only(&self, fields: Option<FileFields<'_>>) -> LevelFilter {
        let rest = fields.map_or(Vec::new(), |mut fields| fields.rest());
        let at = |field: &FileField<'_>| {
            if !self.is_factor(field) {
                return None;
            }
            let level = self.level(&field.name, field)?;
            Some(At { factor: field.name.clone(), level })
        };
        rest.iter().filter_map(at).collect()
    }

    /// Parses two levels of a factor: `{ factor = "family", of = "ipv6", over = "ipv4" }`.
    pub(super) fn two_levels(&self, field: Option<FileField<'_>>) -> Option<Levels> {
        let field = field?;
        let mut fields = field.fields()?;
        let factor = fields.need("factor").and_then(|field| self.factor(&field));
        let sides = ["of", "over"].map(|name| fields.need(name));
        fields.end();
        let factor = factor?;
        let [of, over] = sides.map(|side| self.level(&factor, &side?));
        let (of, over) = (of?, over?);
        if of == over {
            field.wrong("of and over must be two levels");
        }
        Some(Levels { factor, of, over })
    }

    /// Parses the published tables whose figures are shown beside measured ones: one, or a list.
    pub(super) fn published(&self, field: Option<FileField<'_>>) -> Vec<PublishedOf> {
        let Some(field) = field else { return Vec::new() };
        let all = if field.is_list() { field.items() } else { vec![field] };
        all.iter().filter_map(|one| self.published_table(one)).collect()
    }

    fn published_table(&self, field: &FileField<'_>) -> Option<PublishedOf> {
        let (name, at, only, measure) = if field.is_table() {
            let mut fields = field.fields()?;
            let name = fields.need("table").and_then(|name| name.text())?;
            let at = fields.table("at").map_or(Vec::new(), |mut at| at.rest());
            let at = at
                .iter()
                .filter_map(|field| Some(At { factor: field.name.clone(), level: scalar(field)? }));
            let at = at.collect();
            let only = self.only(fields.table("where"));
            let measure =
                fields.take("measure").and_then(|field| field.parsed(str::parse::<Metric>));
            let of = fields.take("beside").and_then(|field| field.parsed(str::parse::<Metric>));
            if measure.is_some() != of.is_some() {
                fields.wrong(
                    "needs both measure, the published one, and beside, the one of this study",
                );
            }
            fields.end();
            (name, at, only, of.zip(measure))
        } else {
            (field.text()?, Vec::new(), Vec::new(), None)
        };
        let tables = self.published.map_or(&[][..], |published| &published.tables);
        if !tables.iter().any(|table| table.name == name) {
            let known: Vec<_> = tables.iter().map(|table| table.name.as_str()).collect();
            let known = if known.is_empty() { "there are none".into() } else { known.join(", ") };
            field.wrong(&format!("no published table is called '{name}': {known}"));
            return None;
        }
        Some(PublishedOf { table: name, at, only, measure })
    }
}

pub(super) fn levels<'a>(factors: &'a [Factor], name: &str) -> Vec<&'a str> {
    match factors.iter().find(|known| known.name == name) {
        Some(factor) => factor.levels.iter().map(|level| level.name.as_str()).collect(),
        None => crate::spec::FAMILIES.to_vec(),
    }
}

pub(super) fn scalar(field: &FileField<'_>) -> Option<String> {
    Some(match field.scalar()? {
        sixmark_document::fields::Scalar::Flag(flag) => flag.to_string(),
        sixmark_document::fields::Scalar::Text(text) => text,
    })
}

/// Two levels of a factor, one judged against the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Levels {
    /// The factor.
    pub factor: String,
    /// The level that is judged.
    pub of: String,
    /// The level that it is judged against.
    pub over: String,
}

impl Levels {
    /// Returns both levels in words: `on over off`.
    pub fn label(&self) -> String {
        format!("{} over {}", self.of, self.over)
    }

    /// Returns the level that is judged, and the one that it is judged against.
    pub fn sides(&self) -> [At; 2] {
        [&self.of, &self.over].map(|level| At { factor: self.factor.clone(), level: level.clone() })
    }
}
