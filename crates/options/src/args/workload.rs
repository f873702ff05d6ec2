//! What is loaded and how: all that a side of a comparison may have of its own.

use sixmark_plan::plan::timestamps::Timestamps;

use super::connection::ConnectionArgs;
use super::load::{LoadArgs, OpenLoopArgs};
use super::request::RequestArgs;
use super::target::TargetArgs;
use crate::tls::TlsArgs;
use crate::values::timestamps;

/// Options for the load.
#[derive(Clone, Debug, clap::Args)]
#[group(skip)]
pub struct WorkloadArgs {
    #[command(flatten)]
    pub target: TargetArgs,

    #[command(flatten)]
    pub load: LoadArgs,

    #[command(flatten)]
    pub open_loop: OpenLoopArgs,

    #[command(flatten)]
    pub connection: ConnectionArgs,

    #[command(flatten)]
    pub request: RequestArgs,

    #[command(flatten)]
    pub tls: TlsArgs,

    /// Clock for connect, send and receive: kernel excludes sixmark's own delays, HTTP/1.1 only
    #[arg(long, value_name = "user|kernel", default_value = "user", value_parser = timestamps,
          help_heading = "Measurement", display_order = 0)]
    pub timestamps: Timestamps,
}
