//! What is loaded, and over which family.

use std::path::PathBuf;

use sixmark_model::plan::ratio::PlanRatio;

use crate::cli::run::source::WantedSource;
use crate::resolve::Override;

/// Options that say what is loaded, and over which family.
#[derive(Clone, Debug, clap::Args)]
#[group(skip)]
pub(in crate::cli) struct TargetArgs {
    /// What to load: http://HOST[:PORT]/PATH; an IPv6 address stands in brackets
    #[arg(value_name = "URL", required_unless_present = "targets")]
    pub(in crate::cli) urls: Vec<String>,

    /// Address list file: a URL, host or address a line, `weight=N` behind it, `#` for comments;
    /// sets the ratio too, unless --ratio does ('-': standard input)
    #[arg(long, value_name = "FILE", help_heading = "Targets")]
    pub(in crate::cli) targets: Option<PathBuf>,

    /// Path for list entries that are no URL
    #[arg(long, value_name = "PATH", default_value = "/", help_heading = "Targets")]
    pub(in crate::cli) path: String,

    /// Answer for a name, instead of the resolver's
    #[arg(long, value_name = "HOST:PORT:ADDR[,ADDR]…", help_heading = "Targets")]
    pub(in crate::cli) resolve: Vec<Override>,

    /// Requests over IPv6 to requests over IPv4 [default: 1:1 where the targets have both]
    #[arg(long, value_name = "V6:V4", help_heading = "Families")]
    pub(in crate::cli) ratio: Option<PlanRatio>,

    /// IPv4 only
    #[arg(short = '4', long, conflicts_with_all = ["ratio", "ipv6"], help_heading = "Families")]
    pub(in crate::cli) ipv4: bool,

    /// IPv6 only; fails rather than falls back
    #[arg(short = '6', long, conflicts_with = "ratio", help_heading = "Families")]
    pub(in crate::cli) ipv6: bool,

    /// Connect from this address, address of a prefix in turn, or interface's addresses
    #[arg(long, value_name = "ADDR|CIDR|IFACE", help_heading = "Families")]
    pub(in crate::cli) source: Vec<WantedSource>,
}
