//! A lab that is up.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use sixmark_model::link_report::LinkReport;
use sixmark_model::plan::lab::Lab;
use sixmark_sys::enclosure::Rights;

use super::build;
use super::cable::Cable;
use super::door::{self, Answer};
use super::duties::{self, Duties};
use super::host::Hosts;
use crate::service::{self, Services, generated};
use sixmark_machine::CommandError;

/// A lab that is up: hosts, links, and services that run. It goes when dropped.
#[derive(Debug)]
pub struct Up {
    // In the order in which they go.
    services: Services,
    cables: Vec<Cable>,
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
    pub fn build(lab: Lab, ground: &Ground<'_>) -> Result<Option<Up>, CommandError> {
        let nodes = build::nodes(&lab, ground.rights)?;
        let cables = build::links(&lab, &nodes)?;
        build::routes(&lab, &nodes)?;
        let hosts = Hosts::new(&lab, nodes, ground.rights);
        let of_services = service::ServiceGround {
            logs: ground.logs,
            dirs: Path::new(super::TEMPORARY),
            www: ground.www,
            hosts: Some(&hosts),
            stop: ground.stop,
        };
        let Some(duties) = duties::take_up(&lab, &hosts, &of_services)? else { return Ok(None) };
        generated::of_lab(&lab.files, ground.www)?;
        let services = Services::start(&lab.services, &of_services)?;
        Ok(services.map(|services| Up { services, cables, duties, hosts, lab }))
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

    /// The way into a host, for a command outside.
    pub fn way(&self, host: &str) -> (Answer, Vec<OwnedFd>) {
        door::open_way(&self.hosts, host)
    }

    /// What it is, for people.
    pub fn status(&self, name: &str) -> String {
        let mut text = format!("{name}: {}\n", self.lab.title);
        for (number, host) in self.lab.hosts.iter().enumerate() {
            let all = self.lab.ends(number).flat_map(|end| &end.addresses);
            let all: Vec<String> = all.map(|net| net.address.to_string()).collect();
            text += &format!("  {:<15} {}\n", host.name, all.join(" "));
        }
        for service in &self.lab.services {
            let urls = self.urls(&service.name).unwrap_or_default().join(" ");
            let ended = self.services.ended().find(|(name, _)| *name == service.name);
            let how = ended.map(|(_, status)| format!("; ended by itself ({status})"));
            text += &format!("  service {}: {urls}{}\n", service.name, how.unwrap_or_default());
        }
        for (name, status) in self.duties.programs.ended() {
            text += &format!("  {name}: ended by itself ({status})\n");
        }
        if let Some(took) = self.converged() {
            let took = took.as_secs_f64();
            text += &format!("  BGP: all ways were known after {took:.2} s\n");
        }
        text
    }

    /// Where a service answers.
    pub fn urls(&self, service: &str) -> Option<Vec<String>> {
        self.services.urls(service)
    }

    /// What happened on each link so far, and who did it.
    ///
    /// # Errors
    /// An emulator has ended.
    pub fn links(&self) -> Result<Vec<LinkReport>, CommandError> {
        let of_link = |(cable, link): (&Cable, _)| cable.report(&self.lab, link, self.hosts.all());
        self.cables.iter().zip(&self.lab.links).map(of_link).collect()
    }

    /// Processor seconds that a service's processes used so far.
    pub fn cpu_of(&self, service: &str) -> Option<f64> {
        self.services.cpu_of(service)
    }

    /// A line for each service that has ended since this was asked last.
    ///
    /// # Errors
    /// The kernel can't say.
    pub fn newly_ended(&mut self) -> Result<Vec<String>, CommandError> {
        let mut lines = self.duties.programs.newly_ended()?;
        lines.extend(self.services.newly_ended()?);
        Ok(lines)
    }

    /// Fails where a service has ended.
    ///
    /// # Errors
    /// Which, and what it said last.
    pub fn check(&mut self) -> Result<(), CommandError> {
        self.duties.programs.check()?;
        self.services.check()
    }
}
