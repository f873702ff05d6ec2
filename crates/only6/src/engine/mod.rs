//! Starting programs in the network of a scenario, and watching their packets.
//!
//! The process must be in a lab's enclosure: the programs end with it.

mod app_command;
mod app_network;
mod client_run;
mod cost_run;
mod folder;
mod listening;
mod probe;
mod program_files;
mod server_run;
mod started_program;
mod watch_start;
mod wire_capture;

use std::io;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use sixmark_sys::command_error::CommandError;
use sixmark_sys::enclosure::Rights;

pub use app_command::AppCommand;
pub use app_network::AppNetwork;
pub use cost_run::{CostRun, MeasuredCost, UncomparedWay, measure_costs};
pub use folder::{CheckedFolder, FolderWriter, check_folder, check_new_folder, read_file};
pub use program_files::describe_files;
pub use watch_start::watch_start;

use crate::app_start::AppStart;

/// How programs are run.
#[derive(Clone, Copy, Debug)]
pub struct Only6Options<'a> {
    /// The client; `None` if the server alone is run.
    pub client: Option<&'a AppCommand>,
    /// The server; `None` for sixmark's own.
    pub server: Option<&'a AppCommand>,
    /// The server's port.
    pub port: u16,
    /// The path that is asked for.
    pub path: &'a str,
    /// How long a client may run, and how long a server may take until it listens.
    pub patience: Duration,
    /// The privileges in the enclosure.
    pub rights: Rights,
    /// Ends everything when set.
    pub stop: &'a AtomicBool,
}

/// A start, with the packets of it that were kept.
#[derive(Clone, Debug)]
pub struct CapturedStart {
    /// What was seen.
    pub start: AppStart,
    /// The packets, as a file in pcap format.
    pub capture: Vec<u8>,
}

/// Returns this program, as whose server and comparisons it runs.
fn own_program() -> Result<PathBuf, CommandError> {
    std::env::current_exe().map_err(|error| cannot("this program can't be found", error))
}

fn cannot(what: &str, error: io::Error) -> CommandError {
    CommandError::Measure(format!("{what}: {error}"))
}
