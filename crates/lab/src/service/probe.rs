//! Whether an optional service can run here.

use std::fs::{self, DirBuilder, File};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::plan::services::Service;
use sixmark_document::braces::{fill, names_in_braces};
use sixmark_sys::command_error::CommandError;
use sixmark_sys::output::unguessable;
use sixmark_sys::process::Running;
use sixmark_sys::program::{find_program, plain_command};

use super::{last_line, write_file};

/// How long a probe may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a probe that took too long has to end.
const END: Duration = Duration::from_secs(2);

/// Returns why a service can't run, in a clause, if its program is missing. A program whose name has
/// names in braces is known only when the service starts.
pub fn missing_program(service: &Service) -> Option<String> {
    let program = service.command.first().filter(|word| names_in_braces(word).is_empty())?;
    let package = |name: &String| format!(" (Debian package {name})");
    let package = service.package.as_ref().map_or(String::new(), package);
    find_program(program).is_none().then(|| format!("{program} is not installed{package}"))
}

/// Runs the probe of an optional service in a new folder below `base`, which has the service's files.
/// Returns why the service can't run: the last line that the probe printed if it failed. `value`
/// returns the addresses of hosts.
///
/// Call this in the main thread: the probe ends with the thread that started it.
///
/// # Errors
/// The folder can't be created, or the probe not be waited for.
pub fn failed_probe(
    service: &Service,
    base: &Path,
    value: &dyn Fn(&str) -> Option<String>,
) -> Result<Option<String>, CommandError> {
    let probe = service.optional.as_ref().map_or(&[][..], |optional| &optional.probe);
    let [program, arguments @ ..] = probe else { return Ok(None) };
    let place = ProbeFolder::new(base)?;
    let value = |name: &str| match name {
        "dir" => Some(place.0.display().to_string()),
        "www" => Some(place.0.join("www").display().to_string()),
        "sixmark" => std::env::current_exe().ok().map(|path| path.display().to_string()),
        // Nothing listens yet.
        "port" | "port6" => Some("0".to_owned()),
        name => value(name),
    };
    for (name, text) in &service.files {
        write_file(&place.0.join(name), &fill(text, value))?;
    }
    let program = fill(program, value);
    let Some(path) = find_program(&program) else {
        return Ok(Some(format!("its probe can't be started: no program '{program}'")));
    };
    let words = arguments.iter().map(|word| fill(word, value)).collect::<Vec<_>>();
    run(&path, &words, &place.0).map_err(|error| {
        CommandError::Measure(format!(
            "can't run the probe of the service {}: {error}",
            service.name
        ))
    })
}

/// Runs a probe. Returns why it failed.
fn run(program: &Path, words: &[String], dir: &Path) -> std::io::Result<Option<String>> {
    let log = dir.join(format!("probe-{}.log", unguessable()));
    let out = File::create(&log)?;
    let mut command = plain_command(program);
    command.args(words).stdout(out.try_clone()?).stderr(out).current_dir(dir);
    let mut running = Running::start(&mut command)?;
    let Some(exit) = running.wait(PATIENCE)? else {
        running.stop(END)?;
        return Ok(Some(format!("its probe did not end within {} s", PATIENCE.as_secs())));
    };
    if exit.status.success() {
        return Ok(None);
    }
    let without_words = || format!("its probe failed ({})", exit.status);
    Ok(Some(last_line(&log).map_or_else(without_words, |line| line.trim_end_matches('.').into())))
}

/// The folder of a probe. It is removed when it is dropped.
struct ProbeFolder(PathBuf);

impl ProbeFolder {
    fn new(base: &Path) -> Result<ProbeFolder, CommandError> {
        let path = base.join(format!("sixmark-probe-{}", unguessable()));
        let made = DirBuilder::new().mode(0o700).create(&path);
        let folder = made.map(|()| ProbeFolder(path.clone())).and_then(|folder| {
            fs::create_dir(path.join("www"))?;
            Ok(folder)
        });
        folder.map_err(|error| {
            CommandError::Measure(format!("can't make the folder '{}': {error}", path.display()))
        })
    }
}

impl Drop for ProbeFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    use crate::plan::parse_lab;

    fn probed(probe: &str) -> Option<String> {
        let file = format!(
            "name = \"x\"\n[hosts.a]\n[hosts.b]\n[links]\nl = [\"a\", \"b\"]\n[services.one]\n\
             host = \"a\"\ncommand = [\"true\"]\noptional = true\nprobe = {probe}\n\
             [services.one.files]\n\"probe\" = \"echo no nvme in {{a.ipv6}}.; echo; exit 3\"\n"
        );
        let lab = parse_lab(&file, None, &BTreeMap::new()).unwrap();
        failed_probe(&lab.services[0], &std::env::temp_dir(), &|name| lab.value(name)).unwrap()
    }

    #[test]
    fn reports_why_a_probe_failed() {
        let why = probed("[\"sh\", \"{dir}/probe\"]").unwrap();
        assert!(why.starts_with("no nvme in fd") && !why.ends_with('.'), "{why}");
        assert_eq!(probed("[\"false\"]").unwrap(), "its probe failed (exit status: 1)");
        assert_eq!(probed("[\"true\"]"), None);
        let none = "its probe can't be started: no program 'no-such-program'";
        assert_eq!(probed("[\"no-such-program\"]").unwrap(), none);
    }
}
