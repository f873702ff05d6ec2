//! The judgement of two sides, by rules fixed before anything is measured.
//!
//! Each metric has evidence: an estimate with its interval, a test for a difference, and a test for
//! equivalence. The tests for differences are corrected for multiplicity before the verdicts are
//! formed. `docs/statistics.md` describes the rules and how they were verified.

mod anytime;
mod blocks;
mod caveats;
mod failures;
mod family;
mod figures;
mod header;
mod noise;
mod other_contents;
mod own_delay;
mod quantiles;
mod unlike;
mod verdict;
mod why;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_anytime;

pub use caveats::{ComparisonDoubt, doubt_before_comparison, doubts_of_comparison};
pub use header::{header_corrected, header_ratio};
pub use noise::with_noise;
pub use other_contents::with_other_contents;
pub use own_delay::with_own_delays;
pub(crate) use own_delay::{DelaysApart, delays_apart};

pub(crate) use family::pairs_needed;

use family::TestFamily;
use sixmark_tally::timed_phase::Quantile;
use unlike::unlike;

use super::deciding::EquivalenceInterval;
use super::{
    BlockPair, Compared, Comparison, ComparisonKind, EffectMethod, Metric, Settings, TimedPhase,
};
use sixmark_document::verdict::Estimate;
use sixmark_result::sameness;
use sixmark_stats::{Interval, Refused, holm, lag1};

/// Compares side A with side B in every metric that both have figures for, the primary one and
/// others of its phase first.
///
/// `left_out` is the number of pairs that the caller excluded because one of their sides was cut
/// short. `pairs` are in the order in which they were measured. The same seed gives the same
/// result.
pub fn compare(
    names: (&str, &str),
    pairs: &[BlockPair],
    left_out: usize,
    settings: &Settings,
) -> Comparison {
    let rules = Rules { settings };
    let evidence = evidence(pairs, &rules);
    let given: Vec<_> = pairs.iter().map(|pair| (&pair.a.answers, &pair.b.answers)).collect();
    let sameness = sameness::look_at(names, &given, settings.margin, settings.level_of_last_look());
    let comparable = sameness.as_ref().is_none_or(|found| found.said.is_none());
    let (family, corrected) = match &settings.until {
        Some(until) => {
            let family = TestFamily::named(&evidence, pairs.len(), comparable, until);
            let corrected = anytime::corrected_ps(&evidence, &family, until);
            (family, corrected)
        }
        None => {
            let family = TestFamily::choose(&evidence, pairs.len(), comparable, settings);
            let corrected = holm(&family.tested);
            (family, corrected)
        }
    };
    let judged = evidence.into_iter().zip(corrected);
    let judged = judged.map(|(one, p_holm)| one.judged(p_holm, &family, &rules)).collect();
    let compared = unlike(Comparison {
        kind: ComparisonKind::Isolated,
        a: names.0.to_owned(),
        b: names.1.to_owned(),
        settings: settings.clone(),
        pairs: pairs.len(),
        left_out,
        sameness,
        metrics: judged,
        why: None,
        by_agent: Vec::new(),
    });
    let why = why::explain(&compared, pairs, &rules);
    Comparison { why, ..compared }
}

/// What is known of one metric before the others are considered.
struct Evidence {
    metric: Metric,
    a: Option<f64>,
    b: Option<f64>,
    method: EffectMethod,
    effects: Vec<f64>,
    /// The effect of each pair, `None` if it yields none; empty unless it is judged after each
    /// pair. Of failures it is the difference of the shares.
    in_pairs: Vec<Option<f64>>,
    /// Pairs that yield no effect, because a side had no figure or 0.
    unformed: usize,
    /// The smallest p-value that this number of pairs can give.
    least_p: f64,
    found: Result<JudgedEffect, Refused>,
}

/// The estimates and tests of one metric.
struct JudgedEffect {
    ratio: Option<Estimate>,
    difference: Estimate,
    /// The probability of a difference at least this large between equal sides.
    p: f64,
    /// The probability of figures at least this close between sides that differ by the margin.
    p_equivalence: f64,
    /// The interval that leaves alpha on each side, for the logarithm of the ratio or the
    /// difference of shares.
    near: Interval,
    /// The margin in the same unit.
    margin: f64,
}

impl JudgedEffect {
    fn within(&self) -> bool {
        self.near.within(-self.margin, self.margin)
    }

    /// Returns the interval that decides equivalence, as documents have it.
    fn equivalence(&self, settings: &Settings) -> EquivalenceInterval {
        let confidence = settings.confidence_of_equivalence();
        let (Interval { low, high }, margin) = (self.near, self.margin);
        match self.ratio {
            Some(_) => {
                let (low, high) = (low.exp(), high.exp());
                EquivalenceInterval { confidence, low, high, margin: settings.margin }
            }
            None => EquivalenceInterval { confidence, low, high, margin },
        }
    }
}

/// The rules of judgement.
struct Rules<'a> {
    settings: &'a Settings,
}

impl Rules<'_> {
    /// Returns the level of the tests for equivalence.
    fn alpha(&self) -> f64 {
        alpha(self.settings)
    }

    /// Returns true if the sides are judged after each pair.
    fn is_anytime(&self) -> bool {
        self.settings.until.is_some()
    }
}

impl Evidence {
    fn p(&self) -> Option<f64> {
        self.found.as_ref().ok().map(|found| found.p)
    }

    fn judged(self, p_holm: Option<f64>, family: &TestFamily, rules: &Rules<'_>) -> Compared {
        let (verdict, undecided) = verdict::judge_verdict(&self, p_holm, family, rules);
        let found = self.found.ok();
        Compared {
            metric: self.metric,
            a: self.a,
            b: self.b,
            method: self.method,
            ratio: found.as_ref().and_then(|found| found.ratio),
            difference: found.as_ref().map(|found| found.difference),
            p: found.as_ref().map(|found| found.p),
            p_holm,
            p_equivalence: found.as_ref().map(|found| found.p_equivalence),
            equivalence: found.as_ref().map(|found| found.equivalence(rules.settings)),
            autocorrelation: lag1(&self.effects).ok(),
            effects: self.effects,
            noise_floor: None,
            verdict,
            cause: undecided.as_ref().map(|undecided| undecided.cause),
            reason: undecided.map(|undecided| undecided.reason),
            header_corrected: None,
        }
    }
}

/// Returns the significance level of the tests for equivalence.
fn alpha(settings: &Settings) -> f64 {
    1.0 - settings.confidence
}

fn evidence(pairs: &[BlockPair], rules: &Rules<'_>) -> Vec<Evidence> {
    let mut all: Vec<Evidence> = TimedPhase::compared()
        .flat_map(|phase| of_phase(phase, pairs, rules))
        .chain(blocks::rates(pairs, rules))
        .chain(failures::failures(pairs, rules))
        .chain(blocks::cpu(pairs, rules))
        .collect();
    let primary = rules.settings.primary;
    all.sort_by_key(|one| (one.metric != primary, one.metric.phase() != primary.phase()));
    all
}

/// Judges the quantiles of a phase: the median by blocks, the others over all blocks together.
fn of_phase(phase: TimedPhase, pairs: &[BlockPair], rules: &Rules<'_>) -> Vec<Evidence> {
    let figures = figures::PhaseTimes::of(phase, pairs);
    if rules.is_anytime() {
        let judge = |point| blocks::judge_time(&figures, point, rules);
        return Quantile::ALL.into_iter().filter_map(judge).collect();
    }
    let (median, tail) = Quantile::ALL.split_at(1);
    let median = median.iter().filter_map(|&point| blocks::judge_time(&figures, point, rules));
    let points = tail.to_vec();
    median.chain(quantiles::quantiles(&figures, &points, rules)).collect()
}

fn make_estimate(value: f64, interval: Interval) -> Estimate {
    // All draws may lie on one side of the measured value.
    Estimate { value, low: interval.low.min(value), high: interval.high.max(value) }
}

/// Returns the smallest two-sided p-value of a sign-flipping test over `pairs` pairs.
fn least_p(pairs: usize) -> f64 {
    (1.0 - i32::try_from(pairs).map_or(f64::INFINITY, f64::from)).exp2()
}
