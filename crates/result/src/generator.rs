//! Figures of the load generator itself, in a run or a comparison.

use serde::{Deserialize, Serialize};

use sixmark_tally::clocks::TimestampResult;

/// The busy share of a second above which a worker was the bottleneck, or close to it. The rest of
/// the second it waited for the kernel.
const SATURATED_SHARE: f64 = 0.95;

/// Returns true if a worker that was busy for this share of a second may have been the bottleneck.
pub fn is_saturated(busiest: f64) -> bool {
    busiest > SATURATED_SHARE
}

/// Figures of the load generator itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Generator {
    /// The kernel interface that it used: `uring` or `epoll`.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub driver: String,
    /// The number of worker threads.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub threads: u32,
    /// Processor time of the whole process over the run in user mode, in seconds.
    pub cpu_user_s: f64,
    /// Processor time of the whole process over the run in the kernel, in seconds.
    pub cpu_sys_s: f64,
    /// The largest resident memory of the process.
    pub peak_rss_bytes: u64,
    /// The largest share of a second in which a worker was not waiting for the kernel; in an open
    /// loop, of a second in which exchanges started. Parts shorter than half a second are ignored.
    #[cfg_attr(feature = "schema", schemars(with = "sixmark_document::schema_type::Part"))]
    pub busiest: f64,
    /// Exchanges of an open loop that started more than 1 ms later than due although the limit of
    /// exchanges in flight was not reached.
    pub late: u64,
    /// How often the generator was stalled: stopped, its machine paused, without a processor, or
    /// occupied by a single task. The value of the worker with the most.
    #[serde(default)]
    pub stalls: u64,
    /// The total duration of the stalls, in seconds.
    #[serde(default)]
    pub stalled_s: f64,
    /// Seconds that workers spent on decoding and checking contents, in total.
    #[serde(default)]
    pub checking_s: f64,
    /// The longest time spent on the content of one response, in seconds.
    #[serde(default)]
    pub longest_check_s: f64,
    /// True if a worker was busy all the time, so that the generator rather than the server may
    /// have been the bottleneck.
    pub saturated: bool,
    /// The clocks that the times are from, and the reasons to doubt the times.
    pub timestamps: TimestampResult,
}
