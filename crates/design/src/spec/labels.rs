//! Labels of factors and levels, which reports show in place of their names.
//!
//! ```toml
//! [labels]
//! backlog = "queue"
//! delay = { label = "round trip", unit = "ms" }
//! remedy = { levels = { none = "no remedy" } }
//! ```

use super::known_names::KnownNames;
use crate::form::Form;
use crate::levels::{FactorLabel, LevelLabels};
use sixmark_document::fields::{FileField, FileFields};

/// Parses the labels of a file for the requested form. If the study `has` another form that may have
/// factors and levels of its own, names that this form lacks are no mistake.
pub(super) fn labels(
    fields: Option<FileFields<'_>>,
    names: &KnownNames<'_>,
    has: Form,
    wanted: Form,
) -> LevelLabels {
    let open = has.in_lab && !wanted.in_lab || has.full && !wanted.full;
    let rest = fields.map_or(Vec::new(), |mut fields| fields.rest());
    let of = |field: &FileField<'_>| {
        let is_known = open || names.is_factor(field);
        is_known.then(|| factor_label(field, names, open)).flatten()
    };
    LevelLabels::new(rest.iter().filter_map(of).collect())
}

/// Parses the labels of a factor: a text, or a table.
fn factor_label(field: &FileField<'_>, names: &KnownNames<'_>, open: bool) -> Option<FactorLabel> {
    let factor = field.name.clone();
    if !field.is_table() {
        let label = field.text()?;
        return Some(FactorLabel { factor, label, ..FactorLabel::default() });
    }
    let mut fields = field.fields()?;
    let [label, unit] = ["label", "unit"].map(|name| fields.text(name).unwrap_or_default());
    let levels = fields.table("levels").map_or(Vec::new(), |mut levels| levels.rest());
    fields.end();
    let known = names.long_levels(&factor);
    let of_level = |level: &FileField<'_>| {
        let is_known = open || known.contains(&level.name.as_str()) || names.open == Some(&factor);
        if !is_known {
            level.wrong(&format!("is not a level of {factor}; levels: {}", known.join(", ")));
        }
        is_known.then(|| Some((level.name.clone(), level.text()?))).flatten()
    };
    let levels = levels.iter().filter_map(of_level).collect();
    Some(FactorLabel { factor, label, unit, levels })
}
