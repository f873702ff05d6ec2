//! Passive measurement of traffic between other hosts. Packets come from interfaces or from a file,
//! are assigned to flows, and become a result.

mod assemble;
mod capture_state;
mod file;
mod input;
mod lines;
mod live;
mod quic;

use std::path::PathBuf;
use std::time::Duration;

use crate::Progress;
use sixmark_units::family::PerFamily;

pub use file::watch_file;
pub use live::{LiveSettings, live};

/// The word with which `sixmark watch` says that it has begun, so that scripts know.
pub const WATCHING: &str = "watching";

/// What to follow, and where to write it.
#[derive(Clone, Debug, Default)]
pub struct WatchSettings {
    /// The ports of servers; empty means any port.
    pub ports: Vec<u16>,
    /// The most connections that are followed at once.
    pub max_flows: usize,
    /// A connection without packets for this long is no longer followed.
    pub idle: Duration,
    /// The file that gets a line for each connection.
    pub connections: Option<PathBuf>,
    /// The file that gets a line for each exchange.
    pub exchanges: Option<PathBuf>,
}

/// The progress of a watch.
#[derive(Clone, Debug, Default)]
pub struct WatchProgress {
    /// Packets that were processed.
    pub packets: u64,
    /// Packets that the kernel dropped.
    pub dropped: u64,
    /// The connections and exchanges that have ended.
    pub families: PerFamily<Progress>,
    /// Nanoseconds since the beginning, by the capture's clock.
    pub elapsed_ns: u64,
    /// Files that can no longer be written, with the reason. Each is reported once and becomes a
    /// warning of the result.
    pub lost_files: Vec<String>,
}
