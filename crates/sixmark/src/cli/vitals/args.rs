//! The options of `sixmark vitals`, as typed.

use std::time::Duration;

use super::super::listen::Listen;
use super::super::out::OutputPlace;
use sixmark_options::times::positive_time;

/// Show kernel counters: CPUs, packets, sockets, processes.
///
/// Shows memory and disks, too. Takes a sample at each interval until Ctrl-C, SIGTERM or -d, and
/// shows the changes. On a server, it provides what `sixmark run --vitals-from` needs to report the
/// cost of a request of each family.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct VitalsArgs {
    /// Time between two samples (100ms, 1s)
    #[arg(long, value_name = "TIME", default_value = "100ms", value_parser = interval)]
    pub(super) interval: Duration,

    /// End after this time
    #[arg(short, long, value_name = "TIME", value_parser = positive_time)]
    pub(super) duration: Option<Duration>,

    /// CPU time that counting sockets by state may take, percent of one core [default: 0.2]
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub(super) socket_cpu: Option<f64>,

    /// Also show this process and its children; repeatable
    #[arg(long, value_name = "PID", value_parser = pid, help_heading = "Processes")]
    pub(super) pid: Vec<i32>,

    /// Also show all processes with this name, their children, and the service's control group;
    /// repeatable
    #[arg(long, value_name = "NAME", help_heading = "Processes")]
    pub(super) service: Vec<String>,

    /// Also show this control group (version 2); repeatable
    #[arg(long, value_name = "PATH", help_heading = "Processes")]
    pub(super) cgroup: Vec<String>,

    #[command(flatten)]
    pub(super) inside: super::super::inside::InsideArgs,

    /// Serve the last sample at /metrics for Prometheus, on loopback unless an address is given
    /// ('*': all); port 0 chooses a free one
    #[arg(long, value_name = "[ADDR:]PORT", help_heading = "Output")]
    pub(super) prometheus: Option<Listen>,

    /// Also answer requests whose Host is this name; addresses, localhost and this host's name are
    /// always answered; repeatable
    #[arg(long, value_name = "NAME", requires = "prometheus", help_heading = "Output")]
    pub(super) prometheus_host: Vec<String>,

    /// Write the document (sixmark.vitals/1)
    #[arg(long, value_name = "FILE|-", help_heading = "Output")]
    pub(super) json: Option<OutputPlace>,

    /// Write each sample as a line of JSON, as soon as it is taken
    #[arg(long, value_name = "FILE|-", help_heading = "Output")]
    pub(super) jsonl: Option<OutputPlace>,

    /// Write each sample as a line of CSV, as soon as it is taken
    #[arg(long, value_name = "FILE|-", help_heading = "Output")]
    pub(super) csv: Option<OutputPlace>,

    /// Print only warnings and errors
    #[arg(short, long, help_heading = "Output")]
    pub(super) quiet: bool,
}

fn interval(text: &str) -> Result<Duration, String> {
    let bounds = Duration::from_millis(10)..=Duration::from_secs(3600);
    positive_time(text).and_then(|interval| {
        if bounds.contains(&interval) {
            Ok(interval)
        } else {
            Err("expected a time from 10ms to 1h: the kernel counts CPU time in ticks of 10ms"
                .into())
        }
    })
}

fn percent(text: &str) -> Result<f64, String> {
    let found = text.parse().ok().filter(|percent| (0.01..=100.0).contains(percent));
    found.ok_or_else(|| "expected a percentage from 0.01 to 100".to_owned())
}

fn pid(text: &str) -> Result<i32, String> {
    let found = text.parse().ok().filter(|pid| *pid > 0);
    found.ok_or_else(|| "not a process ID; for a name use --service".to_owned())
}
