//! How much is loaded, and when.

use std::num::{NonZeroU32, NonZeroU64};
use std::time::Duration;

use sixmark_plan::pace::{ArrivalProcess, Overload, RateStage, RequestRate, Speed};
use sixmark_plan::plan::Driver;
use sixmark_result::condition::Condition;

use crate::times::{parse_time, positive_time};
use crate::values::{driver, linger, overload, positive, process, ramp, speed, step};

/// Options for the amount of load and how it is generated.
#[derive(Clone, Debug, clap::Args)]
#[group(skip)]
pub struct LoadArgs {
    /// End after this many requests (500, 10k, 2M), both families together; requests of a family
    /// that does not answer for 10 s are no longer sent
    #[arg(short = 'n', long, value_name = "N", value_parser = positive::<NonZeroU64>,
          help_heading = "Load", display_order = 0)]
    pub count: Option<NonZeroU64>,

    /// Number of concurrent connections, both families together, each with one exchange in flight
    /// (or as many as --streams); in an open loop the maximum [default: 50; with --find-max as many
    /// as a trial may need]
    #[arg(short, long, value_name = "N", value_parser = positive::<NonZeroU32>,
          help_heading = "Load")]
    pub connections: Option<NonZeroU32>,

    /// Worker threads, which share the connections of -c [default: one per core, in an open loop at
    /// most -c / 16]; limited so that each has a connection of each family; of a fleet, the threads
    /// of each agent
    #[arg(short, long, value_name = "N", value_parser = positive::<NonZeroU32>,
          help_heading = "Load")]
    pub threads: Option<NonZeroU32>,

    /// Load for this time before the measurement
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = parse_time, help_heading = "Load")]
    pub warmup: Duration,

    /// Maximum duration of an exchange from its start (in an open loop too), including connecting
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = positive_time,
          help_heading = "Load")]
    pub timeout: Duration,

    /// Kernel interface; auto is io_uring if allowed, else epoll
    #[arg(long, value_name = "auto|uring|epoll", default_value = "auto", value_parser = driver,
          help_heading = "Load")]
    pub driver: Driver,

    /// Batch completions for up to this time (50us): uses less CPU with a fast server, but measured
    /// times may be that much too long; 0 batches none; closed loop only
    /// [default: at most 1% of the response, or 4us and 4% of the wait with --streams]
    #[arg(long, value_name = "TIME", value_parser = linger, conflicts_with = "rate",
          help_heading = "Load")]
    pub linger: Option<Duration>,
}

/// Options of an open loop.
#[derive(Clone, Debug, clap::Args)]
#[group(skip)]
#[command(next_help_heading = "Open loop")]
pub struct OpenLoopArgs {
    /// Start this many exchanges per second (200, 10k/s, 12000/m), over all threads and both
    /// families, whatever the server does; response times count from when an exchange was due
    #[arg(long, value_name = "N/s", display_order = 0)]
    pub rate: Option<RequestRate>,

    /// Start exchanges evenly spaced, or at random like those of many users: then each family is a
    /// Poisson process of its own rate, and only -n has the exact ratio [default: constant]
    #[arg(long, value_name = "constant|poisson", value_parser = process)]
    pub arrivals: Option<ArrivalProcess>,

    /// If -c exchanges are in flight when one is due: let it wait (its response time counts from
    /// when it was due), or drop and count it [default: wait]
    #[arg(long, value_name = "wait|drop", value_parser = overload)]
    pub overload: Option<Overload>,

    /// Busy-wait for this time before each send (50us); uses one core per thread
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub spin: Option<Duration>,
}

/// The course and the end of a run. Blocks of a comparison don't have these: their length is
/// `--block`, and all have the same load.
#[derive(Clone, Debug, Default, clap::Args)]
#[group(skip)]
pub struct ScheduleArgs {
    /// End after this time (10s, 500ms, 1m)
    #[arg(short, long, value_name = "TIME", value_parser = positive_time, help_heading = "Load",
          display_order = 1)]
    pub duration: Option<Duration>,

    /// After -d, wait up to this time for requests in flight before they are cut off: one that gets
    /// no response becomes the TIMEOUT that it is [default: 0s; an open loop waits for --timeout]
    #[arg(long, value_name = "TIME", value_parser = parse_time, help_heading = "Load",
          display_order = 2)]
    pub drain: Option<Duration>,

    /// Change the rate linearly, then end (0:1000/s:1m)
    #[arg(long, value_name = "FROM:TO:DURATION", value_parser = ramp,
          conflicts_with_all = ["rate", "steps", "duration", "linger"],
          help_heading = "Open loop", display_order = 1)]
    pub ramp: Option<RateStage>,

    /// One rate after another, then end (100:10s,200:10s)
    #[arg(long, value_name = "RATE:DURATION,…", value_parser = step, value_delimiter = ',',
          conflicts_with_all = ["rate", "duration", "linger"],
          help_heading = "Open loop", display_order = 2)]
    pub steps: Vec<RateStage>,

    /// Replay a HAR file or an access log at its recorded times, or this many times as fast (2x),
    /// then end
    #[arg(long, value_name = "SPEED", value_parser = speed, num_args = 0..=1,
          require_equals = true, default_missing_value = "1x", requires = "requests",
          conflicts_with_all = ["rate", "ramp", "steps", "find_max", "arrivals", "linger"],
          help_heading = "Open loop", display_order = 3)]
    pub replay: Option<Speed>,

    /// Find the highest rate at which this condition holds ('response.p99 < 10ms', 'failures <
    /// 0.1%'), for each family separately: trials of -d [default: 2s] and, near the limit, four and
    /// eight times as long, the first at --rate [default: 100/s]; repeatable, all must hold
    #[arg(long, value_name = "CONDITION",
          conflicts_with_all = ["ratio", "count", "ramp", "steps", "linger", "calibrate", "truth",
                                "vitals_from"],
          help_heading = "Open loop", display_order = 4)]
    pub find_max: Vec<Condition>,

    /// End a search after this time with what is known by then [default: 300 times -d]
    #[arg(long, value_name = "TIME", value_parser = positive_time, requires = "find_max",
          help_heading = "Open loop", display_order = 5)]
    pub at_most: Option<Duration>,
}
