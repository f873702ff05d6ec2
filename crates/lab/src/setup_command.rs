//! Programs that run in a host to completion.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use super::TEMPORARY;
use super::host::Host;
use sixmark_sys::command_error::CommandError;
use sixmark_sys::program::{command_of, find_program};

/// The maximum run time. None of these programs has much to do.
const PATIENCE: Duration = Duration::from_secs(30);

/// A program to run to completion.
#[derive(Clone, Copy, Debug)]
pub(super) struct SetupCommand<'a> {
    pub(super) program: &'a str,
    /// The Debian package that contains it.
    pub(super) package: &'a str,
    pub(super) arguments: &'a [&'a str],
}

/// Runs a program in a host and waits until it ends.
///
/// # Errors
/// Fails if the program is not installed or fails; the message includes the first line of its
/// output.
pub(super) fn run_setup_command(host: &Host, setup: &SetupCommand<'_>) -> Result<(), CommandError> {
    let SetupCommand { program, package, arguments } = setup;
    let cannot = |why: &str| {
        CommandError::Measure(format!("can't build the lab: {}: {program}: {why}", host.name()))
    };
    let path = find_program(program);
    let path = path.ok_or_else(|| cannot(&format!("install the Debian package {package}")))?;
    let said = path_of_output(host, program);
    let open = || File::create(&said).map_err(|error| cannot(&error.to_string()));
    let mut command = command_of(&path);
    command.args(*arguments).stdout(Stdio::null()).stderr(open()?);
    let started = host.start(&mut command, None);
    let mut running = started.map_err(|error| cannot(&error.to_string()))?;
    match running.wait(PATIENCE).map_err(|error| cannot(&error.to_string()))? {
        Some(exit) if exit.status.success() => Ok(()),
        Some(exit) => Err(cannot(&format!("{}{}", exit.status, first_line(&said)))),
        None => Err(cannot(&format!("did not exit within {} s", PATIENCE.as_secs()))),
    }
}

/// Returns the path of the file for the program's output.
fn path_of_output(host: &Host, program: &str) -> PathBuf {
    Path::new(TEMPORARY).join("hosts").join(host.name()).join(format!("{program}.log"))
}

fn first_line(file: &Path) -> String {
    let text = fs::read(file).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty());
    line.map_or(String::new(), |line| format!(": {line}"))
}
