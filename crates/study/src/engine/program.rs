//! The programs that a study uses besides sixmark.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use sixmark_clients::client::{Client, engine_for};
use sixmark_design::spec::cells::cells;
use sixmark_design::spec::{PlannedCell, Service, Study};
use sixmark_design::study_result::TrafficGenerator;
use sixmark_document::braces::names_in_braces;

use super::mgen;
use sixmark_sys::command_error::CommandError;
use sixmark_sys::program::{command_of, find_program};

/// The environment variable that names the fio to use.
const FIO: &str = "SIXMARK_FIO";

/// A program that a study needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// Its name or, if the user gives the program of a service, the name of the service.
    pub program: String,
    /// The Debian package that contains it, if known.
    pub package: Option<String>,
    /// The option that prints its version, or a command of several words; empty if there is none.
    version: Vec<String>,
    /// Its path; `None` if it is missing.
    pub found: Option<PathBuf>,
    /// Whether the user gives it.
    given: bool,
}

/// Returns every program that a study needs: services, then clients, then generators of traffic.
pub fn needs(study: &Study) -> Vec<Need> {
    let mut needs: Vec<Need> = Vec::new();
    let mut need = |need: Need| {
        if !needs.iter().any(|known| known.program == need.program) {
            needs.push(need);
        }
    };
    let cells = cells(study);
    for service in study.services.iter().filter(|service| is_wanted(study, service)) {
        // A name in braces stands for sixmark itself.
        let program = service.command.first().filter(|word| names_in_braces(word).is_empty());
        if let Some(program) = program {
            let given = study.named.programs.get(&service.name);
            let name = if given.is_some() { &service.name } else { program };
            let file = given.map_or_else(|| program.clone(), |path| path.display().to_string());
            need(Need {
                program: name.clone(),
                package: service.package.clone(),
                version: service.version.clone(),
                found: find_program(&file),
                given: given.is_some(),
            });
        }
    }
    for client in cells.iter().map(|cell| cell.client()) {
        if client != Client::Sixmark {
            let version = vec![client.version_option().to_owned()];
            let (program, found) = (client.name().to_owned(), client_program(client));
            let package = Some(client.package().to_owned());
            need(Need { program, package, version, found, given: false });
        }
    }
    if cells.iter().any(|cell| generator(study, cell) == Some(TrafficGenerator::Mgen)) {
        need(Need {
            program: mgen::PROGRAM.to_owned(),
            package: Some(mgen::PACKAGE.to_owned()),
            version: vec![mgen::VERSION.to_owned()],
            found: find_program(mgen::PROGRAM),
            given: false,
        });
    }
    needs
}

/// Returns what generates the background traffic of a cell.
fn generator(study: &Study, cell: &PlannedCell<'_>) -> Option<TrafficGenerator> {
    study.traffic.as_ref()?.mixes.get(cell.text("traffic")?).map(|mix| mix.generator)
}

/// Returns true if a service runs during the study: it is not omitted, and not only for cells that the
/// study lacks.
pub(super) fn is_wanted(study: &Study, service: &Service) -> bool {
    let is_loaded =
        || cells(study).iter().any(|cell| cell.text("server") == Some(service.name.as_str()));
    !study.is_omitted(&service.name) && (!service.on_demand || is_loaded())
}

/// Returns the version of each program. Fails if one is missing.
pub(super) fn versions(study: &Study) -> Result<BTreeMap<String, String>, CommandError> {
    let needs = needs(study);
    if let Some(missing) = needs.iter().find(|need| need.found.is_none()) {
        return Err(missing.error());
    }
    engines(study, &needs)?;
    let told = needs.into_iter().map(|need| {
        let version = need.version().unwrap_or_else(|| "unknown".to_owned());
        match need.found.as_ref().filter(|_| need.given) {
            Some(path) => {
                let version = format!("{version} ({})", path.display());
                (need.program, version)
            }
            None => (need.program, version),
        }
    });
    Ok(told.collect())
}

/// Fails if fio lacks an engine that a cell needs, as Debian's fio does.
fn engines(study: &Study, needs: &[Need]) -> Result<(), CommandError> {
    let fio = needs.iter().find(|need| need.program == Client::Fio.name());
    let Some(file) = fio.and_then(|fio| fio.found.as_ref()) else { return Ok(()) };
    match lacking_engine(file, &engines_of(study, |_| true))? {
        Some(engine) => Err(CommandError::Measure(format!(
            "the study needs a fio with the engine {engine}, which {} lacks: scripts/install-fio \
             builds one, {FIO}=FILE selects it",
            file.display()
        ))),
        None => Ok(()),
    }
}

/// Returns why cells that load this service can't be measured, in a clause, if fio lacks an engine that
/// they need.
pub(super) fn missing_engine(
    study: &Study,
    service: &Service,
) -> Result<Option<String>, CommandError> {
    let engines = engines_of(study, |server| server == Some(service.name.as_str()));
    let Some(file) = client_program(Client::Fio).filter(|_| !engines.is_empty()) else {
        return Ok(None);
    };
    let lacking = lacking_engine(&file, &engines)?;
    Ok(lacking.map(|engine| {
        format!(
            "fio has no engine {engine} (scripts/install-fio builds one, {FIO}=FILE selects it)"
        )
    }))
}

/// Returns the first of these engines that a fio lacks.
fn lacking_engine(
    file: &Path,
    engines: &[&'static str],
) -> Result<Option<&'static str>, CommandError> {
    let output = command_of(file).arg("--enghelp").stdin(Stdio::null()).output();
    let output = output.map_err(|error| {
        CommandError::Measure(format!("can't start '{}': {error}", file.display()))
    })?;
    let has = String::from_utf8_lossy(&output.stdout).into_owned();
    let lacks = |engine: &&&str| !has.lines().any(|line| line.trim() == **engine);
    Ok(engines.iter().find(lacks).copied())
}

/// Returns the engines of fio that the cells which load such a service need.
fn engines_of(study: &Study, is_asked: impl Fn(Option<&str>) -> bool) -> Vec<&'static str> {
    let cells = cells(study);
    let of_fio = cells.iter().filter(|cell| cell.client() == Client::Fio);
    let urls = of_fio.flat_map(|cell| {
        let server = study.server_of(cell);
        if is_asked(server) {
            server.and_then(|name| study.likely_urls(name)).unwrap_or_else(|| study.targets.clone())
        } else {
            Vec::new()
        }
    });
    let mut engines: Vec<_> = urls.filter_map(|url| engine_for(&url)).collect();
    engines.sort_unstable();
    engines.dedup();
    engines
}

impl Need {
    /// Returns the error of a missing program, which says what to do.
    pub fn error(&self) -> CommandError {
        let program = &self.program;
        let how = match &self.package {
            Some(_) if program == Client::Fio.name() && std::env::var_os(FIO).is_some() => {
                format!(": {FIO} must name a program")
            }
            Some(package) => format!(": install the Debian package {package}"),
            None => String::new(),
        };
        CommandError::Measure(format!("the study needs {program}, which is not installed{how}"))
    }

    /// Returns the first line of its output about its version.
    fn version(&self) -> Option<String> {
        let found = self.found.clone()?;
        let (program, words) = match self.version.as_slice() {
            [] => return None,
            [_] => (found, self.version.as_slice()),
            [other, words @ ..] => (find_program(other)?, words),
        };
        let output = command_of(&program).args(words).stdin(Stdio::null()).output().ok()?;
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said).into_owned();
        said.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
    }
}

/// Returns the path of a client's program. Another fio can be named, because Debian's lacks
/// engines.
pub fn client_program(client: Client) -> Option<PathBuf> {
    match std::env::var(FIO) {
        Ok(file) if client == Client::Fio => find_program(&file),
        _ => find_program(client.name()),
    }
}
