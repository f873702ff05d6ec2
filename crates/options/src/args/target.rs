//! What is loaded, and over which family.

use std::path::PathBuf;

use sixmark_plan::plan::ratio::PlanRatio;

use crate::source::WantedSource;
use sixmark_run::resolve::Override;

/// Options for targets and families.
#[derive(Clone, Debug, clap::Args)]
#[group(skip)]
pub struct TargetArgs {
    /// URL to load: http://HOST[:PORT]/PATH, http:// may be omitted; write an IPv6 address in
    /// brackets
    #[arg(value_name = "URL", required_unless_present = "targets")]
    pub urls: Vec<String>,

    /// Address list file: one URL, host or address per line, then optionally `weight=N`; `#` begins
    /// a comment; also sets the ratio, unless --ratio is given ('-': standard input)
    #[arg(long, value_name = "FILE", help_heading = "Targets")]
    pub targets: Option<PathBuf>,

    /// Path for targets that are hosts or addresses and not URLs
    #[arg(long, value_name = "PATH", default_value = "/", help_heading = "Targets")]
    pub path: String,

    /// Addresses to use for a name, instead of the resolver's
    #[arg(long, value_name = "HOST:PORT:ADDR[,ADDR]…", help_heading = "Targets")]
    pub resolve: Vec<Override>,

    /// Ratio of IPv6 requests to IPv4 requests [default: 1:1 if the targets have both]
    #[arg(long, value_name = "V6:V4", help_heading = "Families")]
    pub ratio: Option<PlanRatio>,

    /// Use IPv4 only; never falls back to IPv6
    #[arg(short = '4', long, conflicts_with_all = ["ratio", "ipv6"], help_heading = "Families")]
    pub ipv4: bool,

    /// Use IPv6 only; never falls back to IPv4
    #[arg(short = '6', long, conflicts_with = "ratio", help_heading = "Families")]
    pub ipv6: bool,

    /// Connect from this address, or in turn from the addresses of this prefix or interface
    #[arg(long, value_name = "ADDR|CIDR|IFACE", help_heading = "Families")]
    pub source: Vec<WantedSource>,
}
