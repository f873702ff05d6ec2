//! The programs that implement the functions of hosts other than forwarding.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{Lab, LabHost, bird, tayga, unbound};
use crate::plan::services::{ReadyCheck, Service};

/// The maximum time until a program is ready.
const PATIENCE: Duration = Duration::from_secs(20);

/// The names of translators, each with its host's behind it.
const NAT64: &str = "tayga";
const CLAT: &str = "clat";

/// A program with the parameters of its start.
struct Program {
    name: &'static str,
    package: &'static str,
    version: Option<&'static str>,
    ready: ReadyCheck,
    command: Vec<String>,
    files: BTreeMap<String, String>,
}

impl Lab {
    /// Returns the programs for BGP, NAT64 and DNS64 as services named after program and host, such
    /// as `bird-r1`. They are started before the file's own services.
    pub fn daemons(&self) -> Vec<Service> {
        let all = self.hosts.iter().enumerate();
        all.flat_map(|(number, host)| daemons_of_host(self, number, host)).collect()
    }

    /// Returns the names of those [`daemons`](Lab::daemons) that translate between families: NAT64s and CLATs.
    pub(crate) fn translators(&self) -> impl Iterator<Item = String> {
        self.hosts.iter().flat_map(|host| {
            let nat64 = host.nat64.is_some().then_some(NAT64);
            let clat = host.clat.is_some().then_some(CLAT);
            [nat64, clat].into_iter().flatten().map(|program| program_of_host(program, &host.name))
        })
    }
}

/// Returns the name of a daemon, which no other has.
fn program_of_host(program: &str, host: &str) -> String {
    format!("{program}-{host}")
}

fn daemons_of_host(lab: &Lab, number: usize, host: &LabHost) -> impl Iterator<Item = Service> {
    let tayga = host.nat64.as_ref().map(|nat| {
        let files = [("tayga.conf", tayga::configuration(nat))];
        // tayga prints nothing when it is ready; its interface shows it.
        program(NAT64, None, ReadyCheck::Connect, tayga::tayga_command("tayga.conf"), files)
    });
    let clat = host.clat.as_ref().map(|clat| {
        let files = [("clat.conf", tayga::clat_configuration(clat))];
        let command = tayga::tayga_command("clat.conf");
        Program { name: CLAT, ..program(NAT64, None, ReadyCheck::Connect, command, files) }
    });
    let unbound = host.is_name_server().then(|| {
        let text = unbound::configuration(lab, number, host.dns64.as_ref());
        let files = [("unbound.conf", text), (unbound::ZONE, unbound::zone(lab))];
        let command = unbound::unbound_command("unbound.conf");
        program("unbound", Some("-V"), ready_when_said(unbound::READY), command, files)
    });
    let bird = bird::configuration(lab, number).map(|text| {
        let files = [("bird.conf", text)];
        let command = bird::bird_command("bird.conf");
        Program {
            package: "bird2",
            ..program("bird", Some("--version"), ready_when_said(bird::READY), command, files)
        }
    });
    [tayga, clat, unbound, bird].into_iter().flatten().map(|program| program.service(&host.name))
}

fn ready_when_said(line: &str) -> ReadyCheck {
    ReadyCheck::Line(line.to_owned())
}

fn program<const N: usize>(
    name: &'static str,
    version: Option<&'static str>,
    ready: ReadyCheck,
    command: Vec<String>,
    files: [(&str, String); N],
) -> Program {
    let files = files.map(|(name, text)| (name.to_owned(), text)).into();
    Program { name, package: name, version, ready, command, files }
}

impl Program {
    fn service(self, host: &str) -> Service {
        Service {
            name: program_of_host(self.name, host),
            host: Some(host.to_owned()),
            account: None,
            command: self.command,
            package: Some(self.package.to_owned()),
            version: self.version.into_iter().map(str::to_owned).collect(),
            urls: Vec::new(),
            files: self.files,
            ready: self.ready,
            patience: PATIENCE,
            on_demand: false,
            optional: None,
            given: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::lab;

    #[test]
    fn names_daemons_after_program_and_host() {
        let lab =
            lab("name = \"x\"\n[hosts.plain]\n[hosts.edge]\nbgp.asn = 1\nnat64 = {}\ndns64 = {}\n\
             [links]\na = [\"plain\", \"edge\"]\n");
        let daemons = lab.daemons();
        let names: Vec<&str> = daemons.iter().map(|service| service.name.as_str()).collect();
        assert_eq!(names, ["tayga-edge", "unbound-edge", "bird-edge"]);
        assert!(daemons.iter().all(|service| service.host.as_deref() == Some("edge")));
        let packages: Vec<_> = daemons.iter().filter_map(|s| s.package.as_deref()).collect();
        assert_eq!(packages, ["tayga", "unbound", "bird2"]);
    }

    #[test]
    fn names_the_daemons_that_translate() {
        let lab = lab("name = \"x\"\n[hosts.edge]\nnat64 = {}\ndns64 = {}\n\
             [hosts.six]\nfamilies = [\"ipv6\"]\nclat = {}\n[links]\na = [\"six\", \"edge\"]\n");
        let translators: Vec<String> = lab.translators().collect();
        assert_eq!(translators, ["tayga-edge", "clat-six"]);
        let daemons = lab.daemons();
        let is_daemon = |name: &String| daemons.iter().any(|daemon| daemon.name == *name);
        assert!(translators.iter().all(is_daemon));
    }
}
