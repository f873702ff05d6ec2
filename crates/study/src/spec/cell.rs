//! One combination of levels, and what it sets.

use super::{Level, Together};
use crate::client::Client;
use crate::setting::{Setting, SettingValue};
use crate::study_result::At;

/// One combination of levels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedCell<'a> {
    /// Its number in the written order, from 1.
    pub number: u32,
    pub(super) levels: Vec<(&'a str, &'a Level)>,
    pub(super) options: &'a [Setting],
    pub(super) together: &'a [Together],
}

impl<'a> PlannedCell<'a> {
    /// Its level of each factor.
    pub fn at(&self) -> Vec<At> {
        let at = |&(factor, level): &(&str, &Level)| At {
            factor: factor.to_owned(),
            level: level.name.clone(),
        };
        self.levels.iter().map(at).collect()
    }

    /// Everything that it sets: what a level says goes before the options of the study, and what
    /// several say together before what each of them does.
    pub fn settings(&self) -> Vec<&'a Setting> {
        let of_levels = self.levels.iter().flat_map(|(_, level)| &level.settings);
        let together = self.together.iter().filter(|one| is_at(&self.levels, &one.at));
        let mut all: Vec<&Setting> = Vec::new();
        for setting in
            self.options.iter().chain(of_levels).chain(together.flat_map(|t| &t.settings))
        {
            all.retain(|before| before.key != setting.key);
            all.push(setting);
        }
        all
    }

    /// The last setting of a key.
    pub fn setting(&self, key: &str) -> Option<&'a Setting> {
        self.settings().into_iter().rev().find(|setting| setting.key == key)
    }

    /// The text of a setting.
    pub fn text(&self, key: &str) -> Option<&'a str> {
        match &self.setting(key)?.value {
            SettingValue::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Who loads.
    pub fn client(&self) -> Client {
        self.text("client").and_then(Client::named).unwrap_or(Client::Sixmark)
    }

    /// What a name in braces stands for: a setting's text, else a factor's level.
    pub fn value(&self, name: &str) -> Option<String> {
        let of_factor = || self.levels.iter().find(|(factor, _)| *factor == name);
        let text = self.text(name).map(str::to_owned);
        text.or_else(|| of_factor().map(|(_, level)| level.name.clone()))
    }

    /// The line of the setting that decides the most about it, for what is wrong with all of it.
    pub fn line(&self) -> usize {
        let settings = self.settings();
        settings.iter().find(|s| s.key == "client").or(settings.last()).map_or(0, |s| s.line)
    }
}

/// True where the levels are those named, in every factor named.
pub(super) fn is_at(levels: &[(&str, &Level)], at: &[At]) -> bool {
    let holds = |at: &At| {
        levels.iter().any(|(factor, level)| *factor == at.factor && level.name == at.level)
    };
    !at.is_empty() && at.iter().all(holds)
}
