//! Claims about the levels of a factor: a trend, an order, an independence.

use sixmark_stats::{StudentEstimate, slope};

use super::answers::LEVEL;
use super::figures::{AlongScale, FigureSet, FiguresAlong};
use super::judged::{PossibleAnswer, judge_contrary, log_margin, no_difference};
use super::sample::ClaimSample;
use super::sides::{mean_of, never_varies, one_pair};
use super::tested::{JudgedClaim, TestOutcome, TestedClaim, difference_of, ratio_of};
use super::trimmed::trimmed_mean;
use super::units::ClaimUnits;
use sixmark_design::spec::{IndependentTest, OrderTest, OrderedLevels, TrendShape, TrendTest};
use sixmark_design::study_result::{ClaimAnswer, ClaimEstimate, ClaimScale};

/// Tests a trend. Each repetition has a slope; a single published series has a regression.
pub(super) fn test_trend(of: &TrendTest, units: ClaimUnits, figures: &FigureSet) -> TestedClaim {
    let along = figures.along(&[&of.a], &of.over, units.measure);
    let all = of.over.places();
    let places: Vec<f64> = of
        .over
        .levels
        .iter()
        .zip(all)
        .filter(|(l, _)| along.levels.contains(l))
        .map(|(_, x)| x)
        .collect();
    let Some((judged, estimate, agrees, before)) = judge_trend(of, &along, &places) else {
        return few_levels(&along, figures);
    };
    let outcome = if never_varies(estimate, units) {
        TestOutcome::Undecided("all repetitions have the same figures".to_owned())
    } else {
        TestOutcome::Judged(judged)
    };
    let ends = along.means().and_then(|means| Some([*means.first()?, *means.last()?]));
    let ends = ends.map_or(String::new(), |ends| {
        let [first, last] = ends.map(|value| units.write(along.figure_of(value)));
        format!("{first} to {last}")
    });
    let is_count = along.scale == AlongScale::Counts;
    TestedClaim {
        outcome,
        figures: before.map_or(ends.clone(), |before| {
            if is_count {
                format!("{ends}, {} before it turns", units.write_difference(before.value))
            } else {
                format!("{ends}, × {:.3} before and after it", before.value.exp())
            }
        }),
        blocks: along.blocks.len() as u32,
        estimate: Some(if is_count { difference_of(estimate) } else { ratio_of(estimate) }),
        count: None,
        agrees: Some(agrees),
    }
}

/// Judges a trend: the test, the estimated change, whether the figures agree, and for a U the change
/// before it turns. `None` if there are too few levels or blocks.
fn judge_trend(
    of: &TrendTest,
    along: &FiguresAlong,
    places: &[f64],
) -> Option<(JudgedClaim, StudentEstimate, bool, Option<StudentEstimate>)> {
    let whole = 0..along.levels.len();
    Some(match &of.shape {
        TrendShape::Rises | TrendShape::Falls => {
            let estimate = change_over(along, places, whole)?;
            let falls = of.shape == TrendShape::Falls;
            let trend = ClaimSample::Student(estimate);
            // The change along the line of counts is not a ratio, so that their ends are compared.
            let ends = match along.scale {
                AlongScale::Counts => along.compare(along.levels.len() - 1, 0),
                _ => Some(trend.clone()),
            };
            let knows_ends = ends.is_some();
            let all = std::iter::once(trend).chain(ends).chain(steps_along(along)?);
            let all: Vec<_> = all.map(|of| if falls { of.turned() } else { of }).collect();
            let agrees = if falls { estimate.value < 0.0 } else { estimate.value > 0.0 };
            let (margin, levels) = (of.margin, along.levels.clone());
            let judge = move |all: &[ClaimSample]| {
                let (trend, ends) = (&all[0], knows_ends.then(|| &all[1]));
                judge_monotone(trend, ends, &all[1 + usize::from(knows_ends)..], margin, &levels)
            };
            (JudgedClaim::new(all, judge), estimate, agrees, None)
        }
        TrendShape::UShaped(turn) => {
            let at = along.levels.iter().position(|level| level == turn).unwrap_or(0);
            let before = change_over(along, places, 0..at + 1)?;
            let after = change_over(along, places, at..along.levels.len())?;
            let agrees = before.value < 0.0 && after.value > 0.0;
            let judge = |of: &[ClaimSample]| {
                let holds = of[0].below(0.0).max(of[1].above(0.0));
                // Either part may contradict the claim.
                judge_contrary(holds, 2.0 * of[0].above(0.0).min(of[1].below(0.0)))
            };
            let samples = [before, after].map(ClaimSample::Student).to_vec();
            (JudgedClaim::new(samples, judge), after, agrees, Some(before))
        }
    })
}

/// Returns the change from each level to the next; none for a single series, which has one figure
/// of each.
fn steps_along(along: &FiguresAlong) -> Option<Vec<ClaimSample>> {
    if along.blocks.len() < 2 {
        return Some(Vec::new());
    }
    (1..along.levels.len()).map(|at| along.compare(at, at - 1)).collect()
}

/// Judges whether figures rise: by the change over all levels, and by the steps from level to level,
/// none of which may go against it by more than the margin. `ends` is the last level against the first.
fn judge_monotone(
    trend: &ClaimSample,
    ends: Option<&ClaimSample>,
    steps: &[ClaimSample],
    percent: f64,
    levels: &[String],
) -> Vec<PossibleAnswer> {
    let margin = log_margin(percent);
    let worst = |p: &dyn Fn(&ClaimSample) -> f64| steps.iter().map(p).fold(0.0, f64::max);
    let count = steps.len() as f64;
    let falling = |step: &ClaimSample| (count * step.below(-margin)).min(1.0);
    let least = steps.iter().map(falling).fold(1.0, f64::min);
    let against = steps.iter().zip(levels.windows(2)).filter(|(step, _)| falling(step) <= LEVEL);
    let against = against.map(|(_, ends)| format!("{} to {}", ends[0], ends[1]));
    let against = against.collect::<Vec<_>>().join(", ");
    let flat = ends.map_or(1.0, |ends| ends.within(margin));
    let new = PossibleAnswer::new;
    vec![
        new(ClaimAnswer::NoDifference, flat.max(worst(&|step| step.within(margin))))
            .because(no_difference(percent)),
        new(ClaimAnswer::Holds, (2.0 * trend.above(0.0)).max(worst(&|step| step.above(-margin)))),
        new(ClaimAnswer::Opposite, (2.0 * trend.below(0.0)).max(worst(&|step| step.below(margin)))),
        new(ClaimAnswer::HoldsInPart, (2.0 * trend.above(0.0)).max(least))
            .because(format!("on the whole, and not from {against}")),
        new(ClaimAnswer::DoesNotHold, flat)
            .because(format!("no change beyond {percent} % along the line")),
        new(ClaimAnswer::DoesNotHold, 2.0 * trend.below(0.0))
            .because("the line has the opposite direction".to_owned()),
    ]
}

fn few_levels(along: &FiguresAlong, figures: &FigureSet) -> TestedClaim {
    match along.levels.len() {
        levels @ 0..3 => {
            TestedClaim::untested(format!("{levels} levels have figures, which is too few"))
        }
        _ if along.blocks.is_empty() => {
            TestedClaim::untested("no repetition has figures at all levels")
        }
        _ => TestedClaim::undecided(one_pair(figures)),
    }
}

/// Returns the change of the logarithm over some of the levels, along a fitted line; `None` if
/// there are too few blocks, and too few levels for a regression.
fn change_over(
    along: &FiguresAlong,
    places: &[f64],
    part: std::ops::Range<usize>,
) -> Option<StudentEstimate> {
    let xs = places.get(part.clone())?;
    let width = xs.last()? - xs.first()?;
    let points = |row: &Vec<f64>| -> Vec<(f64, f64)> {
        xs.iter().map(|x| x / width).zip(row[part.clone()].iter().copied()).collect()
    };
    match along.blocks.as_slice() {
        [] => None,
        [row] => StudentEstimate::of_slope(&points(row)).ok(),
        rows => {
            let slopes = rows.iter().map(|row| slope(&points(row)).ok());
            trimmed_mean(&slopes.collect::<Option<Vec<f64>>>()?)
        }
    }
}

/// Tests which levels have the highest or lowest figures: each of them against each other level
/// (an intersection-union test).
pub(super) fn test_order(of: &OrderTest, units: ClaimUnits, figures: &FigureSet) -> TestedClaim {
    let sides: Vec<_> = std::iter::once(&of.a).chain(&of.b).collect();
    let along = figures.along(&sides, &of.over, units.measure);
    let (claimed, others): (Vec<usize>, Vec<usize>) =
        (0..along.levels.len()).partition(|&at| of.at.contains(&along.levels[at]));
    if claimed.is_empty() || others.is_empty() {
        return TestedClaim::untested(if along.levels.is_empty() {
            "there are no figures".to_owned()
        } else {
            format!("there are no figures at {}", along.missing.join(", "))
        });
    }
    let pairs = claimed.iter().flat_map(|&a| others.iter().map(move |&b| (a, b)));
    let pairs: Vec<(usize, usize)> = pairs.collect();
    let sign = if of.highest { 1.0 } else { -1.0 };
    let Some(means) = along.means() else {
        return TestedClaim::untested("no repetition has figures at all levels");
    };
    let beyond = pairs.iter().all(|&(a, b)| sign * (means[a] - means[b]) > 0.0);
    let agrees = match (beyond, along.missing.is_empty()) {
        (false, _) => Some(false),
        (true, whole) => whole.then_some(true),
    };
    let outcome = judge_order(of, &along, pairs, units, figures);
    TestedClaim {
        outcome,
        figures: describe_order(of, units, &along, &means, &claimed),
        blocks: along.blocks.len() as u32,
        estimate: None,
        count: None,
        agrees,
    }
}

fn judge_order(
    of: &OrderTest,
    along: &FiguresAlong,
    pairs: Vec<(usize, usize)>,
    units: ClaimUnits,
    figures: &FigureSet,
) -> TestOutcome {
    let apart = pairs.iter().map(|&(a, b)| {
        let sample = along.compare(a, b);
        sample.map(|sample| if of.highest { sample } else { sample.turned() })
    });
    let Some(apart) = apart.collect::<Option<Vec<ClaimSample>>>() else {
        return TestOutcome::Undecided(one_pair(figures));
    };
    if apart.iter().filter_map(ClaimSample::estimate).any(|of| never_varies(of, units)) {
        return TestOutcome::Undecided("all repetitions have the same figures".to_owned());
    }
    // A level without figures could be beyond the claimed ones.
    let whole = along.missing.is_empty();
    // A margin in percent says nothing about differences in the measure's unit.
    let margin = of.margin.filter(|_| of.b.is_none());
    let word = if of.highest { "highest" } else { "lowest" };
    let levels = along.levels.clone();
    let judge = move |apart: &[ClaimSample]| {
        let holds = apart.iter().map(|of| of.above(0.0)).fold(0.0, f64::max);
        let tie = margin.map(|margin| judge_tie(apart, &pairs, &levels, (margin, word)));
        let beyond = margin.map_or(0.0, log_margin);
        let of_any = |p: &dyn Fn(&ClaimSample) -> f64| {
            apart.iter().map(p).fold(1.0, f64::min) * apart.len() as f64
        };
        let opposite = |bound: f64| {
            let p = 2.0 * of_any(&|of| of.below(-bound));
            PossibleAnswer::new(ClaimAnswer::Opposite, p)
        };
        let holds = if whole { 2.0 * holds } else { 1.0 };
        let holds = PossibleAnswer::new(ClaimAnswer::Holds, holds);
        let not_beyond = margin.map(|margin| {
            let p = of_any(&|of| of.below(log_margin(margin)));
            PossibleAnswer::new(ClaimAnswer::DoesNotHold, p)
                .because(format!("it is not beyond every other level by more than {margin} %"))
        });
        let first = std::iter::once(opposite(beyond)).chain(tie);
        first.chain([holds, opposite(0.0)]).chain(not_beyond).collect()
    };
    TestOutcome::Judged(JudgedClaim::new(apart, judge))
}

/// Judges whether a claimed level and another one are within the margin in percent, so that neither
/// is beyond all others.
fn judge_tie(
    apart: &[ClaimSample],
    pairs: &[(usize, usize)],
    levels: &[String],
    (percent, word): (f64, &str),
) -> PossibleAnswer {
    let count = apart.len() as f64;
    let p = |of: &ClaimSample| count * of.within(log_margin(percent));
    let shown = apart.iter().zip(pairs).filter(|(of, _)| p(of) <= LEVEL);
    let mut tied: Vec<usize> = shown.flat_map(|(_, &(a, b))| [a, b]).collect();
    tied.sort_unstable();
    tied.dedup();
    let names: Vec<&str> = tied.iter().map(|&at| levels[at].as_str()).collect();
    let names = match names.split_last() {
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    };
    PossibleAnswer::new(ClaimAnswer::NoDifference, apart.iter().map(p).fold(1.0, f64::min))
        .because(format!("none is {word}: {names} are within {percent} %"))
}

/// Describes the level that is furthest, and the claimed ones: `highest at C2B (31 Mbit/s); C3B 27
/// Mbit/s`.
fn describe_order(
    of: &OrderTest,
    units: ClaimUnits,
    along: &FiguresAlong,
    means: &[f64],
    claimed: &[usize],
) -> String {
    let written = |at: usize| match of.b {
        Some(_) => units.write_difference(means[at]),
        None => units.write(along.figure_of(means[at])),
    };
    let sign = if of.highest { 1.0 } else { -1.0 };
    let order = |a: &usize, b: &usize| (sign * means[*a]).total_cmp(&(sign * means[*b]));
    let Some(first) = (0..means.len()).max_by(order) else { return String::new() };
    let word = match (of.highest, of.b.is_some()) {
        (true, false) => "highest",
        (false, false) => "lowest",
        (true, true) => "largest",
        (false, true) => "smallest",
    };
    let others = claimed.iter().filter(|&&at| at != first);
    let others = others.map(|&at| format!("; {} {}", along.levels[at], written(at)));
    format!("{word} at {}, {}{}", along.levels[first], written(first), others.collect::<String>())
}

/// Tests that no two levels differ by more than the margin, each pair by two one-sided tests.
pub(super) fn test_independence(
    of: &IndependentTest,
    units: ClaimUnits,
    figures: &FigureSet,
) -> TestedClaim {
    let along = figures.along(&[&of.a], &of.over, units.measure);
    let Some(means) = along.means().filter(|means| means.len() > 1) else {
        return TestedClaim::untested(match along.levels.len() {
            0 | 1 => "fewer than two levels have figures",
            _ => "no repetition has figures at all levels",
        });
    };
    let margin = log_margin(of.margin);
    let count = means.len();
    let pairs: Vec<(usize, usize)> =
        (0..count).flat_map(|a| (a + 1..count).map(move |b| (a, b))).collect();
    let apart = pairs.iter().map(|&(a, b)| along.compare(a, b));
    let outcome = match apart.collect::<Option<Vec<ClaimSample>>>() {
        None => TestOutcome::Undecided(one_pair(figures)),
        Some(apart) => {
            let whole = along.missing.is_empty();
            let judge = move |apart: &[ClaimSample]| {
                let beyond = apart.iter().map(|of| of.above(margin).min(of.below(-margin)));
                let holds = apart.iter().map(|of| of.within(margin)).fold(0.0, f64::max);
                let fails = beyond.fold(1.0, f64::min) * apart.len() as f64;
                judge_contrary(if whole { holds } else { 1.0 }, fails)
            };
            TestOutcome::Judged(JudgedClaim::new(apart, judge))
        }
    };
    let (low, high) = furthest(&means);
    let ratio = match along.scale {
        AlongScale::Logarithms => (means[high] - means[low]).exp(),
        _ => means[high] / means[low],
    };
    let written = |at: usize| {
        let figure = units.write(along.figure_of(means[at]));
        format!("{figure} {}", at_level(&of.over, &along.levels[at]))
    };
    TestedClaim {
        outcome,
        figures: format!("{} to {}", written(low), written(high)),
        blocks: along.blocks.len() as u32,
        // Counts may be 0, and then have no ratio.
        estimate: ratio.is_finite().then_some(ClaimEstimate {
            of: ClaimScale::Ratio,
            value: ratio,
            low: None,
            high: None,
        }),
        count: None,
        agrees: mean_of(&[ratio.ln()]).map(|apart| apart <= margin),
    }
}

fn at_level(over: &OrderedLevels, level: &str) -> String {
    let at =
        sixmark_design::study_result::At { factor: over.factor.clone(), level: level.to_owned() };
    format!("at {}", sixmark_design::levels::label_level(&at))
}

/// Returns the places of the least and the greatest value.
fn furthest(means: &[f64]) -> (usize, usize) {
    let order = |a: &usize, b: &usize| means[*a].total_cmp(&means[*b]);
    let places = || 0..means.len();
    (places().min_by(order).unwrap_or(0), places().max_by(order).unwrap_or(0))
}
