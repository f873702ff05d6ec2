//! How much is loaded, and when.

use std::num::{NonZeroU32, NonZeroU64};
use std::time::Duration;

use sixmark_model::condition::Condition;
use sixmark_model::pace::{ArrivalProcess, Overload, RateStage, RequestRate, Speed};
use sixmark_model::plan::Driver;

use crate::cli::run::values::{
    driver, linger, overload, parse_time, positive, positive_time, process, ramp, speed, step,
};

/// Options that say how much is loaded, with what.
#[derive(Clone, Debug, clap::Args)]
#[group(skip)]
pub(in crate::cli) struct LoadArgs {
    /// End after this many requests (500, 10k, 2M), both families together; a family that does not
    /// answer for 10 s is given up
    #[arg(short = 'n', long, value_name = "N", value_parser = positive::<NonZeroU64>,
          help_heading = "Load", display_order = 0)]
    pub(in crate::cli) count: Option<NonZeroU64>,

    /// Connections at once, over both families together, each with one exchange in flight, or with
    /// --streams; no more than these are open. In an open loop the most of them [default: 50; with
    /// --find-max as many as a trial may need]
    #[arg(short, long, value_name = "N", value_parser = positive::<NonZeroU32>,
          help_heading = "Load")]
    pub(in crate::cli) connections: Option<NonZeroU32>,

    /// Worker threads, which share -c out [default: one a core, with a rate at most -c / 16]; at most
    /// as many as give each a connection of each family
    #[arg(short, long, value_name = "N", value_parser = positive::<NonZeroU32>,
          help_heading = "Load")]
    pub(in crate::cli) threads: Option<NonZeroU32>,

    /// Load this long before measuring
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = parse_time, help_heading = "Load")]
    pub(in crate::cli) warmup: Duration,

    /// Maximum duration of an exchange from its start (in an open loop too), including connecting
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = positive_time,
          help_heading = "Load")]
    pub(in crate::cli) timeout: Duration,

    /// Kernel interface: io_uring where it is allowed, else epoll
    #[arg(long, value_name = "auto|uring|epoll", default_value = "auto", value_parser = driver,
          help_heading = "Load")]
    pub(in crate::cli) driver: Driver,

    /// Batch completions for up to this time (50us): costs less CPU against a fast server, but
    /// times may be late by as much; closed loop over io_uring only
    #[arg(long, value_name = "TIME", value_parser = linger, conflicts_with = "rate",
          help_heading = "Load")]
    pub(in crate::cli) linger: Option<Duration>,
}

/// Options of an open loop.
#[derive(Clone, Debug, clap::Args)]
#[group(skip)]
#[command(next_help_heading = "Open loop")]
pub(in crate::cli) struct OpenLoopArgs {
    /// Start this many exchanges per second (200, 10k/s, 12000/m), over all threads and both
    /// families, whatever the server does; response times count from when an exchange was due
    #[arg(long, value_name = "N/s", display_order = 0)]
    pub(in crate::cli) rate: Option<RequestRate>,

    /// Evenly spaced, or at random like those of many users [default: constant]
    #[arg(long, value_name = "constant|poisson", value_parser = process)]
    pub(in crate::cli) arrivals: Option<ArrivalProcess>,

    /// If -c exchanges are in flight when one is due: let it wait (its response time counts from
    /// when it was due), or drop and count it [default: wait]
    #[arg(long, value_name = "wait|drop", value_parser = overload)]
    pub(in crate::cli) overload: Option<Overload>,

    /// Busy-wait for this time before each send (50us); uses one core per thread
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub(in crate::cli) spin: Option<Duration>,
}

/// How a run goes on and when it ends: what a block of a comparison has not, for its length is
/// `--block`, and all are loaded alike.
#[derive(Clone, Debug, Default, clap::Args)]
#[group(skip)]
pub(in crate::cli) struct CourseArgs {
    /// End after this time (10s, 500ms, 1m)
    #[arg(short, long, value_name = "TIME", value_parser = positive_time, help_heading = "Load",
          display_order = 1)]
    pub(in crate::cli) duration: Option<Duration>,

    /// Change the rate linearly, then end (0:1000/s:1m)
    #[arg(long, value_name = "FROM:TO:DURATION", value_parser = ramp,
          conflicts_with_all = ["rate", "steps", "duration", "linger"],
          help_heading = "Open loop", display_order = 1)]
    pub(in crate::cli) ramp: Option<RateStage>,

    /// One rate after another, then end (100:10s,200:10s)
    #[arg(long, value_name = "RATE:DURATION,…", value_parser = step, value_delimiter = ',',
          conflicts_with_all = ["rate", "duration", "linger"],
          help_heading = "Open loop", display_order = 2)]
    pub(in crate::cli) steps: Vec<RateStage>,

    /// Replay a HAR file or an access log at its recorded times, or this many times as fast (2x),
    /// then end
    #[arg(long, value_name = "SPEED", value_parser = speed, num_args = 0..=1,
          require_equals = true, default_missing_value = "1x", requires = "requests",
          conflicts_with_all = ["rate", "ramp", "steps", "find_max", "arrivals", "linger"],
          help_heading = "Open loop", display_order = 3)]
    pub(in crate::cli) replay: Option<Speed>,

    /// Find the highest rate at which this condition holds ('response.p99 < 10ms', 'failures <
    /// 0.1%'), for each family alone: trials of -d each [default: 2s], the first at --rate
    /// [default: 100/s]; repeatable, all must hold
    #[arg(long, value_name = "CONDITION",
          conflicts_with_all = ["ratio", "count", "ramp", "steps", "linger", "calibrate", "truth",
                                "vitals_from"],
          help_heading = "Open loop", display_order = 4)]
    pub(in crate::cli) find_max: Vec<Condition>,
}
