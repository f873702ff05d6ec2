//! The comparison of two sides: its input, block by block, and its result.
//!
//! A *block* is one short period of load on one side. Requests within a block are correlated, so
//! only whole blocks count as independent. A block of side A and the nearest block of side B form a
//! [`BlockPair`]. Each pair yields one effect, the logarithm of A's figure over B's.
//!
//! Begin with [`judge`], which forms the verdicts, and [`comparison_result`], the document.
//! [`gate`] evaluates conditions on results; [`engine`] measures the blocks, and only it generates
//! load and reads clocks.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

pub mod block_begin;
pub mod blocks_needed;
pub mod board;
pub mod by_agent;
pub mod comparison_result;
pub mod deciding;
#[cfg_attr(not(test), allow(clippy::disallowed_methods, clippy::disallowed_types))]
pub mod engine;
#[cfg(any(test, feature = "fixture"))]
pub mod fixture;
pub mod gate;
pub mod judge;
mod noisy;
pub mod pilot;
pub mod reasons;
pub mod schedule;
pub mod sheet;
mod silent_side;
pub mod text;
mod typical;
pub mod undecided;
pub mod until;
pub mod warnings;

use sixmark_document::verdict::{Estimate, Verdict};
use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use sixmark_document::timing::Timing;
use sixmark_result::sameness::{Answers, Sameness, USUAL_MARGIN};
use sixmark_tally::account::AccountTally;
use sixmark_tally::metric::Metric;
use sixmark_tally::tally::FamilyTally;
use sixmark_tally::timed_phase::{PerPhase, TimePoint, TimedPhase};

use by_agent::AgentComparison;
use deciding::EquivalenceInterval;
use sixmark_why::divided_difference::DividedDifference;
use undecided::UndecidedCause;
use until::UntilDecided;

/// The figures of one side in one block.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stretch {
    /// How long the block was measured, in seconds.
    pub elapsed_s: f64,
    /// Exchanges started.
    pub sent: u64,
    /// Exchanges with a complete response.
    pub completed: u64,
    /// Exchanges that failed: that ended neither NORMAL nor ABANDONED, or that have a status that is
    /// not accepted. The number of those that the end of the block cut off (ABANDONED) depends on
    /// how many exchanges run at once, not on the speed of a side.
    pub failed: u64,
    /// Exchanges among `failed` with a complete response whose status is not accepted.
    pub unaccepted: u64,
    /// Content bytes of complete responses.
    pub body_bytes: u64,
    /// Durations of each phase; of TLS or QUIC handshakes, full and resumed ones together.
    pub phases: PerPhase<Timing>,
    /// The parts of the response times.
    pub account: AccountTally,
    /// The mean round-trip time of the path, in nanoseconds: that of TCP's handshakes, over QUIC its
    /// own; `None` if it is not known.
    pub round_trip_ns: Option<f64>,
    /// The round trips of a TLS handshake on average; 0 without TLS.
    pub tls_round_trips: f64,
    /// Processor time of the server, in microseconds; `None` if no source reported it.
    pub server_cpu_us: Option<f64>,
    /// The responses of each target; empty if they were not recorded.
    pub answers: Answers,
}

impl Stretch {
    /// Creates a stretch from a tally of `elapsed_s` seconds.
    pub fn new(tally: &FamilyTally, elapsed_s: f64) -> Stretch {
        Stretch {
            elapsed_s,
            sent: tally.sent,
            completed: tally.completed(),
            failed: tally.failed(),
            unaccepted: tally.unaccepted,
            body_bytes: tally.bytes.body,
            phases: PerPhase::from_fn(|phase| tally.durations(phase).into_owned()),
            account: tally.account.clone(),
            round_trip_ns: tally.round_trip_ns(),
            tls_round_trips: tally.tls.round_trips(),
            server_cpu_us: None,
            answers: Answers::default(),
        }
    }

    /// Returns the durations of one phase.
    pub fn timing(&self, phase: TimedPhase) -> &Timing {
        &self.phases[phase]
    }
}

/// A block of each side, adjacent in time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BlockPair {
    /// The side that is judged.
    pub a: Stretch,
    /// The side that it is judged against.
    pub b: Stretch,
}

impl AddAssign<&Stretch> for Stretch {
    fn add_assign(&mut self, next: &Stretch) {
        self.elapsed_s += next.elapsed_s;
        self.sent += next.sent;
        self.completed += next.completed;
        self.failed += next.failed;
        self.unaccepted += next.unaccepted;
        self.body_bytes += next.body_bytes;
        self.phases += &next.phases;
        self.account += &next.account;
        self.round_trip_ns = self.round_trip_ns.or(next.round_trip_ns);
        self.tls_round_trips = self.tls_round_trips.max(next.tls_round_trips);
        self.answers += &next.answers;
        self.server_cpu_us = self.server_cpu_us.zip(next.server_cpu_us).map(|(a, b)| a + b);
    }
}

/// How the two sides shared the time. Sides that are loaded at the same time are never compared:
/// statistics over one run cannot detect effects that last as long as the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ComparisonKind {
    /// One side at a time, in turns.
    Isolated,
}

/// Settings chosen before anything is measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Settings {
    /// Sides whose figures differ by less than this share (0 to 1, exclusive) count as equivalent.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1)))]
    pub margin: f64,
    /// The share of intervals that include the true value, and 1 minus the share of sides as far
    /// apart as the margin that may count as equivalent; usually 0.95.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1)))]
    pub confidence: f64,
    /// The largest probability (0 to 1, exclusive) with which a comparison of equal sides may find
    /// them different: a metric better or worse (five sixths of it) or their responses not
    /// comparable (one sixth); usually 0.06.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1)))]
    #[serde(default = "usual_false_alarms")]
    pub false_alarms: f64,
    /// The metric that the headline is about.
    #[cfg_attr(feature = "schema", schemars(extend("pattern" = sixmark_tally::metric::compared::compared_pattern())))]
    pub primary: Metric,
    /// The seed of the resampling.
    pub seed: u64,
    /// How often the blocks are resampled for an interval.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub resamples: u32,
    /// How the comparison ends if it is judged after each pair, by tests that allow it; null if the
    /// number of pairs was fixed, and in documents older than this field.
    #[serde(default)]
    pub until: Option<UntilDecided>,
}

/// The usual [`Settings::false_alarms`]: 5 % for all metrics together, 1 % for the responses.
pub const USUAL_FALSE_ALARMS: f64 = 0.06;

/// The test of the responses has this part of [`Settings::false_alarms`]: one sixth.
const PARTS: f64 = 6.0;

fn usual_false_alarms() -> f64 {
    USUAL_FALSE_ALARMS
}

impl Settings {
    /// Returns the default settings: a margin of 5 %, a confidence of 95 %, and the median response
    /// time as the primary metric.
    pub fn usual(seed: u64) -> Settings {
        Settings {
            margin: USUAL_MARGIN,
            confidence: 0.95,
            false_alarms: USUAL_FALSE_ALARMS,
            primary: Metric::Time(TimedPhase::Response, TimePoint::P50),
            seed,
            resamples: 4_000,
            until: None,
        }
    }

    /// Returns the settings of one of `count` comparisons that together are wrong as rarely as one of
    /// these settings (Bonferroni).
    #[must_use]
    pub fn of_one_of(&self, count: usize) -> Settings {
        let count = count as f64;
        Settings {
            confidence: 1.0 - (1.0 - self.confidence) / count,
            false_alarms: self.false_alarms / count,
            ..self.clone()
        }
    }

    /// Returns the probability with which any metric of equal sides may be called better or worse.
    pub fn level_of_difference(&self) -> f64 {
        self.false_alarms - self.level_of_sameness()
    }

    /// Returns the probability with which sides that return the same responses may be called not
    /// comparable.
    pub fn level_of_sameness(&self) -> f64 {
        self.false_alarms / PARTS
    }
}

/// The result of comparing two sides. Every field is in the result document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Comparison {
    /// How the sides shared the time.
    pub kind: ComparisonKind,
    /// The name of the side that is judged: `ipv6` unless configured otherwise.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub a: String,
    /// The name of the side that it is judged against.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub b: String,
    /// Settings chosen before anything was measured.
    pub settings: Settings,
    /// Pairs of blocks that were compared.
    pub pairs: usize,
    /// Pairs that were not compared because one of their sides was cut short.
    pub left_out: usize,
    /// Whether both sides give the same responses; if they do not, no metric of speed is compared.
    /// Null if this was not examined.
    #[serde(default)]
    pub sameness: Option<Sameness>,
    /// One entry for each metric that both sides have, the primary one first.
    pub metrics: Vec<Compared>,
    /// Why the median response times differ; null if they do not, or it is not known, and in documents
    /// older than this field.
    #[serde(default)]
    pub why: Option<DividedDifference>,
    /// What each agent measured of the median response times by itself, in the order of their names;
    /// absent with fewer than two agents or more than 32.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_agent: Vec<AgentComparison>,
}

impl Comparison {
    /// Returns why the median response times differ, if their verdict is that they do. What is judged
    /// after a comparison, such as a noise floor, may take a verdict back.
    pub fn divided_difference(&self) -> Option<&DividedDifference> {
        let why = self.why.as_ref()?;
        let of = self.metrics.iter().find(|of| of.metric == why.metric)?;
        matches!(of.verdict, Verdict::Better | Verdict::Worse).then_some(why)
    }

    /// Returns why the sides are not comparable, as a sentence without a full stop.
    pub fn not_same(&self) -> Option<&str> {
        self.sameness.as_ref().and_then(|found| found.said.as_deref())
    }
}

/// One metric of two sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Compared {
    /// The metric.
    #[cfg_attr(feature = "schema", schemars(extend("pattern" = sixmark_tally::metric::compared::compared_pattern())))]
    pub metric: Metric,
    /// The figure of side A in microseconds, responses per second or bytes per second, or as a
    /// share. With method `blocks` it is that of a typical pair, which is centred on the median
    /// level of all pairs and as far apart as the estimate; otherwise it is over all blocks of the
    /// side.
    pub a: Option<f64>,
    /// The figure of side B. If there is a ratio, it is `a` divided by `b`.
    pub b: Option<f64>,
    /// How the effect was estimated.
    pub method: EffectMethod,
    /// A divided by B; null for failures and for a metric that was refused.
    pub ratio: Option<Estimate>,
    /// A minus B, in the metric's unit; for failures the difference of the shares; null for a
    /// metric that was refused.
    pub difference: Option<Estimate>,
    /// The probability of a difference at least this large between equal sides or, if it is judged
    /// after each pair, of evidence that ever is as strong; null for a metric that was refused.
    #[cfg_attr(feature = "schema", schemars(with = "Option<sixmark_document::schema_type::Part>"))]
    pub p: Option<f64>,
    /// The same after Holm's correction for all metrics of the comparison or, if it is judged after
    /// each pair, after closed testing by averages of e-values for those that were named; null for a metric that
    /// was refused.
    #[cfg_attr(feature = "schema", schemars(with = "Option<sixmark_document::schema_type::Part>"))]
    pub p_holm: Option<f64>,
    /// The probability of figures at least this close between sides that differ by the margin (the
    /// larger p of two one-sided tests); null for a metric that was refused.
    #[cfg_attr(feature = "schema", schemars(with = "Option<sixmark_document::schema_type::Part>"))]
    pub p_equivalence: Option<f64>,
    /// The interval that decides whether the sides are equivalent, which is narrower than that of
    /// the ratio or the difference; null for a metric that was refused, and in documents older than
    /// this field.
    #[serde(default)]
    pub equivalence: Option<EquivalenceInterval>,
    /// The logarithm of A's figure over B's for each pair, in the order in which they were
    /// measured.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<sixmark_document::schema_type::Signed>"))]
    pub effects: Vec<f64>,
    /// The correlation of each effect with the previous one; null if there are too few.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<sixmark_document::schema_type::Signed>")
    )]
    pub autocorrelation: Option<f64>,
    /// The difference between two equal sides in the same metric, as a share, from an earlier
    /// measurement of A against itself (`--calibrate`); null if there was none.
    pub noise_floor: Option<f64>,
    /// The verdict.
    pub verdict: Verdict,
    /// Why the verdict is inconclusive; null for other verdicts, and in documents older than this
    /// field.
    #[serde(default)]
    pub cause: Option<UndecidedCause>,
    /// A human-readable reason if the verdict is inconclusive for lack of data or because of the
    /// noise floor, or if the sides cannot be compared; null if there is nothing to add.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub reason: Option<String>,
    /// The goodput relative to the effect of IPv6's larger header alone; null for other metrics,
    /// and if no link was full.
    pub header_corrected: Option<HeaderCorrected>,
}

/// How an effect was estimated from the blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum EffectMethod {
    /// Hodges and Lehmann's estimate over the effects of the pairs, and Wilcoxon's signed-rank
    /// test.
    Blocks,
    /// The quantile of all blocks of a side together, with resampled pairs, and sides swapped
    /// within pairs.
    PooledQuantile,
    /// Two proportions: Newcombe's interval and Fisher's exact test.
    Proportions,
    /// One effect for each pair, judged after each: Hodges and Lehmann's estimate, a confidence
    /// sequence as its interval, and evidence from bets on the signs.
    Anytime,
}

/// Goodput over a full link: IPv6 has 20 bytes less of each packet for content.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HeaderCorrected {
    /// The ratio expected from the headers alone: 0.986 at an MTU of 1500.
    #[cfg_attr(feature = "schema", schemars(with = "sixmark_document::schema_type::Part"))]
    pub expected: f64,
    /// The measured ratio divided by the expected one.
    pub ratio: Estimate,
    /// The interval of that ratio that decides whether it is equivalent to 1; null in documents
    /// older than this field.
    #[serde(default)]
    pub equivalence: Option<EquivalenceInterval>,
    /// The verdict on that ratio.
    pub verdict: Verdict,
}
