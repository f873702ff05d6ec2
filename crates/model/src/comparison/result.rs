//! `sixmark.comparison/1`: what `sixmark compare` leaves behind.

use serde::{Deserialize, Serialize};

use super::Comparison;
use crate::family_result::FamilyResult;
pub use crate::gate_result::GateResult;
use crate::generator::Generator;
use crate::plan::Plan;
use crate::provenance::Lookup;
use crate::provenance::{Ended, Environment, Tool, Warning};

/// The name and version of the document's form.
pub const SCHEMA: &str = "sixmark.comparison/1";

/// One comparison of two sides, loaded in turns, whole: the blocks that were measured and what they
/// say. Times whose names end in `_us` are microseconds, those in `_s` seconds; shares are 0 to 1.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparisonResult {
    /// The name and version of the form.
    pub schema: String,
    /// What made it.
    pub tool: Tool,
    /// When it began, a calibration included: RFC 3339, UTC, with milliseconds.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = crate::schema_type::TIME)))]
    pub started: String,
    /// Seconds from the begin of the first block to the end of the last one, warm-ups and pauses
    /// included, a calibration not.
    pub elapsed_s: f64,
    /// Why it ended; where it was interrupted, what was measured by then is compared.
    pub ended: Ended,
    /// Decides the order of blocks where that is random, arrivals, and what resampling draws.
    pub seed: u64,
    /// How the blocks follow one another.
    pub schedule: BlockSchedule,
    /// a: the side that is judged. b: what it is judged against.
    pub sides: ComparedSides,
    /// Every block, in the order in which they were measured.
    pub blocks: Vec<Block>,
    /// What they say.
    pub comparison: Comparison,
    /// Side A against itself, measured before (`--calibrate`); null: it was not.
    pub noise: Option<Comparison>,
    /// What was demanded (`--fail-if`), and whether it was met.
    pub gates: Vec<GateResult>,
    /// What resolving names took, apart from everything else.
    pub dns: Vec<Lookup>,
    /// The machine that the load came from, and its routes.
    pub environment: Environment,
    /// What makes the figures doubtful.
    pub warnings: Vec<Warning>,
    /// What the load generator itself did in all blocks together.
    pub generator: Generator,
}

/// How blocks follow one another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlockSchedule {
    /// Pairs asked for.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub pairs: u32,
    /// Which side of a pair comes first.
    pub order: BlockOrder,
    /// How long a block is measured, seconds; null where it ends by its requests.
    pub block_s: Option<f64>,
    /// After how many requests a block ends; null where it ends by its time.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub block_requests: Option<u64>,
    /// Blocks of each side at the beginning that are measured and not compared.
    pub warm_up_blocks: u32,
}

/// Which side of a pair comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum BlockOrder {
    /// ABBA, then BAAB, and again: what drifts evenly hits both sides alike.
    Abba,
    /// Drawn for each pair, by the seed.
    Random,
}

/// Both sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedSides<T = ComparedSide> {
    /// The side that is judged.
    pub a: T,
    /// What it is judged against.
    pub b: T,
}

/// One side: what was loaded, and its figures over all blocks that were compared.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedSide {
    /// What it is called: `ipv6`, `ipv4`, or as it was written on the command line.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub name: String,
    /// Its own options, as they were written.
    pub options: String,
    /// What was run in each of its blocks, resolved.
    pub plan: Plan,
    /// Seconds that were measured.
    pub elapsed_s: f64,
    /// Its figures in these.
    pub figures: FamilyResult,
    /// Processor time in these.
    #[serde(default)]
    pub cpu: SideCpu,
}

/// Processor time that one side took in all blocks that were compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SideCpu {
    /// Of this process; null: that is not known.
    pub client: Option<SideCost>,
    /// Of the server's processes, or of its machine where it tells of none (`--vitals-from`); null:
    /// nothing told.
    pub server: Option<SideCost>,
}

/// Processor time, and what a request and a gigabyte took of it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SideCost {
    /// Seconds.
    pub cpu_s: f64,
    /// Microseconds a complete response.
    pub us_per_request: f64,
    /// Seconds a gigabyte (10^9 bytes) above TCP, received and sent.
    pub s_per_gb: f64,
}

impl SideCost {
    /// Of so many complete responses and bytes; none where there were none.
    pub fn new(cpu_s: f64, requests: u64, bytes: u64) -> Option<SideCost> {
        (requests > 0 && bytes > 0).then(|| SideCost {
            cpu_s,
            us_per_request: cpu_s * 1e6 / requests as f64,
            s_per_gb: cpu_s * 1e9 / bytes as f64,
        })
    }
}

/// A stretch of load of one side.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Block {
    /// Which side.
    pub side: SideName,
    /// The pair it belongs to, from 0; null: a warm-up.
    pub pair: Option<u32>,
    /// When it began to be measured, seconds from the begin of the first block.
    pub started_s: f64,
    /// How long it was measured, in seconds.
    pub elapsed_s: f64,
    /// Why it ended.
    pub ended: Ended,
    /// Its figures.
    pub figures: FamilyResult,
    /// The largest part of a second (0 to 1) in which a worker was not waiting for the kernel.
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema_type::Part"))]
    pub busiest: f64,
    /// A worker was busy all the time: the generator, not the server, may have been the
    /// bottleneck.
    pub saturated: bool,
    /// Processor time in it.
    #[serde(default)]
    pub cpu: BlockCpu,
}

/// Processor time in a block, seconds; absent where it is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlockCpu {
    /// Of this process, seconds; null: that is not known.
    pub client_s: Option<f64>,
    /// Of the server's processes, or of its machine where it tells of none (`--vitals-from`),
    /// seconds; null: nothing told.
    pub server_s: Option<f64>,
}

/// A or B.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum SideName {
    /// The side that is judged.
    A,
    /// What it is judged against.
    B,
}
