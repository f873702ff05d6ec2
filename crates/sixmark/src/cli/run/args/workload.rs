//! What is loaded and how: all that a side of a comparison may have of its own.

use sixmark_plan::plan::timestamps::Timestamps;

use super::connection::ConnectionArgs;
use super::load::{LoadArgs, OpenLoopArgs};
use super::request::RequestArgs;
use super::target::TargetArgs;
use crate::cli::run::tls::TlsArgs;
use crate::cli::run::values::timestamps;

/// Options for the load.
#[derive(Clone, Debug, clap::Args)]
#[group(skip)]
pub(in crate::cli) struct WorkloadArgs {
    #[command(flatten)]
    pub(in crate::cli) target: TargetArgs,

    #[command(flatten)]
    pub(in crate::cli) load: LoadArgs,

    #[command(flatten)]
    pub(in crate::cli) open_loop: OpenLoopArgs,

    #[command(flatten)]
    pub(in crate::cli) connection: ConnectionArgs,

    #[command(flatten)]
    pub(in crate::cli) request: RequestArgs,

    #[command(flatten)]
    pub(in crate::cli) tls: TlsArgs,

    /// Clock for connect, send and receive: kernel excludes sixmark's own delays, HTTP/1.1 only
    #[arg(long, value_name = "user|kernel", default_value = "user", value_parser = timestamps,
          help_heading = "Measurement", display_order = 0)]
    pub(in crate::cli) timestamps: Timestamps,
}
