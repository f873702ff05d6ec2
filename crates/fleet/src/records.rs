//! The records of a share: what an agent counted in each second, and at its end everything.

use serde::{Deserialize, Serialize};
use sixmark_document::provenance::{Ended, Warning};
use sixmark_result::truth::Truth;
use sixmark_tally::clocks::Clocks;
use sixmark_tally::lapses::Lapses;
use sixmark_tally::tally::Tally;
use sixmark_vitals::section::Vitals;

use crate::names::{AgentName, LoadName};

/// A record of an agent. Three of its fields identify it: agent, incarnation and number.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AgentRecord {
    /// The load.
    pub load: LoadName,
    /// The agent.
    pub agent: AgentName,
    /// How often an agent of this name was started before the one that counted.
    pub incarnation: u64,
    /// The number of the record within its load and incarnation, from 0.
    pub number: u64,
    /// What was counted.
    pub content: RecordContent,
}

/// What a record contains.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordContent {
    /// The counts of one second.
    Second(Box<SecondRecord>),
    /// The counts of the whole share. It is the last record.
    End(Box<EndRecord>),
}

/// What an agent counted in one second.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SecondRecord {
    /// Whole seconds from the start of the measurement to the start of this second.
    pub second: u64,
    /// The length in nanoseconds: close to 10^9, except for the last one.
    pub length_ns: u64,
    /// The time that the busiest worker was not waiting for the kernel, in nanoseconds.
    pub busy_ns: u64,
    /// The counts.
    pub tally: Tally,
}

/// What an agent counted in all, and what else it found.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EndRecord {
    /// All counts. They equal the sum of the seconds.
    pub tally: Tally,
    /// Nanoseconds from the beginning of the measurement to the end of the last exchange.
    pub elapsed_ns: u64,
    /// Nanoseconds from the end of the warm-up to the beginning of the measurement; `None` if it
    /// awaited the first request, and none started.
    #[serde(default)]
    pub put_off_ns: Option<u64>,
    /// How much later than agreed the load began, in nanoseconds.
    pub late_ns: u64,
    /// Why records could not be kept on the agent's disk, if that happened. They were published all
    /// the same.
    #[serde(default)]
    pub spool_failed: Option<String>,
    /// Why it ended.
    pub ended: Ended,
    /// Why the agent itself ended the load early; `None` if it did not.
    #[serde(default)]
    pub cut_short: Option<String>,
    /// The kernel interface.
    pub driver: String,
    /// Doubtful timestamps.
    pub clocks: Clocks,
    /// Stalls and other lapses.
    pub lapses: Lapses,
    /// The largest share of a second in which a worker was busy.
    pub busiest: f64,
    /// Processor time in user mode, in seconds.
    pub cpu_user_s: f64,
    /// Processor time in the kernel, in seconds.
    pub cpu_sys_s: f64,
    /// The peak of resident memory, in bytes.
    pub peak_rss_bytes: u64,
    /// The check of its clock against packets, if it was asked for.
    pub truth: Option<Truth>,
    /// The cost of the load, as seen from there.
    pub vitals: Option<(Vitals, Vec<Warning>)>,
}

/// The part of a record that states its place among those of its load and incarnation.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct RecordPlace {
    /// The number of the record, from 0.
    pub number: u64,
}
