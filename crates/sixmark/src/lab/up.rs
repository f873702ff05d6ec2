//! A lab that is up.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use sixmark_core::plan::lab::Lab;
use sixmark_sys::enclosure::Rights;

use super::build;
use super::duties::{self, Duties};
use super::host::Hosts;
use crate::Error;
use crate::service::{self, Services};

/// A lab that is up: hosts, links, and services that run. It goes when dropped.
#[derive(Debug)]
pub struct Up {
    // In the order in which they go.
    services: Services,
    duties: Duties,
    hosts: Hosts,
    lab: Lab,
}

/// What a lab is built with.
#[derive(Clone, Copy, Debug)]
pub struct Ground<'a> {
    /// What the enclosure allows.
    pub rights: Rights,
    /// The folder for what services say.
    pub logs: &'a Path,
    /// The folder of files that services give out.
    pub www: &'a Path,
    /// Ends the building.
    pub stop: &'a AtomicBool,
}

impl Up {
    /// Builds a lab within this process's enclosure, and starts its services. None where it was to stop.
    ///
    /// # Errors
    /// What the kernel refuses, or the service that does not start.
    pub fn build(lab: Lab, ground: &Ground<'_>) -> Result<Option<Up>, Error> {
        let nodes = build::nodes(&lab, ground.rights)?;
        build::links(&lab, &nodes)?;
        build::routes(&lab, &nodes)?;
        let hosts = Hosts::new(&lab, nodes, ground.rights);
        let of_services = service::Ground {
            logs: ground.logs,
            dirs: Path::new(super::TEMPORARY),
            www: ground.www,
            hosts: Some(&hosts),
            stop: ground.stop,
        };
        let Some(duties) = duties::take_up(&lab, &hosts, &of_services)? else { return Ok(None) };
        let services = Services::start(&lab.services, &of_services)?;
        Ok(services.map(|services| Up { services, duties, hosts, lab }))
    }

    /// What it was built from.
    pub fn lab(&self) -> &Lab {
        &self.lab
    }

    /// Its hosts.
    pub fn hosts(&self) -> &Hosts {
        &self.hosts
    }

    /// How long BGP took, from when all its speakers ran until each knew a way to every network. None
    /// where nobody speaks it.
    pub fn converged(&self) -> Option<Duration> {
        self.duties.converged
    }

    /// Where a service answers.
    pub fn urls(&self, service: &str) -> Option<Vec<String>> {
        self.services.urls(service)
    }

    /// Fails where a service has ended.
    ///
    /// # Errors
    /// Which, and what it said last.
    pub fn check(&mut self) -> Result<(), Error> {
        self.duties.programs.check()?;
        self.services.check()
    }
}
