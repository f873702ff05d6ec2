//! The programs that a study uses beside sixmark.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sixmark_core::plan::braces::names;
use sixmark_core::plan::study::Study;
use sixmark_core::plan::study::cells::cells;
use sixmark_core::study::client::Client;

use crate::Error;

/// Where daemons are, which a user's own path may lack.
const DAEMONS: [&str; 3] = ["/usr/local/sbin", "/usr/sbin", "/sbin"];

/// Variables that lead a client elsewhere than it was told.
const PROXIES: [&str; 8] = [
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
];

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
    let mut need = |program: &str, package: Option<String>, version: Option<String>| {
        if !needs.iter().any(|known| known.program == program) {
            let found = find(program);
            needs.push(Need { program: program.to_owned(), package, version, found });
        }
    };
    for service in &study.services {
        // A name in braces is this program.
        let program = service.command.first().filter(|word| names(word).is_empty());
        if let Some(program) = program {
            need(program, service.package.clone(), service.version.clone());
        }
    }
    for client in cells(study).iter().map(|cell| cell.client()) {
        if client != Client::Sixmark {
            let version = Some(client.version_option().to_owned());
            need(client.name(), Some(client.package().to_owned()), version);
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

/// The file of a program, found where daemons are too.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    if program.contains('/') {
        return Some(PathBuf::from(program)).filter(|path| is_program(path));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(DAEMONS.map(PathBuf::from));
    folders.map(|folder| folder.join(program)).find(|path| is_program(path))
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// A program whose words are English and that goes where it is told.
pub(crate) fn command(path: &Path) -> Command {
    let mut command = Command::new(path);
    command.env("LC_ALL", "C").env_remove("LANGUAGE").stdin(Stdio::null());
    for name in PROXIES {
        command.env_remove(name);
    }
    command
}
