//! What the load generator itself did, of a run and of a comparison.

use serde::{Deserialize, Serialize};

use crate::clocks::TimestampResult;

/// What the load generator itself did.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Generator {
    /// How it spoke to the kernel: `uring` or `epoll`.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub driver: String,
    /// Worker threads.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub threads: u32,
    /// Processor seconds of the whole process over the run, user mode.
    pub cpu_user_s: f64,
    /// The same in the kernel.
    pub cpu_sys_s: f64,
    /// The most memory that the process had resident.
    pub peak_rss_bytes: u64,
    /// The largest part of a second in which a worker was not waiting for the kernel; in an open
    /// loop, of a second in which exchanges began. Parts of a second that are shorter than half a
    /// second say nothing.
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema_type::Part"))]
    pub busiest: f64,
    /// Exchanges of an open loop that began more than 1 ms later than due though one more might be
    /// in flight.
    pub late: u64,
    /// How often it stood still: stopped, its machine paused, without a processor, or occupied with one
    /// thing. Of the worker that did most.
    #[serde(default)]
    pub stalls: u64,
    /// For how many seconds in all.
    #[serde(default)]
    pub stalled_s: f64,
    /// Seconds that workers spent on decoding and checking contents, all together.
    #[serde(default)]
    pub checking_s: f64,
    /// The longest of it, for one response.
    #[serde(default)]
    pub longest_check_s: f64,
    /// True: a worker was busy all the time, so that the generator, not the server, may have been
    /// the bottleneck.
    pub saturated: bool,
    /// Whose clock the times are from, and what speaks against them.
    pub timestamps: TimestampResult,
}
