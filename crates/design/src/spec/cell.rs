//! Cells: combinations of levels, with their settings.

use super::address_list::{ADDRESS_LIST, AddressList};
use super::instruments::{INSTRUMENTS, NO_INSTRUMENTS};
use super::{Level, Together};
use crate::study_result::At;
use sixmark_clients::client::Client;
use sixmark_clients::setting::{Setting, SettingValue};

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
    /// Returns its level of each factor.
    pub fn at(&self) -> Vec<At> {
        let at = |&(factor, level): &(&str, &Level)| At {
            factor: factor.to_owned(),
            level: level.name.clone(),
        };
        self.levels.iter().map(at).collect()
    }

    /// Returns its settings. Those of a level replace the options of the study, and those of a
    /// combination of levels replace those of single levels.
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

    /// Returns the setting of a key.
    pub fn setting(&self, key: &str) -> Option<&'a Setting> {
        self.settings().into_iter().rev().find(|setting| setting.key == key)
    }

    /// Returns the text of a setting; `None` if it is not set, or has no single text.
    pub fn text(&self, key: &str) -> Option<&'a str> {
        match &self.setting(key)?.value {
            SettingValue::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the address list file that it reads its targets from, if it does.
    pub fn address_list(&self) -> Option<AddressList> {
        self.text(ADDRESS_LIST)?.parse().ok()
    }

    /// Returns the hosts of the lab that generate the load, in the order of the file.
    pub fn from(&self) -> Vec<&'a str> {
        match self.setting("from").map(|setting| &setting.value) {
            Some(SettingValue::Text(host)) => vec![host],
            Some(SettingValue::List(hosts)) => hosts.iter().map(String::as_str).collect(),
            _ => Vec::new(),
        }
    }

    /// Returns true if the study's instruments measure beside it.
    pub fn has_instruments(&self) -> bool {
        self.text(INSTRUMENTS) != Some(NO_INSTRUMENTS)
    }

    /// Returns the client that generates the load.
    pub fn client(&self) -> Client {
        self.text("client").and_then(Client::named).unwrap_or(Client::Sixmark)
    }

    /// Returns the value of a name in braces: a setting's text, else a factor's level.
    pub fn value(&self, name: &str) -> Option<String> {
        let of_factor = || self.levels.iter().find(|(factor, _)| *factor == name);
        let text = self.text(name).map(str::to_owned);
        text.or_else(|| of_factor().map(|(_, level)| level.name.clone()))
    }

    /// Returns the line to report for a mistake of the whole cell: that of its client, else of its
    /// last setting; 0 if it has no settings.
    pub fn line(&self) -> usize {
        let settings = self.settings();
        settings.iter().find(|s| s.key == "client").or(settings.last()).map_or(0, |s| s.line)
    }
}

/// Returns true if all of `at` are among the levels; false if `at` is empty.
pub(super) fn is_at(levels: &[(&str, &Level)], at: &[At]) -> bool {
    let holds = |at: &At| {
        levels.iter().any(|(factor, level)| *factor == at.factor && level.name == at.level)
    };
    !at.is_empty() && at.iter().all(holds)
}
