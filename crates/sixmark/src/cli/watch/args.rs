//! The options of `sixmark watch`, as typed.

use std::path::PathBuf;
use std::time::Duration;

use super::super::files::CommandFiles;
use super::super::out::OutputPlace;
use super::super::progress::ProgressArgs;
use super::super::{gates, inside, keep};
use sixmark_options::times::positive_time;
use sixmark_sys::command_error::CommandError;
use sixmark_watch::engine::{LiveSettings, WatchSettings};

/// Measure the traffic of other programs from its packets.
///
/// Sends nothing. Reads packets from interfaces, or from a file written by tcpdump, Wireshark or `sixmark watch
/// -w`, and follows the connections in them: time to connect, losses and retransmissions, and each
/// exchange of HTTP/1 in plain text. Packets in VLANs, MPLS, PPPoE, GRE, VXLAN, Geneve, GTP and
/// IP-in-IP tunnels are read too; all others are counted by what they are. Watches until Ctrl-C, or
/// for the time of -d. docs/watch.md defines each figure.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct WatchArgs {
    /// Watch this interface; repeatable [default: all that are up]
    #[arg(short, long, value_name = "IFACE", conflicts_with = "read", help_heading = "Packets")]
    interface: Vec<String>,

    /// Read packets from a pcap or pcapng file, optionally compressed with gzip or zstd ('-':
    /// standard input)
    #[arg(short, long, value_name = "FILE|-", help_heading = "Packets")]
    pub(super) read: Option<PathBuf>,

    /// Only follow connections to these server ports [default: any]
    #[arg(short, long, value_name = "PORT", value_delimiter = ',', value_parser = clap::value_parser!(u16).range(1..),
          help_heading = "Packets")]
    port: Vec<u16>,

    /// End after this time (10s, 500ms, 1m) [default: on Ctrl-C]
    #[arg(short, long, value_name = "TIME", value_parser = positive_time, conflicts_with = "read",
          help_heading = "Packets")]
    pub(super) duration: Option<Duration>,

    /// After the end, continue while connections are open, for at most this time [default: 0s]
    #[arg(long, value_name = "TIME", value_parser = positive_time, conflicts_with = "read",
          help_heading = "Packets")]
    settle: Option<Duration>,

    /// Also write the packets to a file for tcpdump and Wireshark
    #[arg(short, long, value_name = "FILE", conflicts_with = "read", help_heading = "Capture")]
    write: Option<PathBuf>,

    /// Bytes captured of each packet: less is faster, but HTTP heads must fit [default: 2048]
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(64..=262_144), conflicts_with = "read",
          help_heading = "Capture")]
    snap: Option<u32>,

    /// Size of each interface's capture ring in MiB [default: 32]
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u32).range(1..=4_095), conflicts_with = "read",
          help_heading = "Capture")]
    ring: Option<u32>,

    /// Set interfaces to promiscuous mode
    #[arg(long, conflicts_with = "read", help_heading = "Capture")]
    promiscuous: bool,

    /// Maximum number of connections followed together; the longest idle one is evicted
    #[arg(long, value_name = "N", default_value = "262144", value_parser = clap::value_parser!(u32).range(1..),
          help_heading = "Memory")]
    max_flows: u32,

    /// Stop following a connection that is idle for this time
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = positive_time, help_heading = "Memory")]
    idle: Duration,

    #[command(flatten)]
    pub(super) inside: inside::InsideArgs,

    #[command(flatten)]
    pub(super) gates: gates::GateArgs,

    /// Write one line per connection: CSV, or JSON if the name ends in .jsonl
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    connections: Option<PathBuf>,

    /// Write one line per HTTP/1 exchange: CSV, or JSON if the name ends in .jsonl
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    exchanges: Option<PathBuf>,

    /// Write the result document (sixmark.watch/1)
    #[arg(long, value_name = "FILE|-", help_heading = "Output")]
    pub(super) json: Option<OutputPlace>,

    /// Write CSV, one line per family
    #[arg(long, value_name = "FILE|-", help_heading = "Output")]
    pub(super) csv: Option<OutputPlace>,

    /// Write the report as a self-contained HTML page
    #[arg(long, value_name = "FILE|-", help_heading = "Output")]
    pub(super) html: Option<OutputPlace>,

    #[command(flatten)]
    pub(super) keep: keep::KeepArgs,

    /// Print only warnings and errors
    #[arg(short, long, help_heading = "Output")]
    pub(super) quiet: bool,

    #[command(flatten)]
    pub(super) progress: ProgressArgs,
}

impl WatchArgs {
    /// Checks that each output has a place of its own, and that `--in` is not used with a file.
    pub(super) fn check(&self) -> Result<(), CommandError> {
        self.files().check()?;
        if self.read.is_some() && self.inside.is_given() {
            let line = "--in watches a host of a lab, but -r reads a file; omit one of them";
            return Err(CommandError::Usage(line.into()));
        }
        Ok(())
    }

    fn files(&self) -> CommandFiles {
        let place = |path: &Option<PathBuf>| path.clone().map(OutputPlace::File);
        CommandFiles::default()
            .document("--json", self.json.as_ref())
            .document("--csv", self.csv.as_ref())
            .document("--junit", self.gates.junit.as_ref())
            .document("--html", self.html.as_ref())
            .lines("--write", place(&self.write))
            .lines("--connections", place(&self.connections))
            .lines("--exchanges", place(&self.exchanges))
            .input("--read", self.read.as_deref())
            .store(self.keep.store())
    }

    pub(super) fn settings(&self) -> WatchSettings {
        let mut ports = self.port.clone();
        ports.sort_unstable();
        ports.dedup();
        WatchSettings {
            ports,
            max_flows: self.max_flows as usize,
            idle: self.idle,
            connections: self.connections.clone(),
            exchanges: self.exchanges.clone(),
        }
    }

    pub(super) fn live_settings(&self) -> LiveSettings {
        let mut interfaces: Vec<String> = Vec::new();
        for name in &self.interface {
            // If an interface were read twice, all packets would look like retransmissions.
            if !interfaces.contains(name) {
                interfaces.push(name.clone());
            }
        }
        LiveSettings {
            interfaces,
            duration: self.duration,
            settle: self.settle.unwrap_or_default(),
            snap: self.snap.unwrap_or(2_048),
            mebibytes: self.ring.unwrap_or(32),
            promiscuous: self.promiscuous,
            file: self.write.clone(),
        }
    }
}
