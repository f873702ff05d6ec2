//! Groups of cells: parts of a study that vary different factors.
//!
//! ```toml
//! [groups.paper]
//! ratio = "all"
//! server = ["nginx", "apache"]
//!
//! [groups.load]
//! backlog = "all"
//! concurrency = "all"
//! ```
//!
//! A group is the product of the levels that it names. A factor that it does not name has its first
//! level there; `family` has all of its levels. The cells of a study are the union of its groups.

use super::cell_group::CellGroup;
use super::known_names::KnownNames;
use super::{FAMILY, Factor};
use sixmark_document::braces::is_name;
use sixmark_document::fields::{FileField, FileFields};

/// The word for all levels of a factor.
const ALL: &str = "all";

/// The tables of the groups of one form, by the names of the groups.
#[derive(Default)]
pub(super) struct GroupTables<'a>(Vec<(FileField<'a>, FileFields<'a>)>);

impl<'a> GroupTables<'a> {
    /// Takes the table `groups` of a form.
    pub(super) fn take(fields: &mut FileFields<'a>) -> GroupTables<'a> {
        let rest = fields.table("groups").map_or(Vec::new(), |mut groups| groups.rest());
        let table = |field: FileField<'a>| {
            if !is_name(&field.name) {
                field.wrong(
                    "is not a valid name of a group: use lower-case letters, digits, - and _",
                );
            }
            let fields = field.fields()?;
            Some((field, fields))
        };
        GroupTables(rest.into_iter().filter_map(table).collect())
    }

    /// Replaces groups by others of the same name, and adds those with other names.
    pub(super) fn put(&mut self, others: GroupTables<'a>) {
        for other in others.0 {
            match self.0.iter_mut().find(|(known, _)| known.name == other.0.name) {
                Some(known) => *known = other,
                None => self.0.push(other),
            }
        }
    }

    /// Returns the groups, with the levels that the factors of the requested form have.
    pub(super) fn read(self, names: &KnownNames<'_>) -> Vec<CellGroup> {
        self.0.into_iter().map(|(field, fields)| read_group(&field, fields, names)).collect()
    }
}

fn read_group(
    field: &FileField<'_>,
    mut fields: FileFields<'_>,
    names: &KnownNames<'_>,
) -> CellGroup {
    let named: Vec<(String, Vec<String>)> = fields
        .rest()
        .iter()
        .filter(|field| names.is_factor(field))
        .map(|field| (field.name.clone(), read_levels(field, names)))
        .collect();
    let levels_of = |factor: &Factor| {
        let here = || factor.levels.iter().map(|level| level.name.clone());
        let levels = match named.iter().find(|(name, _)| *name == factor.name) {
            Some((_, levels)) => here().filter(|level| levels.contains(level)).collect(),
            None if factor.name == FAMILY => here().collect(),
            None => here().take(1).collect(),
        };
        (factor.name.clone(), levels)
    };
    CellGroup { name: field.name.clone(), levels: names.factors.iter().map(levels_of).collect() }
}

/// Parses the levels of a factor: one, a list, or `"all"`.
fn read_levels(field: &FileField<'_>, names: &KnownNames<'_>) -> Vec<String> {
    let is_list = field.is_list();
    let items = if is_list { field.items() } else { vec![field.clone()] };
    if !is_list && items.iter().any(|item| item.is_text(ALL)) {
        return names.long_levels(&field.name).into_iter().map(str::to_owned).collect();
    }
    items.iter().filter_map(|item| names.level(&field.name, item)).collect()
}
