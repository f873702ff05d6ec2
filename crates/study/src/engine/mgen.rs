//! MGEN as the sender of background traffic.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use sixmark_lab::Host;
use sixmark_sys::command_error::CommandError;
use sixmark_sys::process::Running;
use sixmark_sys::program::{find_program, plain_command};
use sixmark_traffic::{Outgoing, write_script};

/// Its program.
pub(super) const PROGRAM: &str = "mgen";
/// The Debian package that contains it.
pub(super) const PACKAGE: &str = "mgen";
/// What makes it print its version, in the first line of its output, and end.
pub(super) const VERSION: &str = "help";

/// A running MGEN. It ends when this value is dropped.
pub(super) struct Mgen {
    _running: Running,
    said: PathBuf,
}

impl Mgen {
    /// Starts it in a host with the script of these flows. `name` is unique among the generators
    /// that run at once; script and output are files of that name in `folder`. Call this in the main
    /// thread: it ends with the thread that started it.
    pub(super) fn start(
        host: &Host,
        flows: &[Outgoing],
        name: &str,
        folder: &Path,
    ) -> Result<Mgen, CommandError> {
        let cannot =
            |error: std::io::Error| CommandError::Measure(format!("can't start mgen: {error}"));
        let program = find_program(PROGRAM).ok_or_else(|| {
            CommandError::Measure("mgen is no longer installed: install the package mgen".into())
        })?;
        let (script, said) =
            (folder.join(format!("{name}.mgn")), folder.join(format!("{name}.log")));
        fs::write(&script, write_script(flows)).map_err(cannot)?;
        let mut command = plain_command(&program);
        // Its log of messages would be as large as they are.
        command.arg("nolog").arg("input").arg(&script);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(File::create(&said).map_err(cannot)?);
        let running = host.start(&mut command, None).map_err(cannot)?;
        Ok(Mgen { _running: running, said })
    }

    /// Returns the last line that it said.
    pub(super) fn said(&self) -> Option<String> {
        let text = fs::read(&self.said).unwrap_or_default();
        let text = String::from_utf8_lossy(&text).into_owned();
        text.lines().map(str::trim).rfind(|line| !line.is_empty()).map(str::to_owned)
    }
}
