//! How a study differs from the published one that it repeats: what its file says, and what
//! follows from its form.

use std::num::NonZeroU32;

use super::published::PublishedFigures;
use super::{FAMILY, Factor, Level};
use sixmark_clients::setting::{Setting, SettingValue};
use sixmark_document::fields::FileFields;

/// Texts by name. Those of a form replace texts of the same name, or are added.
pub(super) type NamedTexts = Vec<(String, String)>;

/// Parses the texts of a table; none if it is not there.
pub(super) fn named_texts(fields: Option<FileFields<'_>>) -> NamedTexts {
    let rest = fields.map_or(Vec::new(), |mut fields| fields.rest());
    rest.iter().filter_map(|field| Some((field.name.clone(), field.text()?))).collect()
}

/// Replaces texts by others of the same name, and adds those with other names. An empty text removes
/// the one of its name.
pub(super) fn put_texts(all: &mut NamedTexts, others: NamedTexts) {
    for (name, text) in others {
        match all.iter_mut().find(|(known, _)| *known == name) {
            Some(known) => known.1 = text,
            None => all.push((name, text)),
        }
    }
    all.retain(|(_, text)| !text.is_empty());
}

/// What a study varies and how often, in one of its forms.
pub(super) struct FormExtent {
    pub(super) repetitions: Option<NonZeroU32>,
    pub(super) options: Vec<Setting>,
    pub(super) factors: Vec<Factor>,
}

impl FormExtent {
    /// Returns in a sentence what this form has less of than the full one, or otherwise; `None` if
    /// there is nothing. `name` is the form's: `quick form`.
    pub(super) fn less_than(&self, full: &FormExtent, name: &str) -> Option<String> {
        let fewer = self.repetitions.zip(full.repetitions).filter(|(now, usual)| now < usual);
        let fewer = fewer.map(|(now, usual)| match now.get() {
            1 => format!("1 repetition instead of {usual}"),
            now => format!("{now} repetitions instead of {usual}"),
        });
        let has: Vec<String> = fewer.into_iter().chain(self.other_options(full)).collect();
        let has = (!has.is_empty()).then(|| format!("has {}", has.join(", ")));
        let omitted = omitted_levels(&full.factors, &self.factors);
        let omits = (!omitted.is_empty()).then(|| format!("omits {}", omitted.join("; ")));
        let said: Vec<String> = has.into_iter().chain(omits).collect();
        (!said.is_empty()).then(|| format!("The {name} {}.", said.join(" and ")))
    }

    /// Describes the options that have another value than in the full form: `count 2000 instead of
    /// 10000`.
    fn other_options(&self, full: &FormExtent) -> Vec<String> {
        let changed = |option: &Setting| {
            let usual = full.options.iter().find(|usual| usual.key == option.key)?;
            let [now, usual] = [option, usual].map(|option| value_text(&option.value));
            (now != usual).then(|| format!("{} {now} instead of {usual}", option.key))
        };
        self.options.iter().filter_map(changed).collect()
    }
}

fn value_text(value: &SettingValue) -> String {
    match value {
        SettingValue::Flag(flag) => flag.to_string(),
        SettingValue::Text(text) => text.clone(),
        SettingValue::List(list) => list.join(", "),
    }
}

/// Describes the levels that a form omits, by factor: `client curl, firefox`.
fn omitted_levels(usual: &[Factor], now: &[Factor]) -> Vec<String> {
    let of_factor = |factor: &Factor| {
        let left = now.iter().find(|other| other.name == factor.name)?;
        let is_gone = |level: &&Level| !left.levels.iter().any(|other| other.name == level.name);
        let gone = factor.levels.iter().filter(is_gone).map(|level| level.name.as_str());
        let gone: Vec<&str> = gone.collect();
        (!gone.is_empty()).then(|| format!("{} {}", factor.name, gone.join(", ")))
    };
    usual.iter().filter_map(of_factor).collect()
}

/// Names the factors of the published tables that the study does not vary, with their levels; `None`
/// if there are none. Only imports vary the factor `imports`.
pub(super) fn held_fixed(
    published: &PublishedFigures,
    factors: &[Factor],
    imports: Option<&str>,
) -> Option<String> {
    let mut all: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut add = |factor, level| match all.iter_mut().find(|(known, _)| *known == factor) {
        Some((_, levels)) if levels.contains(&level) => {}
        Some((_, levels)) => levels.push(level),
        None => all.push((factor, vec![level])),
    };
    for table in published.tables.iter().filter(|table| !table.improvements) {
        for row in &table.rows {
            let levels = table.factors.iter().zip(&row.levels);
            levels.for_each(|(factor, level)| add(factor.as_str(), level.as_str()));
        }
        let of_columns = table.columns.iter().flat_map(|column| &column.at);
        of_columns.for_each(|at| add(at.factor.as_str(), at.level.as_str()));
    }
    let has = |factor: &Factor, name: &str| {
        factor.name == name && (imports != Some(name) || factor.levels.len() > 1)
    };
    let is_varied = |name: &str| name == FAMILY || factors.iter().any(|known| has(known, name));
    let fixed = all.into_iter().filter(|(factor, levels)| levels.len() > 1 && !is_varied(factor));
    let fixed: Vec<String> = fixed
        .map(|(factor, levels)| {
            if imports == Some(factor) {
                format!("{factor} ({}) unless it is imported", levels.join(", "))
            } else {
                format!("{factor} ({})", levels.join(", "))
            }
        })
        .collect();
    (!fixed.is_empty()).then(|| format!("Not varied here: {}.", fixed.join("; ")))
}
