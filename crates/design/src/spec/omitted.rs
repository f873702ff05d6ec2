//! What a study does without: the levels whose services can't run here.

use std::collections::{BTreeMap, BTreeSet};

use super::Study;
use super::cells::cells;
use crate::spec::PlannedCell;
use crate::study_result::{At, OmittedService};
use sixmark_clients::setting::SettingValue;

impl Study {
    /// Omits services, each with the reason in a clause, with the cells that load them and the levels
    /// that no other cell has.
    ///
    /// # Errors
    /// Returns a message if no cell remains.
    pub fn omit(&mut self, services: &[(String, String)]) -> Result<(), String> {
        let is_omitted = |name: &str| services.iter().any(|(service, _)| service == name);
        let (mut kept, mut gone) = (BTreeSet::new(), BTreeMap::<At, Vec<String>>::new());
        for cell in cells(self) {
            match self.server_of(&cell).filter(|server| is_omitted(server)) {
                None => kept.extend(cell.at()),
                Some(server) => cell
                    .at()
                    .into_iter()
                    .for_each(|at| gone.entry(at).or_default().push(server.to_owned())),
            }
        }
        gone.retain(|at, _| !kept.contains(at));
        let of_service = |(service, reason): &(String, String)| {
            let is_its = |(at, servers): &(&At, &Vec<String>)| {
                self.chooses(at, &is_omitted).or(servers.first().map(String::as_str))
                    == Some(service)
            };
            let levels = gone.iter().filter(is_its).map(|(at, _)| at.clone()).collect();
            OmittedService { service: service.clone(), reason: reason.clone(), levels }
        };
        self.omitted = services.iter().map(of_service).collect();
        if kept.is_empty() && cells(self).is_empty() {
            return Err(self.nothing_remains());
        }
        for factor in &mut self.factors {
            let is_gone = |level: &str| {
                let all = self.omitted.iter().flat_map(|omitted| &omitted.levels);
                all.into_iter().any(|at| at.factor == factor.name && at.level == level)
            };
            factor.levels.retain(|level| !is_gone(&level.name));
        }
        Ok(())
    }

    /// Returns true if this service is omitted.
    pub fn is_omitted(&self, service: &str) -> bool {
        self.omitted.iter().any(|omitted| omitted.service == service)
    }

    /// Returns why a level is omitted, in a clause; `None` if no omitted service is the reason.
    pub fn why_omitted(&self, factor: &str, level: &str) -> Option<&str> {
        let is_it = |at: &At| at.factor == factor && at.level == level;
        let omitted = self.omitted.iter().find(|omitted| omitted.levels.iter().any(is_it));
        omitted.map(|omitted| omitted.reason.as_str())
    }

    /// Returns the service that a cell loads; `None` if the study has none.
    pub fn server_of<'a>(&'a self, cell: &PlannedCell<'a>) -> Option<&'a str> {
        let only = || Some(self.services.first()?.name.as_str());
        cell.text("server").or_else(only)
    }

    /// Returns the omitted service that a level itself names.
    fn chooses(&self, at: &At, is_omitted: &impl Fn(&str) -> bool) -> Option<&str> {
        let factor = self.factors.iter().find(|factor| factor.name == at.factor)?;
        let level = factor.levels.iter().find(|level| level.name == at.level)?;
        let server = level.settings.iter().find(|setting| setting.key == "server")?;
        match &server.value {
            SettingValue::Text(name) if is_omitted(name) => Some(name),
            _ => None,
        }
    }

    fn nothing_remains(&self) -> String {
        let why = |omitted: &OmittedService| format!("{} ({})", omitted.service, omitted.reason);
        let why: Vec<String> = self.omitted.iter().map(why).collect();
        let is_omitted = |name: &str| self.is_omitted(name);
        let all = |at: &&At| {
            let names = self.level_names(&at.factor);
            let at = |level: &str| At { factor: at.factor.clone(), level: level.to_owned() };
            names.iter().all(|level| self.chooses(&at(level), &is_omitted).is_some())
        };
        let mut levels = self.omitted.iter().flat_map(|omitted| &omitted.levels);
        let what = match levels.find(all) {
            Some(at) => format!("no level of {} remains", at.factor),
            None => "no cell remains".to_owned(),
        };
        format!("{what}: these services can't run here: {}", why.join("; "))
    }
}
