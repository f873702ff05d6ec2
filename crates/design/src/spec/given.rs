//! Programs that the user gives for services.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::{Service, Study};

impl Study {
    /// Has services run these programs, by the names of the services.
    ///
    /// # Errors
    /// Returns a message if the study has no such service, or does not start it.
    pub fn give(&mut self, programs: BTreeMap<String, PathBuf>) -> Result<(), String> {
        for name in programs.keys() {
            match self.services.iter().find(|service| service.name == *name) {
                Some(service) if service.command.is_empty() => {
                    return Err(format!("the study does not start {name}: it exists already"));
                }
                Some(_) => {}
                None => return Err(self.no_service(name)),
            }
        }
        self.named.programs = programs;
        let mut services = std::mem::take(&mut self.services);
        self.put_programs(&mut services);
        self.services = services;
        Ok(())
    }

    /// Has these services run the programs that the user gives.
    pub fn put_programs(&self, services: &mut [Service]) {
        for service in services {
            if let Some(program) = self.named.programs.get(&service.name) {
                service.give(program);
            }
        }
    }

    /// Returns a message that the study has no service of this name.
    pub(crate) fn no_service(&self, name: &str) -> String {
        let names: Vec<&str> = self.services.iter().map(|one| one.name.as_str()).collect();
        if names.is_empty() {
            format!("the study has no service '{name}': it has none")
        } else {
            format!("the study has no service '{name}'; it has: {}", names.join(", "))
        }
    }
}
