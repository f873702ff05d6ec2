//! Names of factors and levels for people.

use crate::study_result::{At, FactorResult};
use sixmark_sheet::write;
use sixmark_units::family::spoken;

/// Levels that many factors have, so that they are not understood without the factor's name.
const COMMON: [&str; 8] = ["on", "off", "yes", "no", "none", "true", "false", "default"];

/// The unit of levels that are numbers of bytes, which are shown with a prefix: `5.88 MB`.
const BYTES: &str = "B";

/// The labels that a study gives to factors and levels. Those without a label have their names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LevelLabels(Vec<FactorLabel>);

/// The labels of a factor and its levels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FactorLabel {
    /// The name of the factor.
    pub factor: String,
    /// The label in place of the name; may be empty.
    pub label: String,
    /// The unit of levels that are numbers; may be empty.
    pub unit: String,
    /// The names of levels, each with the label in its place, which is understood without the
    /// factor's.
    pub levels: Vec<(String, String)>,
}

impl LevelLabels {
    /// Creates the labels of these factors.
    pub fn new(all: Vec<FactorLabel>) -> LevelLabels {
        LevelLabels(all)
    }

    /// Returns the labels that a document has.
    pub fn of_document(factors: &[FactorResult]) -> LevelLabels {
        let of = |factor: &FactorResult| FactorLabel {
            factor: factor.name.clone(),
            label: factor.label.clone(),
            unit: factor.unit.clone(),
            levels: factor.labels.clone().into_iter().collect(),
        };
        LevelLabels(factors.iter().map(of).collect())
    }

    /// Returns the labels of a factor, if it has any.
    pub fn of(&self, factor: &str) -> Option<&FactorLabel> {
        self.0.iter().find(|known| known.factor == factor)
    }

    /// Returns the label of a factor.
    pub fn factor<'a>(&'a self, name: &'a str) -> &'a str {
        let label = self.of(name).map(|known| known.label.as_str());
        label.filter(|label| !label.is_empty()).unwrap_or(name)
    }

    /// Returns the unit of a factor's levels; empty if they have none.
    pub fn unit(&self, factor: &str) -> &str {
        self.of(factor).map_or("", |known| known.unit.as_str())
    }

    /// Returns the label of a level for a place that shows its factor: `IPv6`, `5 ms`, `4,096`.
    pub fn under_factor(&self, at: &At) -> String {
        self.own(at).unwrap_or_else(|| with_unit(&at.level, self.unit(&at.factor)))
    }

    /// Returns the label of a level for a place that does not show its factor. If the level is a
    /// number or a word such as `on`, the factor's label comes first: `round trip 5 ms`, `offload on`.
    pub fn level(&self, at: &At) -> String {
        let is_word = at.level.starts_with(char::is_alphabetic);
        match self.own(at) {
            Some(own) => own,
            None if is_word && !COMMON.contains(&at.level.as_str()) => spoken(&at.level),
            None => self.with_factor(at),
        }
    }

    /// Returns the labels of a factor and a level of it: `server nginx`. A label of a level's own is
    /// understood alone.
    pub fn with_factor(&self, at: &At) -> String {
        self.own(at).unwrap_or_else(|| {
            let level = with_unit(&at.level, self.unit(&at.factor));
            format!("{} {level}", self.factor(&at.factor)).trim_end().to_owned()
        })
    }

    /// Returns several levels as [`LevelLabels::level`] does, separated by commas; empty for none.
    pub fn levels(&self, at: &[At]) -> String {
        at.iter().map(|at| self.level(at)).collect::<Vec<_>>().join(", ")
    }

    fn own(&self, at: &At) -> Option<String> {
        let levels = &self.of(&at.factor)?.levels;
        levels.iter().find(|(name, _)| *name == at.level).map(|(_, label)| label.clone())
    }
}

/// Returns a level with its unit, if it is a number; numbers have their thousands grouped.
pub fn with_unit(level: &str, unit: &str) -> String {
    match level.parse::<f64>() {
        // Documents have labels, with ordinary spaces.
        Ok(bytes) if unit == BYTES => write::write_bytes(bytes).replace('\u{a0}', " "),
        Ok(_) if unit.is_empty() => write::grouped(level),
        Ok(_) => format!("{} {unit}", write::grouped(level)),
        Err(_) => spoken(level),
    }
}

/// Returns the label of a level as [`LevelLabels::level`] does, in a study without labels.
pub fn label_level(at: &At) -> String {
    LevelLabels::default().level(at)
}

/// Returns several levels as [`LevelLabels::levels`] does, in a study without labels.
pub fn label_levels(at: &[At]) -> String {
    LevelLabels::default().levels(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(factor: &str, level: &str) -> At {
        At { factor: factor.into(), level: level.into() }
    }

    #[test]
    fn prefixes_ambiguous_levels_with_their_factor() {
        for (factor, level, label) in [
            ("family", "ipv6", "IPv6"),
            ("server", "nginx", "nginx"),
            ("backlog", "0", "backlog 0"),
            ("backlog", "4096", "backlog 4,096"),
            ("ratio", "1:4", "ratio 1:4"),
            ("block", "64K", "block 64K"),
            ("offload", "on", "offload on"),
            ("remedy", "none", "remedy none"),
            ("level", "C1B", "C1B"),
        ] {
            assert_eq!(label_level(&at(factor, level)), label);
        }
    }

    #[test]
    fn applies_the_studys_labels_to_factors_units_and_levels() {
        let of = |factor: &str, label: &str, unit: &str, levels: &[(&str, &str)]| FactorLabel {
            factor: factor.into(),
            label: label.into(),
            unit: unit.into(),
            levels: levels.iter().map(|(name, label)| ((*name).into(), (*label).into())).collect(),
        };
        let labels = LevelLabels::new(vec![
            of("delay", "round trip", "ms", &[]),
            of("size", "file", "B", &[]),
            of("remedy", "", "", &[("none", "no remedy")]),
        ]);
        let all =
            [at("delay", "5"), at("size", "5879824"), at("remedy", "none"), at("server", "nginx")];
        assert_eq!(labels.levels(&all), "round trip 5 ms, file 5.88 MB, no remedy, nginx");
        let under = all.each_ref().map(|at| labels.under_factor(at));
        assert_eq!(under, ["5 ms", "5.88 MB", "no remedy", "nginx"]);
        let with = [at("server", "nginx"), at("remedy", "none")].map(|at| labels.with_factor(&at));
        assert_eq!(with, ["server nginx", "no remedy"]);
    }
}
