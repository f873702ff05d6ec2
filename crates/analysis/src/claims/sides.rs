//! Claims that compare two sides.

use sixmark_stats::StudentEstimate;
use sixmark_tally::metric::MetricKind;

use super::each_level::{JudgedLevel, judge_levels};
use super::figures::{FigureSet, itself, logarithm};
use super::judged::{PossibleAnswer, judge_direction, judge_relation, log_margin};
use super::sample::ClaimSample;
use super::tested::{JudgedClaim, TestOutcome, TestedClaim, difference_of, ratio_of};
use super::trimmed::trimmed_mean;
use super::units::ClaimUnits;
use sixmark_design::spec::{Contrast, OrderedLevels, Relation, SideLevels, SidesTest};
use sixmark_design::study_result::{ClaimAnswer, ClaimEstimate, ClaimScale};

/// The figures of both sides in each block: logarithms or, for differences, the figures.
pub(super) type SidePairs = Vec<(f64, f64)>;

/// Tests a claim about two sides.
pub(super) fn test_sides(of: &SidesTest, units: ClaimUnits, figures: &FigureSet) -> TestedClaim {
    match &of.each {
        Some(each) => test_each(of, each, units, figures),
        None => test_pair(of, units, figures),
    }
}

/// Tests a claim about two sides at each level of a factor. The level that is furthest from showing
/// the claim is described.
fn test_each(
    of: &SidesTest,
    each: &OrderedLevels,
    units: ClaimUnits,
    figures: &FigureSet,
) -> TestedClaim {
    let at = |level: &String| {
        let with = |side: &SideLevels| -> SideLevels {
            side.iter().cloned().chain([(each.factor.clone(), vec![level.clone()])]).collect()
        };
        SidesTest { a: with(&of.a), b: with(&of.b), each: None, ..of.clone() }
    };
    let tested = each.levels.iter().map(|level| (level, test_pair(&at(level), units, figures)));
    let (judged, missing): (Vec<_>, Vec<_>) =
        tested.partition(|(_, tested)| matches!(tested.outcome, TestOutcome::Judged(_)));
    let possible = |tested: &TestedClaim| match &tested.outcome {
        TestOutcome::Judged(judged) => judged.possible(),
        _ => Vec::new(),
    };
    let shown = |tested: &TestedClaim| {
        let possible = possible(tested);
        possible.iter().find(|one| one.answer == ClaimAnswer::Holds).map_or(1.0, |one| one.p)
    };
    let worst = judged.iter().max_by(|a, b| shown(&a.1).total_cmp(&shown(&b.1)));
    let Some((worst_level, worst)) = worst else {
        return missing
            .into_iter()
            .next()
            .map_or_else(|| TestedClaim::untested("a side has no figures"), |(_, tested)| tested);
    };
    let levels: Vec<String> = judged.iter().map(|(level, _)| (*level).clone()).collect();
    let whole = missing.is_empty();
    let samples = judged.iter().filter_map(|(_, tested)| match &tested.outcome {
        TestOutcome::Judged(judged) => judged.samples().first().cloned(),
        _ => None,
    });
    let (of, samples) = (of.clone(), samples.collect::<Vec<ClaimSample>>());
    let judge = move |all: &[ClaimSample]| {
        let of_level = |(level, sample): (&String, &ClaimSample)| JudgedLevel {
            level: level.clone(),
            sample: sample.clone(),
            possible: judge_sides(&of, sample),
        };
        judge_levels(&levels.iter().zip(all).map(of_level).collect::<Vec<_>>(), whole)
    };
    let agree = judged.iter().map(|(_, tested)| tested.agrees);
    TestedClaim {
        figures: format!("at worst at {worst_level}, {}", worst.figures),
        blocks: judged.iter().map(|(_, tested)| tested.blocks).min().unwrap_or(0),
        estimate: worst.estimate,
        count: None,
        agrees: agree.collect::<Option<Vec<bool>>>().map(|all| all.iter().all(|agrees| *agrees)),
        outcome: TestOutcome::Judged(JudgedClaim::new(samples, judge)),
    }
}

fn test_pair(of: &SidesTest, units: ClaimUnits, figures: &FigureSet) -> TestedClaim {
    if figures.is_published() && !are_apart(of, figures) {
        return TestedClaim::untested("the published figures do not separate the sides");
    }
    if counts_exchanges(of, units) {
        return test_counts(of, units, figures);
    }
    let pairs = pair_sides(of, figures);
    let differences: Vec<f64> = pairs.iter().map(|(a, b)| a - b).collect();
    let Some(mean) = mean_of(&differences) else {
        return TestedClaim::untested("a side has no figures");
    };
    let is_difference = is_difference(of);
    let estimate = trimmed_mean(&differences);
    let shown = estimate.map_or(single(mean, is_difference), |estimate| {
        if is_difference { difference_of(estimate) } else { ratio_of(estimate) }
    });
    TestedClaim {
        outcome: judge_sample(of, units, estimate.map(ClaimSample::Student), figures),
        figures: describe_sides(of, units, &pairs),
        blocks: pairs.len() as u32,
        estimate: Some(shown),
        count: None,
        agrees: Some(agrees(of, mean)),
    }
}

/// Returns true for a claim about the counts of two sides themselves.
fn counts_exchanges(of: &SidesTest, units: ClaimUnits) -> bool {
    units.measure.kind() == MetricKind::Count && of.contrast.is_none()
}

/// Tests a claim about the counts of two sides, which may be 0.
fn test_counts(of: &SidesTest, units: ClaimUnits, figures: &FigureSet) -> TestedClaim {
    let apart: Vec<&str> = of.a.iter().chain(&of.b).map(|(factor, _)| factor.as_str()).collect();
    let rows = figures.sides(&[&of.a, &of.b], &apart, itself);
    let pairs: SidePairs = rows.into_iter().map(|row| (row[0], row[1])).collect();
    let sums = pairs.iter().fold((0.0, 0.0), |sum, pair| (sum.0 + pair.0, sum.1 + pair.1));
    if sums.0 + sums.1 == 0.0 {
        let why = if pairs.is_empty() { "a side has no figures" } else { "both sides have none" };
        return TestedClaim::untested(why);
    }
    let blocks = pairs.len() as u32;
    let mean = |sum: f64| units.write(sum / f64::from(blocks));
    let sample = ClaimSample::of_counts(pairs);
    let estimate = sample.as_ref().and_then(ClaimSample::estimate);
    let difference = (sums.0 - sums.1) / f64::from(blocks);
    TestedClaim {
        outcome: judge_sample(of, units, sample, figures),
        figures: format!("{} against {} in each repetition", mean(sums.0), mean(sums.1)),
        blocks,
        estimate: Some(estimate.map_or(single(difference, true), difference_of)),
        count: None,
        agrees: Some(agrees(of, (sums.0 / sums.1).ln())),
    }
}

/// Judges the sample of two sides; `None` if there are too few blocks for one.
fn judge_sample(
    of: &SidesTest,
    units: ClaimUnits,
    sample: Option<ClaimSample>,
    figures: &FigureSet,
) -> TestOutcome {
    match sample {
        None => TestOutcome::Undecided(one_pair(figures)),
        Some(sample) if sample.estimate().is_some_and(|of| never_varies(of, units)) => {
            TestOutcome::Undecided("all repetitions have the same figures".to_owned())
        }
        Some(sample) => {
            let of = of.clone();
            let judge = move |all: &[ClaimSample]| judge_sides(&of, &all[0]);
            TestOutcome::Judged(JudgedClaim::new(vec![sample], judge))
        }
    }
}

fn is_difference(of: &SidesTest) -> bool {
    let of_contrast = of.contrast.as_ref().is_some_and(|contrast| contrast.difference);
    of_contrast || matches!(of.relation, Relation::Apart(_))
}

fn judge_sides(of: &SidesTest, sample: &ClaimSample) -> Vec<PossibleAnswer> {
    // A margin in percent says nothing about a difference in the measure's unit.
    match (of.relation, is_difference(of)) {
        (Relation::Higher(_), true) => judge_direction(sample, None),
        (Relation::Lower(_), true) => judge_direction(&sample.turned(), None),
        (relation, _) => judge_relation(relation, sample),
    }
}

/// Returns the sides' figures in each block. The ends of a contrast are taken at the same levels.
pub(super) fn pair_sides(of: &SidesTest, figures: &FigureSet) -> SidePairs {
    let mut apart: Vec<&str> =
        of.a.iter().chain(&of.b).map(|(factor, _)| factor.as_str()).collect();
    let Some(Contrast { levels, difference }) = &of.contrast else {
        let transform = if is_difference(of) { itself } else { logarithm };
        let rows = figures.sides(&[&of.a, &of.b], &apart, transform);
        return rows.into_iter().map(|row| (row[0], row[1])).collect();
    };
    apart.push(&levels.factor);
    let at = |side: &SideLevels, level: &String| -> SideLevels {
        side.iter().cloned().chain([(levels.factor.clone(), vec![level.clone()])]).collect()
    };
    let ends = [&of.a, &of.b].map(|side| [at(side, &levels.of), at(side, &levels.over)]);
    let ends: Vec<&SideLevels> = ends.iter().flatten().collect();
    let rows = figures.sides(&ends, &apart, if *difference { itself } else { logarithm });
    rows.into_iter().map(|row| (row[0] - row[1], row[2] - row[3])).collect()
}

/// Returns true if the published figures have a factor by which the sides differ.
fn are_apart(of: &SidesTest, figures: &FigureSet) -> bool {
    of.a.iter().chain(&of.b).any(|(factor, _)| figures.has_factor(factor))
}

pub(super) fn mean_of(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Returns the reason why one pair of figures decides nothing.
pub(super) fn one_pair(figures: &FigureSet) -> String {
    if figures.is_published() {
        "one printed figure of each allows no test".to_owned()
    } else {
        "1 repetition is too few".to_owned()
    }
}

/// Returns true for a time or a rate that is the same in all blocks: it was rounded too coarsely
/// for a test. Counts may be the same.
pub(super) fn never_varies(of: StudentEstimate, units: ClaimUnits) -> bool {
    of.error == 0.0 && !matches!(units.measure.kind(), MetricKind::Count | MetricKind::Share)
}

fn single(mean: f64, is_difference: bool) -> ClaimEstimate {
    let (of, value) = if is_difference {
        (ClaimScale::Difference, mean)
    } else {
        (ClaimScale::Ratio, mean.exp())
    };
    ClaimEstimate { of, value, low: None, high: None }
}

/// Returns whether the mean difference as it is agrees with the claim.
fn agrees(of: &SidesTest, mean: f64) -> bool {
    match of.relation {
        Relation::Higher(_) => mean > 0.0,
        Relation::Lower(_) => mean < 0.0,
        Relation::Equal(margin) => mean.abs() <= log_margin(margin),
        Relation::Within(bounds) => {
            bounds.at_least.is_none_or(|least| mean >= least.ln())
                && bounds.at_most.is_none_or(|most| mean <= most.ln())
        }
        Relation::Apart(bounds) => {
            bounds.at_least.is_none_or(|least| mean >= least)
                && bounds.at_most.is_none_or(|most| mean <= most)
        }
    }
}

/// Describes the sides: `2.72 ms against 1.91 ms`.
fn describe_sides(of: &SidesTest, units: ClaimUnits, pairs: &SidePairs) -> String {
    let mean = |side: fn(&(f64, f64)) -> f64| mean_of(&pairs.iter().map(side).collect::<Vec<_>>());
    let (Some(a), Some(b)) = (mean(|pair| pair.0), mean(|pair| pair.1)) else {
        return String::new();
    };
    let written = |value: f64| match &of.contrast {
        None if is_difference(of) => units.write(value),
        None => units.write(value.exp()),
        Some(contrast) if contrast.difference => units.write_difference(value),
        Some(_) => format!("× {:.3}", value.exp()),
    };
    format!("{} against {}", written(a), written(b))
}
