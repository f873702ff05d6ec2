//! A client that can be started: found, built where it must be, with its version.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use sixmark_eyes::engine::WatchedClient;
use sixmark_sys::process::Running;
use sixmark_sys::program::{command_of, find_program};

use super::folder_error;
use crate::inspection::clients::{ClientStart, InspectedClient};

/// How long a build may take.
const BUILD: Duration = Duration::from_secs(300);
/// How long a program has to print its version.
const VERSION: Duration = Duration::from_secs(20);
/// How long a program that took too long has to end.
const END: Duration = Duration::from_secs(2);
/// The longest reason of a build that is shown, in characters.
const LONGEST_REASON: usize = 200;

/// A client that can be started.
#[derive(Debug)]
pub(super) struct ReadyClient {
    client: &'static InspectedClient,
    version: String,
    /// The program and the words before the URL. A browser's follow at each start.
    words: Vec<String>,
    folder: PathBuf,
}

impl ReadyClient {
    /// Finds a client, and builds it if need be, in a folder of its own. Fails with the reason why it is not
    /// here, in a clause.
    pub(super) fn prepare(
        client: &'static InspectedClient,
        folder: &Path,
    ) -> Result<ReadyClient, String> {
        fs::create_dir_all(folder).map_err(|error| folder_error(folder, &error))?;
        let (version, words) = match client.start {
            ClientStart::Program(words) => of_program(words, folder)?,
            ClientStart::Browser(browser) => of_program(&[installed(browser.programs())?], folder)?,
            ClientStart::Script { program, file, text, library } => {
                of_script(program, file, text, library, folder)?
            }
            ClientStart::Go(text) => of_go(text, folder)?,
            ClientStart::Java(text) => of_java(text, folder)?,
            ClientStart::Rust { library, dependencies, text } => {
                of_rust(library, dependencies, text, folder)?
            }
        };
        Ok(ReadyClient { client, version, words, folder: folder.to_owned() })
    }

    pub(super) fn client(&self) -> &'static InspectedClient {
        self.client
    }

    pub(super) fn version(&self) -> &str {
        &self.version
    }

    /// Returns the words of its command as documents have them, without the paths of this machine.
    pub(super) fn shown_words(&self) -> Vec<String> {
        let folder = self.folder.display().to_string();
        let mut words: Vec<String> =
            self.words.iter().map(|word| word.replace(&folder, "FOLDER")).collect();
        if let Some(name) = self.words.first().and_then(|word| Path::new(word).file_name()) {
            words[0] = name.to_string_lossy().into_owned();
        }
        if let ClientStart::Browser(browser) = self.client.start {
            words.extend(browser.arguments(Path::new("PROFILE"), "{url}"));
        }
        words
    }

    /// Returns it as it is watched.
    pub(super) fn watched(&self) -> WatchedClient<'_> {
        match self.client.start {
            ClientStart::Browser(browser) => WatchedClient::Browser(browser),
            _ => WatchedClient::Command(&self.words),
        }
    }

    /// Returns its program.
    pub(super) fn program(&self) -> &Path {
        Path::new(self.words.first().map_or("", String::as_str))
    }
}

/// A version and the words of a command.
type FoundProgram = (String, Vec<String>);

fn installed(names: &[&'static str]) -> Result<&'static str, String> {
    let found = names.iter().find(|name| find_program(name).is_some());
    found.copied().ok_or_else(|| format!("{} is not installed", names.join(" or ")))
}

fn path_of(program: &str) -> Result<String, String> {
    let path = find_program(program).ok_or_else(|| format!("{program} is not installed"))?;
    Ok(path.display().to_string())
}

fn of_program(words: &[&str], folder: &Path) -> Result<FoundProgram, String> {
    let path = path_of(words[0])?;
    let version = version_of(&[&path, "--version"], folder)?;
    let rest = words[1..].iter().map(|word| (*word).to_owned());
    Ok((version, std::iter::once(path).chain(rest).collect()))
}

fn of_script(
    program: &str,
    file: &str,
    text: &str,
    library: Option<&str>,
    folder: &Path,
) -> Result<FoundProgram, String> {
    let path = path_of(program)?;
    let script = write_file(folder, file, text)?;
    let version = version_of(&[&path, "--version"], folder)?;
    let version = match library {
        None => version,
        Some(library) => {
            let print = format!("import {library}; print({library}.__version__)");
            let own = version_of(&[&path, "-c", &print], folder)
                .map_err(|_| format!("{program} has no module {library}"))?;
            format!("{own}, {version}")
        }
    };
    Ok((version, vec![path, script]))
}

fn of_go(text: &str, folder: &Path) -> Result<FoundProgram, String> {
    let go = path_of("go")?;
    let version = version_of(&[&go, "version"], folder)?;
    let source = write_file(folder, "get.go", text)?;
    let built = folder.join("get").display().to_string();
    let mut command = command_of(Path::new(&go));
    command.args(["build", "-o", &built, &source]);
    command.env("GOPROXY", "off").env("GO111MODULE", "off").env("GOTOOLCHAIN", "local");
    build(command, folder)?;
    Ok((version, vec![built]))
}

fn of_java(text: &str, folder: &Path) -> Result<FoundProgram, String> {
    let (java, javac) = (path_of("java")?, path_of("javac")?);
    let version = version_of(&[&java, "--version"], folder)?;
    let source = write_file(folder, "Get.java", text)?;
    let folder_text = folder.display().to_string();
    let mut command = command_of(Path::new(&javac));
    command.args(["-d", &folder_text, &source]);
    build(command, folder)?;
    Ok((version, [&java, "-cp", &folder_text, "Get"].map(str::to_owned).to_vec()))
}

fn of_rust(
    library: &str,
    dependencies: &str,
    text: &str,
    folder: &Path,
) -> Result<FoundProgram, String> {
    let cargo = path_of("cargo")?;
    let manifest = format!(
        "[package]\nname = \"get\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[workspace]\n\
         [profile.dev]\ndebug = 0\n[dependencies]\n{dependencies}"
    );
    let source = folder.join("src");
    fs::create_dir_all(&source).map_err(|error| folder_error(&source, &error))?;
    write_file(folder, "Cargo.toml", &manifest)?;
    write_file(&source, "main.rs", text)?;
    let target = folder.join("target");
    let mut command = command_of(Path::new(&cargo));
    command.args(["build", "--offline", "--quiet", "--manifest-path"]);
    command.arg(folder.join("Cargo.toml")).env("CARGO_TARGET_DIR", &target).current_dir(folder);
    build(command, folder)?;
    let lock = fs::read_to_string(folder.join("Cargo.lock")).unwrap_or_default();
    let version = locked_version(&lock, library).unwrap_or("unknown");
    let built = target.join("debug/get").display().to_string();
    Ok((format!("{library} {version}"), vec![built]))
}

/// Returns the version of a crate in a lock file.
fn locked_version<'a>(lock: &'a str, library: &str) -> Option<&'a str> {
    let name = format!("name = \"{library}\"");
    let line = lock.lines().skip_while(|line| *line != name).nth(1)?;
    line.strip_prefix("version = \"")?.strip_suffix('"')
}

fn write_file(folder: &Path, name: &str, text: &str) -> Result<String, String> {
    let path = folder.join(name);
    fs::write(&path, text).map_err(|error| folder_error(&path, &error))?;
    Ok(path.display().to_string())
}

/// Returns the first line that a program prints; fails if it fails.
fn version_of(words: &[&str], folder: &Path) -> Result<String, String> {
    let mut command = command_of(Path::new(words[0]));
    command.args(&words[1..]);
    let said = outcome(command, folder, VERSION)?;
    let line = said.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("unknown");
    Ok(line.to_owned())
}

/// Runs a build. Fails with its first error.
fn build(command: Command, folder: &Path) -> Result<(), String> {
    outcome(command, folder, BUILD).map(drop)
}

/// Runs a program, and returns what it printed. Fails with its first line that has an error, if it fails.
fn outcome(mut command: Command, folder: &Path, most: Duration) -> Result<String, String> {
    let shown = Path::new(command.get_program()).file_name().unwrap_or_default();
    let shown = shown.to_string_lossy().into_owned();
    let files = ["printed", "complained"].map(|name| folder.join(name));
    let [printed, complained] = &files;
    let open = |path: &PathBuf| File::create(path).map_err(|error| folder_error(path, &error));
    command.stdin(Stdio::null()).stdout(open(printed)?).stderr(open(complained)?);
    let ended = Running::start(&mut command).and_then(|mut running| {
        let exit = running.wait(most)?;
        if exit.is_none() {
            running.stop(END)?;
        }
        Ok(exit)
    });
    let exit = ended
        .map_err(|error| format!("{shown} can't be started: {error}"))?
        .ok_or_else(|| format!("{shown} took longer than {} s", most.as_secs()))?;
    let read = |path: &PathBuf| {
        let bytes = fs::read(path).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    if exit.status.success() {
        return Ok(read(printed));
    }
    Err(format!("{shown}: {}", first_error(&read(complained))))
}

/// Returns the first line that has an error, else the first line.
fn first_error(text: &str) -> String {
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let line = lines().find(|line| line.contains("error")).or_else(|| lines().next());
    line.unwrap_or("it failed and said nothing").chars().take(LONGEST_REASON).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_version_of_a_crate_and_the_reason_of_a_failed_build() {
        let lock = "[[package]]\nname = \"h2\"\nversion = \"0.4\"\n\n[[package]]\nname = \"hyper\"\nversion = \"1.2\"\n";
        assert_eq!(locked_version(lock, "hyper"), Some("1.2"));
        assert_eq!(locked_version(lock, "ureq"), None);
        assert_eq!(
            first_error("warning: x\nerror: no matching package\nas a reminder"),
            "error: no matching package"
        );
        assert_eq!(first_error(""), "it failed and said nothing");
    }

    #[test]
    fn a_program_that_is_not_installed_is_a_reason() {
        let folder = tempfile::tempdir().unwrap();
        let found = of_program(&["no-such-client"], folder.path());
        assert_eq!(found.unwrap_err(), "no-such-client is not installed");
    }
}
