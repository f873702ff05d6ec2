//! Reasons to doubt a comparison.

use std::fmt;

use super::noise::taken_back;
use super::pairs_needed;
use crate::comparison::{Compared, Comparison, EffectMethod};
use crate::metric::Metric;

/// A reason to doubt a comparison. It is displayed as one line of text.
#[derive(Clone, Debug, PartialEq)]
pub enum ComparisonDoubt {
    /// `too_few_blocks`: this number of pairs can't show a difference.
    TooFewBlocks {
        /// The number of pairs.
        pairs: usize,
        /// The number of pairs needed.
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
            ComparisonDoubt::TooFewBlocks { pairs, needed } => write!(
                f,
                "{pairs} pairs of blocks can't show a difference, however large: this many metrics \
                 need {needed}"
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

fn few(comparison: &Comparison) -> Option<ComparisonDoubt> {
    let family = comparison.metrics.iter().filter(|compared| compared.p.is_some()).count();
    let needed = pairs_needed(family, &comparison.settings);
    let pairs = comparison.pairs;
    (pairs < needed).then_some(ComparisonDoubt::TooFewBlocks { pairs, needed })
}

/// Returns true if the autocorrelation is more than two standard errors above that of independent
/// blocks (Bartlett: 1 over the square root of n). Negative autocorrelation does not count:
/// alternation makes tests more conservative, not less.
fn correlated(compared: &Compared) -> bool {
    let bound = 2.0 / (compared.effects.len().max(1) as f64).sqrt();
    // Tail quantiles of single blocks are too noisy.
    let told = compared.method == EffectMethod::Blocks;
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
