//! Watching traffic that others make: packets come from interfaces or from a file, are followed, and
//! become a result.

mod assemble;
mod eye;
mod file;
mod input;
mod lines;
mod live;
mod quic;

use std::path::PathBuf;
use std::time::Duration;

use sixmark_model::watch::Progress;
use sixmark_units::family::PerFamily;

pub use file::watch_file;
pub use live::{Where, live};

/// What is followed, and where it is told.
#[derive(Clone, Debug, Default)]
pub struct WatchSettings {
    /// The ports of servers; none: any.
    pub ports: Vec<u16>,
    /// So many connections are followed at once at most.
    pub max_flows: usize,
    /// One on which nothing comes for so long is no longer followed.
    pub idle: Duration,
    /// Where a line is written for each connection.
    pub connections: Option<PathBuf>,
    /// Where a line is written for each exchange.
    pub exchanges: Option<PathBuf>,
}

/// How far it has come.
#[derive(Clone, Debug, Default)]
pub struct Sight {
    /// Packets that were looked at.
    pub packets: u64,
    /// Packets that the kernel had to drop.
    pub dropped: u64,
    /// Connections and exchanges that are over.
    pub families: PerFamily<Progress>,
    /// Nanoseconds of the capture's clock since its beginning.
    pub elapsed_ns: u64,
    /// Files that can't be written any more, and why: each is told once, and is a warning of the result.
    pub lost_files: Vec<String>,
}
