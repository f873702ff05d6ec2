//! Reasons to doubt a comparison.

use std::fmt;

use super::family::{pairs_needed, tests_allowed};
use super::noise::taken_back;
use crate::{Compared, Comparison, EffectMethod, Settings};
use sixmark_tally::metric::Metric;
use sixmark_units::quantity::counted;

/// A reason to doubt a comparison. It is displayed as one line of text.
#[derive(Clone, Debug, PartialEq)]
pub enum ComparisonDoubt {
    /// `too_few_blocks`: this number of pairs can't show a difference, or not of every metric.
    TooFewBlocks {
        /// The number of pairs.
        pairs: usize,
        /// The number of metrics that are tested for a difference with so few pairs; 0 if none can
        /// be.
        tested: usize,
        /// The primary metric, which is tested first.
        primary: Metric,
        /// The number of pairs needed: for the primary metric if it cannot be tested, else for all.
        needed: usize,
    },
    /// `autocorrelated_blocks`: effects resemble the preceding ones.
    Autocorrelated(Vec<Metric>),
    /// `below_noise_floor`: a side differed as much from itself.
    BelowNoiseFloor(Vec<Metric>),
}

impl ComparisonDoubt {
    /// Returns the machine-readable code.
    pub fn code(&self) -> &'static str {
        match self {
            ComparisonDoubt::TooFewBlocks { .. } => "too_few_blocks",
            ComparisonDoubt::Autocorrelated(_) => "autocorrelated_blocks",
            ComparisonDoubt::BelowNoiseFloor(_) => "below_noise_floor",
        }
    }
}

impl fmt::Display for ComparisonDoubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ComparisonDoubt::TooFewBlocks { pairs, tested: 0, needed, .. } => write!(
                f,
                "{pairs} pairs of blocks can't show a difference, however large: {needed} are needed \
                 (--blocks {needed})"
            ),
            ComparisonDoubt::TooFewBlocks { pairs, tested, primary, needed } => write!(
                f,
                "{pairs} pairs of blocks can decide {} only ({primary} first): the others are not \
                 tested for a difference; --blocks {needed} tests all",
                counted(*tested as u64, "metric", "metrics")
            ),
            ComparisonDoubt::Autocorrelated(metrics) => write!(
                f,
                "consecutive effects of {} are correlated: blocks are too short to be independent, \
                 or something else recurs at the same interval",
                names_of_metrics(metrics)
            ),
            ComparisonDoubt::BelowNoiseFloor(metrics) => write!(
                f,
                "the differences of {} are below the noise floor (a side compared with itself): \
                 they prove nothing",
                names_of_metrics(metrics)
            ),
        }
    }
}

/// Returns the reasons to doubt `comparison`.
pub fn doubts_of_comparison(comparison: &Comparison) -> Vec<ComparisonDoubt> {
    let few = few(comparison);
    let correlated = doubtful_metrics(comparison, correlated).map(ComparisonDoubt::Autocorrelated);
    let below = doubtful_metrics(comparison, |of| taken_back(of, &comparison.settings))
        .map(ComparisonDoubt::BelowNoiseFloor);
    few.into_iter().chain(correlated).chain(below).collect()
}

/// Returns the reason to doubt a comparison of `pairs` pairs that is known before anything is
/// measured.
pub fn doubt_before_comparison(pairs: usize, settings: &Settings) -> Option<ComparisonDoubt> {
    too_few(pairs, USUAL_METRICS, settings)
}

/// The number of metrics that a comparison over kept connections without TLS usually has.
const USUAL_METRICS: usize = 12;

fn few(comparison: &Comparison) -> Option<ComparisonDoubt> {
    let same = comparison.not_same().is_none();
    let has = |one: &&Compared| one.p.is_some() && (same || !one.metric.is_of_speed());
    let family = comparison.metrics.iter().filter(has).count();
    too_few(comparison.pairs, family, &comparison.settings)
}

fn too_few(pairs: usize, family: usize, settings: &Settings) -> Option<ComparisonDoubt> {
    if settings.until.is_some() {
        return None;
    }
    let tested = tests_allowed(pairs, settings);
    let needed = pairs_needed(if tested == 0 { 1 } else { family }, settings);
    let primary = settings.primary;
    let doubt = ComparisonDoubt::TooFewBlocks { pairs, tested, primary, needed };
    (tested < family.max(1)).then_some(doubt)
}

/// Returns true if the autocorrelation is more than two standard errors above that of independent
/// blocks (Bartlett: 1 over the square root of n). Negative autocorrelation does not count:
/// alternation makes tests more conservative, not less.
fn correlated(compared: &Compared) -> bool {
    let bound = 2.0 / (compared.effects.len().max(1) as f64).sqrt();
    // Tail quantiles of single blocks are too noisy.
    let told = matches!(compared.method, EffectMethod::Blocks | EffectMethod::Anytime);
    told && compared.autocorrelation.is_some_and(|found| found > bound)
}

fn doubtful_metrics(
    comparison: &Comparison,
    doubtful: impl Fn(&Compared) -> bool,
) -> Option<Vec<Metric>> {
    let named = comparison.metrics.iter().filter(|of| doubtful(of)).map(|of| of.metric);
    Some(named.collect::<Vec<_>>()).filter(|named| !named.is_empty())
}

fn names_of_metrics(metrics: &[Metric]) -> String {
    metrics.iter().map(Metric::to_string).collect::<Vec<_>>().join(", ")
}
