//! Two sides compared: what goes in, block by block, and what may be said of it.
//!
//! A *block* is one short stretch of load. Requests inside a stretch are correlated, so that only
//! whole blocks are counted as independent: a stretch of side A and the stretch of side B nearest
//! to it make a [`BlockPair`], and each pair has one effect, the logarithm of A's figure over B's.

pub mod blocks_needed;
pub mod judge;
pub mod result;
pub mod schedule;

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use crate::metric::{Metric, Quantity};
use crate::sameness::{Answers, Sameness};
use crate::tally::{FamilyTally, Phases};
use crate::timed_phase::{Quantile, TimePoint, TimedPhase};
use crate::timing::Timing;

/// What one side did in one block.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stretch {
    /// How long it was measured, in seconds.
    pub elapsed_s: f64,
    /// Exchanges begun.
    pub sent: u64,
    /// With a complete response.
    pub completed: u64,
    /// That failed: that ended otherwise, or with a status that is not accepted. Without those that
    /// the block's end cut off (ABANDONED): there are as many of them as places, however fast a side
    /// is.
    pub failed: u64,
    /// Of these, the ones with a complete response: their status is not accepted.
    pub unaccepted: u64,
    /// Content bytes of complete responses.
    pub body_bytes: u64,
    /// How long each phase took, but for TLS.
    pub phases: Phases,
    /// How long TLS or QUIC handshakes took, full and resumed ones together.
    pub tls: Timing,
    /// Processor time of the server, microseconds; none where nothing told of it.
    pub server_cpu_us: Option<f64>,
    /// What was given, target by target; empty where nobody kept it.
    pub answers: Answers,
}

impl Stretch {
    /// What was counted in `elapsed_s` seconds.
    pub fn new(tally: &FamilyTally, elapsed_s: f64) -> Stretch {
        let mut tls = tally.tls.full.clone();
        tls += &tally.tls.resumed;
        Stretch {
            elapsed_s,
            sent: tally.sent,
            completed: tally.completed(),
            failed: tally.failed(),
            unaccepted: tally.unaccepted,
            body_bytes: tally.bytes.body,
            phases: tally.phases.clone(),
            tls,
            server_cpu_us: None,
            answers: Answers::default(),
        }
    }

    /// The durations of one phase.
    pub fn timing(&self, phase: TimedPhase) -> &Timing {
        match phase {
            TimedPhase::Connect => &self.phases.connect,
            TimedPhase::Tls => &self.tls,
            TimedPhase::Wait => &self.phases.wait,
            TimedPhase::Ttfb => &self.phases.ttfb,
            TimedPhase::Transfer => &self.phases.transfer,
            TimedPhase::Slip => &self.phases.slip,
            TimedPhase::Service => &self.phases.service,
            TimedPhase::Response => &self.phases.response,
            TimedPhase::Lifetime => &self.phases.lifetime,
        }
    }
}

/// A stretch of each side, next to each other in time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BlockPair {
    /// The side that is judged.
    pub a: Stretch,
    /// What it is judged against.
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
        self.tls += &next.tls;
        self.answers += &next.answers;
        self.server_cpu_us = self.server_cpu_us.zip(next.server_cpu_us).map(|(a, b)| a + b);
    }
}

/// How the two sides shared the time. Sides that are loaded at once are never compared: no statistics
/// over one run can know what lasts as long as the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ComparisonKind {
    /// One side at a time, in turns.
    Isolated,
}

/// What is decided before anything is measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Settings {
    /// Sides whose figures differ by less than this share (0 to 1, exclusive) count as equivalent.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1)))]
    pub margin: f64,
    /// 0.95: the share of intervals that hold the true value, and 1 minus the share of
    /// comparisons of equal sides that may be called different.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1)))]
    pub confidence: f64,
    /// The metric that the headline is about.
    #[cfg_attr(feature = "schema", schemars(extend("pattern" = compared_pattern())))]
    pub primary: Metric,
    /// Decides what the resampling draws.
    pub seed: u64,
    /// How often the blocks are drawn anew for an interval.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub resamples: u32,
}

impl Settings {
    /// 5 % of margin, 95 % of confidence, the median response time.
    pub fn usual(seed: u64) -> Settings {
        Settings {
            margin: 0.05,
            confidence: 0.95,
            primary: Metric::Time(TimedPhase::Response, TimePoint::P50),
            seed,
            resamples: 4_000,
        }
    }
}

/// What is said of one metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Side A is better than side B.
    Better,
    /// Side A is worse than side B.
    Worse,
    /// Whatever difference there is lies within the margin.
    Equivalent,
    /// The figures don't tell.
    Inconclusive,
    /// The sides don't give the same, so that their speeds say nothing about each other.
    #[serde(rename = "not_comparable")]
    NotComparable,
}

impl Verdict {
    /// Its name in documents, gates and test reports.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Better => "better",
            Verdict::Worse => "worse",
            Verdict::Equivalent => "equivalent",
            Verdict::Inconclusive => "inconclusive",
            Verdict::NotComparable => "not_comparable",
        }
    }
}

/// What may be said of two sides. Every field is in the result document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Comparison {
    /// How the sides shared the time.
    pub kind: ComparisonKind,
    /// The name of the side that is judged: `ipv6` where nobody chose another.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub a: String,
    /// The name of the side that it is judged against.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub b: String,
    /// What was decided before anything was measured.
    pub settings: Settings,
    /// Pairs of blocks that were compared.
    pub pairs: usize,
    /// Pairs that were not, since one of their sides was cut short.
    pub left_out: usize,
    /// Whether both sides give the same: where they don't, no metric of speed is compared; null:
    /// nobody looked.
    #[serde(default)]
    pub sameness: Option<Sameness>,
    /// One entry for each metric that both sides have, the primary one first.
    pub metrics: Vec<Compared>,
}

impl Comparison {
    /// What keeps the sides from being compared, in a sentence without a full stop.
    pub fn not_same(&self) -> Option<&str> {
        self.sameness.as_ref().and_then(|found| found.said.as_deref())
    }
}

/// One metric of two sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Compared {
    /// Which.
    #[cfg_attr(feature = "schema", schemars(extend("pattern" = compared_pattern())))]
    pub metric: Metric,
    /// Of side A: microseconds, responses or bytes a second, or a share. By method `blocks` that of
    /// a typical pair, around the median level of all and as far apart as the estimate; else over
    /// all its blocks.
    pub a: Option<f64>,
    /// The same of side B. As far as there is a ratio, it is that of `a` to `b`.
    pub b: Option<f64>,
    /// How the effect was estimated.
    pub method: EffectMethod,
    /// A over B; null of failures, and of what was refused.
    pub ratio: Option<Estimate>,
    /// A minus B, in the metric's unit; of failures the difference of the shares; null of what was
    /// refused.
    pub difference: Option<Estimate>,
    /// How likely a difference as large as this is between equal sides; null of what was refused.
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::schema_type::Part>"))]
    pub p: Option<f64>,
    /// The same after Holm's correction for all metrics of the comparison; null likewise.
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::schema_type::Part>"))]
    pub p_holm: Option<f64>,
    /// How likely figures as near as these are between sides that differ by the margin (the larger
    /// p of two one-sided tests); null likewise.
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::schema_type::Part>"))]
    pub p_equivalence: Option<f64>,
    /// The logarithm of A's figure over B's in each pair, in the order in which they were measured.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<crate::schema_type::Signed>"))]
    pub effects: Vec<f64>,
    /// Correlation of each effect with the one before; null of too few.
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::schema_type::Signed>"))]
    pub autocorrelation: Option<f64>,
    /// How far apart two equal sides were in the same metric, as a share: what was measured of A
    /// against A before (`--calibrate`); null: it was not.
    pub noise_floor: Option<f64>,
    /// What is said of it.
    pub verdict: Verdict,
    /// Why nothing else can be said, for people: where the verdict is inconclusive for want of
    /// figures, or for a difference below the noise floor, and where the sides can't be compared;
    /// null where there is nothing to add.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub reason: Option<String>,
    /// Goodput against what IPv6's larger header alone makes of it; null of other metrics, and
    /// where no link was full.
    pub header_corrected: Option<HeaderCorrected>,
}

/// A value and the interval that holds the true one with the confidence of the settings.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Estimate {
    /// The value.
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema_type::Signed"))]
    pub value: f64,
    /// The lower end of the interval.
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema_type::Signed"))]
    pub low: f64,
    /// Its upper end.
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema_type::Signed"))]
    pub high: f64,
}

/// How an effect was estimated from the blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum EffectMethod {
    /// Hodges and Lehmann's estimate over the effects of the pairs, Wilcoxon's signed-rank test.
    Blocks,
    /// The quantile of all blocks of a side together, pairs drawn anew, and sides exchanged within
    /// pairs.
    PooledQuantile,
    /// Two proportions: Newcombe's interval, Fisher's exact test.
    Proportions,
}

/// Goodput over a link that is full: IPv6 has 20 bytes less of each packet for content.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HeaderCorrected {
    /// What the ratio would be were the headers all the difference: 0.986 at an MTU of 1500.
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema_type::Part"))]
    pub expected: f64,
    /// The ratio divided by that.
    pub ratio: Estimate,
    /// What is said of it.
    pub verdict: Verdict,
}

/// The phases whose durations are compared, in the order in which they are shown.
pub const COMPARED_PHASES: [TimedPhase; 5] = [
    TimedPhase::Connect,
    TimedPhase::Tls,
    TimedPhase::Wait,
    TimedPhase::Transfer,
    TimedPhase::Response,
];

/// The other figures that are compared.
const COMPARED_QUANTITIES: [Quantity; 4] =
    [Quantity::RequestsPerS, Quantity::Goodput, Quantity::Failures, Quantity::CpuPerRequest];

/// Every metric that is compared, times first. Of durations these are quantiles: a block's mean and longest
/// one are decided by a few exchanges.
pub fn compared_metrics() -> impl Iterator<Item = Metric> {
    let times = |phase| Quantile::ALL.map(|quantile| Metric::Time(phase, quantile.into()));
    let others = COMPARED_QUANTITIES.map(Metric::Quantity);
    COMPARED_PHASES.into_iter().flat_map(times).chain(others)
}

/// Reads the name of a metric that is compared.
///
/// # Errors
/// There is no such metric; the line names those that there are.
pub fn parse_compared_metric(text: &str) -> Result<Metric, String> {
    compared_metrics().find(|metric| metric.to_string() == text).ok_or_else(|| {
        format!(
            "no metric is called '{text}': {}, or a phase with a quantile as in response.p99 (phases: \
             {}; quantiles: {})",
            COMPARED_QUANTITIES.map(|quantity| quantity.entry().name).join(", "),
            COMPARED_PHASES.map(TimedPhase::name).join(", "),
            Quantile::ALL.map(Quantile::name).join(", ")
        )
    })
}

/// What the names of compared metrics are written as.
#[cfg(feature = "schema")]
fn compared_pattern() -> String {
    let phases = COMPARED_PHASES.map(TimedPhase::name).join("|");
    let points = Quantile::ALL.map(Quantile::name).join("|");
    let others = COMPARED_QUANTITIES.map(|quantity| quantity.entry().name).join("|");
    format!(r"^(({phases})\.({points})|{others})$")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_compared_is_read_by_its_name() {
        for text in ["response.p50", "tls.p999", "connect.p90", "goodput", "failures"] {
            assert_eq!(parse_compared_metric(text).unwrap().to_string(), text);
        }
        for text in ["", "response", "response.max", "slip.p50", "sent", "RESET", "p50"] {
            let said = parse_compared_metric(text).unwrap_err();
            assert!(said.contains("response.p99"), "{text}: {said}");
        }
    }
}
