//! What is measured beside a load.

/// Options for what is measured beside a load.
#[derive(Clone, Debug, clap::Args)]
#[group(skip)]
pub struct MeasureArgs {
    /// First measure the time that sixmark itself adds, with its own server on loopback over
    /// HTTP/1.1 without TLS
    #[arg(long, help_heading = "Measurement", display_order = 1)]
    pub calibrate: bool,

    /// Source of the server's resource use, to report what a request of each family costs the
    /// server: a file that `sixmark vitals --jsonl` writes there, the URL of its node_exporter or
    /// of `sixmark vitals --prometheus`, or lab:HOST
    #[arg(long, value_name = "FILE|URL|lab:HOST", help_heading = "Measurement")]
    pub vitals_from: Option<String>,
}

/// The seed of everything random.
#[derive(Clone, Debug, clap::Args)]
#[group(skip)]
pub struct SeedArgs {
    /// Seed of schedules over several addresses and of Poisson arrivals [default: random]
    #[arg(long, value_name = "N", help_heading = "Load")]
    pub seed: Option<u64>,
}
