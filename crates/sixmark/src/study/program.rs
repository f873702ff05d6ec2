//! The programs that a study uses beside sixmark.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Stdio;

use sixmark_core::plan::braces::names;
use sixmark_core::plan::study::Study;
use sixmark_core::plan::study::cells::cells;
use sixmark_core::study::client::Client;

use crate::Error;
use crate::program::{command, find};

/// The variable that says which fio to use.
const FIO: &str = "SIXMARK_FIO";

/// A program that a study needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// The program.
    pub program: String,
    /// The Debian package that has it, where that is known.
    pub package: Option<String>,
    /// The option that makes it tell its version.
    version: Option<String>,
    /// Where it is; none where it is missing.
    pub found: Option<PathBuf>,
}

/// Every program that a study needs: services, then clients.
pub fn needs(study: &Study) -> Vec<Need> {
    let mut needs: Vec<Need> = Vec::new();
    let mut need = |need: Need| {
        if !needs.iter().any(|known| known.program == need.program) {
            needs.push(need);
        }
    };
    for service in &study.services {
        // A name in braces is this program.
        let program = service.command.first().filter(|word| names(word).is_empty());
        if let Some(program) = program {
            let (package, version) = (service.package.clone(), service.version.clone());
            need(Need { program: program.clone(), package, version, found: find(program) });
        }
    }
    for client in cells(study).iter().map(|cell| cell.client()) {
        if client != Client::Sixmark {
            let version = Some(client.version_option().to_owned());
            let (program, found) = (client.name().to_owned(), client_program(client));
            need(Need { program, package: Some(client.package().to_owned()), version, found });
        }
    }
    needs
}

/// Fails where one is missing. Else what each says of its version.
pub(super) fn versions(study: &Study) -> Result<BTreeMap<String, String>, Error> {
    let needs = needs(study);
    if let Some(missing) = needs.iter().find(|need| need.found.is_none()) {
        return Err(missing.error());
    }
    let told = needs.into_iter().map(|need| {
        let version = need.version().unwrap_or_else(|| "unknown".to_owned());
        (need.program, version)
    });
    Ok(told.collect())
}

impl Need {
    /// One line that says what to do where it is missing.
    pub fn error(&self) -> Error {
        let program = &self.program;
        let how = match &self.package {
            Some(_) if program == Client::Fio.name() && std::env::var_os(FIO).is_some() => {
                format!(": {FIO} has to name a program")
            }
            Some(package) => format!(": install the Debian package {package}"),
            None => String::new(),
        };
        Error::Measure(format!("the study needs {program}, which is not there{how}"))
    }

    /// The first line that it says of its version.
    fn version(&self) -> Option<String> {
        let option = self.version.as_ref()?;
        let output =
            command(self.found.as_ref()?).arg(option).stdin(Stdio::null()).output().ok()?;
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said).into_owned();
        said.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
    }
}

/// Where the program of a client is. Debian's fio lacks engines, so that another may be named.
pub(super) fn client_program(client: Client) -> Option<PathBuf> {
    match std::env::var(FIO) {
        Ok(file) if client == Client::Fio => find(&file),
        _ => find(client.name()),
    }
}
