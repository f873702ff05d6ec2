//! What a command that loads says beside the load.

use crate::cli::gates::GateArgs;
use crate::cli::inside::InsideArgs;
use crate::cli::keep::KeepArgs;
use crate::cli::out::OutputPlace;

/// Options of a command as a whole: where it loads from, what it looks at beside the load, what it judges,
/// and where documents go.
#[derive(Clone, Debug, clap::Args)]
#[group(skip)]
pub(in crate::cli) struct SessionArgs {
    #[command(flatten)]
    pub(in crate::cli) inside: InsideArgs,

    /// First measure what sixmark itself adds, against its own server on loopback, over HTTP/1.1
    /// without TLS
    #[arg(long, help_heading = "Measurement", display_order = 1)]
    pub(in crate::cli) calibrate: bool,

    /// The server's resource use, to report the cost of a request there for each family: the file
    /// that `sixmark vitals --jsonl` writes on it, the URL of its node_exporter or of `sixmark
    /// vitals --prometheus`, or lab:HOST
    #[arg(long, value_name = "FILE|URL|lab:HOST", help_heading = "Measurement")]
    pub(in crate::cli) vitals_from: Option<String>,

    #[command(flatten)]
    pub(in crate::cli) gates: GateArgs,

    /// Write the result document (sixmark.result/1)
    #[arg(long, value_name = "FILE|-", help_heading = "Output", display_order = 1)]
    pub(in crate::cli) json: Option<OutputPlace>,

    /// Write the report as a page that needs no network
    #[arg(long, value_name = "FILE|-", help_heading = "Output")]
    pub(in crate::cli) html: Option<OutputPlace>,

    #[command(flatten)]
    pub(in crate::cli) keep: KeepArgs,

    /// No table and no progress; warnings stay
    #[arg(short, long, help_heading = "Output")]
    pub(in crate::cli) quiet: bool,

    /// Where schedules over several addresses begin, and Poisson arrivals [default: random]
    #[arg(long, value_name = "N", help_heading = "Load")]
    pub(in crate::cli) seed: Option<u64>,
}
