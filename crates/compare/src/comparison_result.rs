//! `sixmark.comparison/1`: the document that `sixmark compare` writes.

use serde::{Deserialize, Serialize};

use super::Comparison;
use sixmark_document::provenance::Lookup;
use sixmark_document::provenance::{Ended, Environment, Tool, Warning};
use sixmark_plan::plan::Plan;
use sixmark_result::fleet::FleetSection;
pub use sixmark_result::gate_result::GateResult;
use sixmark_result::generator::Generator;
use sixmark_tally::family_result::FamilyResult;

/// The name and version of the document's format.
pub const SCHEMA: &str = "sixmark.comparison/1";

/// One complete comparison of two sides that were loaded in turns: the measured blocks and their
/// evaluation. Times whose names end in `_us` are in microseconds, those ending in `_s` in seconds;
/// shares are 0 to 1.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparisonResult {
    /// The name and version of the format.
    pub schema: String,
    /// The program that wrote the document.
    pub tool: Tool,
    /// When the comparison began, including a calibration: RFC 3339, UTC, with milliseconds.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = sixmark_document::schema_type::TIME)))]
    pub started: String,
    /// Seconds from the start of the first block to the end of the last one, including warm-ups and
    /// pauses but not a calibration.
    pub elapsed_s: f64,
    /// Why the comparison ended. If it was interrupted, the blocks measured so far are compared.
    pub ended: Ended,
    /// The seed of the order of blocks if that is random, of arrivals, and of the resampling.
    pub seed: u64,
    /// How the blocks follow one another.
    pub schedule: BlockSchedule,
    /// The side that is judged (a) and the side that it is judged against (b).
    pub sides: ComparedSides,
    /// Every block, in the order in which they were measured.
    pub blocks: Vec<Block>,
    /// The evaluation of the blocks.
    pub comparison: Comparison,
    /// Side A compared with itself beforehand (`--calibrate`); null if this was not done.
    pub noise: Option<Comparison>,
    /// The gates (`--fail-if`) and their results.
    pub gates: Vec<GateResult>,
    /// Durations of name resolution, which no other figure includes.
    pub dns: Vec<Lookup>,
    /// The machine that generated the load, and its routes.
    pub environment: Environment,
    /// Reasons to doubt the figures.
    pub warnings: Vec<Warning>,
    /// Figures of the load generator itself over all blocks.
    pub generator: Generator,
    /// The agents that generated the load of all blocks; null if it was this machine.
    #[serde(default)]
    pub fleet: Option<FleetSection>,
}

/// How blocks follow one another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlockSchedule {
    /// The number of pairs requested.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub pairs: u32,
    /// Which side of a pair comes first.
    pub order: BlockOrder,
    /// How long a block is measured, in seconds; null if it ends after a number of requests.
    pub block_s: Option<f64>,
    /// How long a block was to be measured, in seconds, if the warm-up blocks showed that this was
    /// too short for the responses of a side; else null.
    #[serde(default)]
    pub requested_block_s: Option<f64>,
    /// The number of requests after which a block ends; null if it ends after a time.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub block_requests: Option<u64>,
    /// Blocks of each side at the beginning that are measured but not compared.
    pub warm_up_blocks: u32,
}

/// Which side of a pair comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum BlockOrder {
    /// ABBA, then BAAB, repeated: a steady drift affects both sides alike.
    Abba,
    /// Drawn for each pair from the seed.
    Random,
}

/// Something for each of the two sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedSides<T = ComparedSide> {
    /// The side that is judged.
    pub a: T,
    /// The side that it is judged against.
    pub b: T,
}

/// One side: its load, and its figures over all blocks that were compared.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedSide {
    /// The side's name: `ipv6`, `ipv4`, or as written on the command line.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub name: String,
    /// The options of this side only, as written.
    pub options: String,
    /// The resolved plan that was run in each of its blocks.
    pub plan: Plan,
    /// Seconds measured.
    pub elapsed_s: f64,
    /// The figures over these seconds. Medians and rates that are compared block by block are those
    /// of the comparison: of a typical pair.
    pub figures: FamilyResult,
    /// The processor time over these seconds. The server's time per request is that of the
    /// comparison, if it is compared.
    #[serde(default)]
    pub cpu: SideCpu,
}

/// Processor time spent on one side in all blocks that were compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SideCpu {
    /// Of this process; null if it is not known.
    pub client: Option<SideCost>,
    /// Of the server's processes, or of its whole machine if processes are not reported
    /// (`--vitals-from`); null if neither is reported.
    pub server: Option<SideCost>,
}

/// Processor time, in total, per request and per gigabyte.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SideCost {
    /// Seconds in total.
    pub cpu_s: f64,
    /// Microseconds per complete response.
    pub us_per_request: f64,
    /// Seconds per gigabyte (10^9 bytes) above TCP, received and sent.
    pub s_per_gb: f64,
}

impl SideCost {
    /// Returns the cost of `requests` complete responses and `bytes`, or `None` if either is 0.
    pub fn new(cpu_s: f64, requests: u64, bytes: u64) -> Option<SideCost> {
        (requests > 0 && bytes > 0).then(|| SideCost {
            cpu_s,
            us_per_request: cpu_s * 1e6 / requests as f64,
            s_per_gb: cpu_s * 1e9 / bytes as f64,
        })
    }
}

/// One block: a period of load on one side.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Block {
    /// The side that was loaded.
    pub side: SideName,
    /// The number of its pair, from 0; null for a warm-up.
    pub pair: Option<u32>,
    /// When its measurement began, in seconds from the start of the first block.
    pub started_s: f64,
    /// How long it was measured, in seconds.
    pub elapsed_s: f64,
    /// Why it ended.
    pub ended: Ended,
    /// The figures of the block.
    pub figures: FamilyResult,
    /// The largest share of a second (0 to 1) in which a worker was not waiting for the kernel.
    #[cfg_attr(feature = "schema", schemars(with = "sixmark_document::schema_type::Part"))]
    pub busiest: f64,
    /// True if a worker was busy all the time, so that the generator rather than the server may
    /// have been the bottleneck.
    pub saturated: bool,
    /// Processor time in the block.
    #[serde(default)]
    pub cpu: BlockCpu,
    /// Everything that was counted, as text that `compare --continue` reads; null unless the
    /// comparison was to go on until it was decided, and if agents generated the load.
    #[serde(default)]
    pub counts: Option<String>,
}

/// Processor time in a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlockCpu {
    /// Of this process, in seconds; null if it is not known.
    pub client_s: Option<f64>,
    /// Of the server's processes, or of its whole machine if processes are not reported
    /// (`--vitals-from`), in seconds; null if neither is reported.
    pub server_s: Option<f64>,
    /// The share (0 to 1) of the time, warm-up included, that all processors of this machine
    /// together were busy, by any process; null if it is not known or agents generated the load.
    #[cfg_attr(feature = "schema", schemars(with = "Option<sixmark_document::schema_type::Part>"))]
    #[serde(default)]
    pub machine_busy: Option<f64>,
    /// The share of that time that the hypervisor of this virtual machine took (steal).
    #[cfg_attr(feature = "schema", schemars(with = "Option<sixmark_document::schema_type::Part>"))]
    #[serde(default)]
    pub machine_stolen: Option<f64>,
}

/// A or B.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum SideName {
    /// The side that is judged.
    A,
    /// The side that it is judged against.
    B,
}
