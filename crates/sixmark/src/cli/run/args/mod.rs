//! The options of commands that load, as typed, in groups by what they are about.
//!
//! A command takes the groups that mean something to it, and so lacks the options of the others.

mod session;

pub(in crate::cli) use session::SessionArgs;

use sixmark_options::args::{ScheduleArgs, WorkloadArgs};

use super::super::detail::DetailArgs;
use super::super::out::OutputPlace;

/// Load a server over IPv6 and IPv4 together, show both side by side.
///
/// Every exchange is counted under the family of the peer address that it connected to. Without -n
/// and -d the run lasts 10 s. Without --rate, --ramp, --steps, --replay and --find-max the load is
/// a closed loop: each exchange begins when another one ends.
#[derive(Clone, Debug, clap::Args)]
#[group(skip)]
pub(in crate::cli) struct RunArgs {
    #[command(flatten)]
    pub(in crate::cli) workload: WorkloadArgs,

    #[command(flatten)]
    pub(in crate::cli) schedule: ScheduleArgs,

    #[command(flatten)]
    pub(in crate::cli) session: SessionArgs,

    /// Also capture packets, and compare their times with sixmark's; needs root or CAP_NET_RAW
    #[arg(long, help_heading = "Measurement", display_order = 2)]
    pub(in crate::cli) truth: bool,

    /// Write CSV, one line per family
    #[arg(long, value_name = "FILE|-", help_heading = "Output", display_order = 2)]
    pub(in crate::cli) csv: Option<OutputPlace>,

    #[command(flatten)]
    pub(in crate::cli) detail: DetailArgs,
}
