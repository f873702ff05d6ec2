//! The programs that commands, built-in studies and their labs start, from where each is known.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use sixmark_clients::client::Client;
use sixmark_design::form::Form;
use sixmark_doctor::facts::{ProgramFact, ProgramFacts};
use sixmark_fleet::engine::hosts_fleet::{SSH_PACKAGE, find_hosts_programs};
use sixmark_fleet::engine::nats::server::NatsServer;
use sixmark_lab::needs::needed_programs;
use sixmark_lab::plan::parse_lab;
use sixmark_study::engine::{Source, builtin_names, client_program, needs};
use sixmark_sys::command_error::CommandError;

/// Finds the programs.
pub(super) fn find_programs() -> Result<ProgramFacts, CommandError> {
    let (browsers, clients): (Vec<Client>, Vec<Client>) =
        Client::ALL.into_iter().filter(|of| *of != Client::Sixmark).partition(|of| of.is_browser());
    let hosts = find_hosts_programs()?;
    let of_client = |client: Client| ProgramFact {
        name: client.name().to_owned(),
        package: Some(client.package().to_owned()),
        path: client_program(client),
        studies: BTreeSet::new(),
    };
    Ok(ProgramFacts {
        clients: clients.into_iter().map(of_client).collect(),
        browsers: browsers.into_iter().map(of_client).collect(),
        studies: of_studies()?,
        ssh: Some(ProgramFact {
            name: hosts.ssh,
            package: Some(SSH_PACKAGE.to_owned()),
            path: hosts.found_ssh,
            studies: BTreeSet::new(),
        }),
        nats_server: Some(hosts.nats_server),
        install_nats_server: NatsServer::INSTALL.to_owned(),
    })
}

/// The programs of studies by name.
#[derive(Default)]
struct StudyPrograms(BTreeMap<String, ProgramFact>);

impl StudyPrograms {
    fn add(&mut self, study: &str, name: String, package: Option<String>, path: Option<PathBuf>) {
        let studies = BTreeSet::new();
        let new = || ProgramFact { name: name.clone(), package, path, studies };
        let known = self.0.entry(name.clone()).or_insert_with(new);
        known.studies.insert(study.to_owned());
    }
}

/// Returns the programs of the built-in studies and of their labs, without clients.
fn of_studies() -> Result<Vec<ProgramFact>, CommandError> {
    let mut found = StudyPrograms::default();
    for name in builtin_names() {
        let source = Source::find(name)?;
        // A built-in study without its programs is one that tests refuse.
        let Ok(study) = source.read(Form::default()) else { continue };
        for need in needs(&study) {
            found.add(name, need.program, need.package, need.found);
        }
        let Some((file, text)) = source.lab() else { continue };
        let Ok(lab) = parse_lab(text, Some(file), &BTreeMap::new()) else { continue };
        for need in needed_programs(&lab) {
            found.add(name, need.program, need.package, need.found);
        }
    }
    found.0.retain(|name, _| Client::named(name).is_none());
    Ok(found.0.into_values().collect())
}
