//! A lab that is up.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::link_report::LinkReport;
use crate::plan::Lab;
use sixmark_sys::enclosure::Rights;

use super::build;
use super::cable::Cable;
use super::control_socket::{self, Answer};
use super::duties::{self, Duties};
use super::host::Hosts;
use crate::service::{self, Services, generated};
use sixmark_sys::command_error::CommandError;

/// A lab that is up: hosts, links and running services. It is removed when dropped.
#[derive(Debug)]
pub struct Up {
    // The order of the fields is the order in which they are dropped.
    services: Services,
    cables: Vec<Cable>,
    duties: Duties,
    hosts: Hosts,
    lab: Lab,
}

/// The environment that a lab is built in.
#[derive(Clone, Copy, Debug)]
pub struct Ground<'a> {
    /// The privileges inside the enclosure.
    pub rights: Rights,
    /// The folder for the logs of services.
    pub logs: &'a Path,
    /// The folder of files that services serve.
    pub www: &'a Path,
    /// Stops the build when set.
    pub stop: &'a AtomicBool,
}

impl Up {
    /// Builds a lab in this process's enclosure and starts its services. Returns `None` if `stop`
    /// was set first.
    ///
    /// # Errors
    /// Fails if the kernel refuses an operation or a service does not start.
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

    /// Returns the plan that it was built from.
    pub fn lab(&self) -> &Lab {
        &self.lab
    }

    /// Returns the hosts.
    pub fn hosts(&self) -> &Hosts {
        &self.hosts
    }

    /// Returns the convergence time of BGP: from when all speakers were running until each had a
    /// route to every network. Returns `None` if no host runs BGP.
    pub fn converged(&self) -> Option<Duration> {
        self.duties.converged
    }

    /// Returns the namespaces of a host, for a command outside the lab.
    pub fn open_namespaces(&self, host: &str) -> (Answer, Vec<OwnedFd>) {
        control_socket::open_namespaces(&self.hosts, host)
    }

    /// Returns the status as text for people.
    pub fn status(&self, name: &str) -> String {
        let mut text = format!("{name}: {}\n", self.lab.title);
        for (number, host) in self.lab.hosts.iter().enumerate() {
            let all = self.lab.ends(number).flat_map(|end| &end.addresses);
            let all: Vec<String> = all.map(|net| net.address.to_string()).collect();
            text += &lines_of_words(&format!("  {:<15}", host.name), &all);
        }
        for service in &self.lab.services {
            let urls = self.urls(&service.name).unwrap_or_default();
            let ended = self.services.ended().find(|(name, _)| *name == service.name);
            let how = ended.map(|(_, status)| format!("; ended by itself ({status})"));
            text += &lines_of_words(&format!("  service {}:", service.name), &urls);
            if let Some(how) = how {
                text.insert_str(text.len() - 1, &how);
            }
        }
        for (name, status) in self.duties.programs.ended() {
            text += &format!("  {name}: ended by itself ({status})\n");
        }
        if let Some(took) = self.converged() {
            let took = took.as_secs_f64();
            text += &format!("  BGP: converged after {took:.2} s\n");
        }
        text
    }

    /// Returns the URLs of a service.
    pub fn urls(&self, service: &str) -> Option<Vec<String>> {
        self.services.urls(service)
    }

    /// Returns the report on each link so far: its frames, and the mechanism that impairs them.
    ///
    /// # Errors
    /// Fails if the thread of an emulator has ended.
    pub fn links(&self) -> Result<Vec<LinkReport>, CommandError> {
        let of_link = |(cable, link): (&Cable, _)| cable.report(&self.lab, link, self.hosts.all());
        self.cables.iter().zip(&self.lab.links).map(of_link).collect()
    }

    /// Returns the CPU time that the processes of a service have used so far, in seconds.
    pub fn cpu_of(&self, service: &str) -> Option<f64> {
        self.services.cpu_of(service)
    }

    /// Returns the CPU time that all NAT64s and CLATs have used so far, in seconds. Returns `None` if the lab has
    /// none.
    pub fn cpu_of_translators(&self) -> Option<f64> {
        let times = self.lab.translators().map(|name| self.duties.programs.cpu_of(&name));
        times.flatten().reduce(|sum, seconds| sum + seconds)
    }

    /// Returns the process id of a service; `None` if the lab did not start it.
    pub fn pid_of(&self, service: &str) -> Option<u32> {
        self.services.pid_of(service)
    }

    /// Returns one line for each service that has ended since the last call.
    ///
    /// # Errors
    /// Fails if the state of a service cannot be read.
    pub fn newly_ended(&mut self) -> Result<Vec<String>, CommandError> {
        let mut lines = self.duties.programs.newly_ended()?;
        lines.extend(self.services.newly_ended()?);
        Ok(lines)
    }

    /// Checks that all services are running.
    ///
    /// # Errors
    /// Fails if a service has ended; the message includes its name and its last output.
    pub fn check(&mut self) -> Result<(), CommandError> {
        self.duties.programs.check()?;
        self.services.check()
    }
}

/// Writes words behind a name on as many lines of 80 characters as they need, below the first word.
fn lines_of_words(name: &str, words: &[String]) -> String {
    let indent = name.chars().count();
    let mut lines = vec![name.to_owned()];
    for word in words {
        let last = lines.last().map_or(0, |line| line.chars().count());
        match lines.last_mut() {
            Some(line) if last + 1 + word.chars().count() <= 80 || last <= indent => {
                *line += &format!(" {word}");
            }
            _ => lines.push(format!("{:indent$} {word}", "")),
        }
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::lines_of_words;

    #[test]
    fn wraps_many_addresses_to_the_terminal_width() {
        let addresses: Vec<String> =
            (1..=7).map(|at| format!("fd00:0:0:{at}::1234:5678:9abc")).collect();
        let text = lines_of_words("  router         ", &addresses);
        assert!(text.lines().count() > 1, "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert_eq!(text.split_whitespace().skip(1).collect::<Vec<_>>(), addresses);
        let column = text.find("fd00").unwrap();
        let below = |line: &str| line.find("fd00") == Some(column);
        assert!(text.lines().all(below), "{text}");
        assert_eq!(lines_of_words("  host", &[]), "  host\n");
    }
}
