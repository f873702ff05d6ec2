//! Programs that the user gives for services.

use std::collections::BTreeMap;
use std::path::PathBuf;

use sixmark_sys::command_error::CommandError;
use sixmark_sys::program::find_program;

use sixmark_design::spec::Study;

/// A program that the user gives for a service: `NAME=PATH`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenProgram {
    service: String,
    path: PathBuf,
}

impl std::str::FromStr for GivenProgram {
    type Err = String;

    fn from_str(text: &str) -> Result<GivenProgram, String> {
        match text.split_once('=') {
            Some((service, path)) if !service.is_empty() && !path.is_empty() => {
                Ok(GivenProgram { service: service.to_owned(), path: path.into() })
            }
            _ => Err("write NAME=PATH: a service of the study, and a program for it".to_owned()),
        }
    }
}

impl std::fmt::Display for GivenProgram {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}={}", self.service, self.path.display())
    }
}

/// Has the study's services run the programs that the user gives.
///
/// # Errors
/// One line: a path is no program, or the study has no such service.
pub fn give_programs(study: &mut Study, given: &[GivenProgram]) -> Result<(), CommandError> {
    let mut all = BTreeMap::new();
    for GivenProgram { service, path } in given {
        let wrong = |why: &str| {
            let path = path.display();
            CommandError::Usage(format!("--server {service}={path}: {why}"))
        };
        let absolute = std::path::absolute(path).map_err(|error| wrong(&error.to_string()))?;
        if find_program(&absolute.display().to_string()).is_none() {
            return Err(wrong(
                "is not an executable file: name the server's program, such as /opt/httpd/bin/httpd",
            ));
        }
        if all.insert(service.clone(), absolute).is_some() {
            return Err(wrong("this service has a program already: give one for each service"));
        }
    }
    study.give(all).map_err(|why| CommandError::Usage(format!("--server: {why}")))
}

/// Checks that a study that is resumed has the programs that were given when it began.
///
/// # Errors
/// One line: a service runs and has no program.
pub fn check_given(study: &Study) -> Result<(), CommandError> {
    let lacks = |service: &&sixmark_design::spec::Service| {
        service.given && !study.named.programs.contains_key(&service.name)
    };
    let running = study.services.iter().filter(|service| !study.is_omitted(&service.name));
    match running.into_iter().find(lacks) {
        None => Ok(()),
        Some(service) => Err(CommandError::Usage(format!(
            "the study began with a program for {name}: give it again, --server {name}=PATH",
            name = service.name
        ))),
    }
}
