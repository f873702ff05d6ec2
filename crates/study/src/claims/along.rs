//! Claims about the levels of a factor: a trend, an order, an independence.

use sixmark_stats::{StudentEstimate, slope};

use super::figures::{FigureSet, FiguresAlong, itself, logarithm};
use super::sides::{mean_of, never_varies, one_pair};
use super::tested::{ClaimTails, TestOutcome, TestedClaim, log_margin, ratio_of};
use super::units::ClaimUnits;
use crate::spec::{IndependentTest, OrderTest, OrderedLevels, TrendShape, TrendTest};
use crate::study_result::{ClaimEstimate, ClaimScale};

/// Tests a trend. Each repetition has a slope; a single published series has a regression.
pub(super) fn test_trend(of: &TrendTest, units: ClaimUnits, figures: &FigureSet) -> TestedClaim {
    let along = figures.along(&[&of.a], &of.over, logarithm);
    let all = of.over.places();
    let places: Vec<f64> = of
        .over
        .levels
        .iter()
        .zip(all)
        .filter(|(l, _)| along.levels.contains(l))
        .map(|(_, x)| x)
        .collect();
    let whole = 0..along.levels.len();
    let found = match &of.shape {
        TrendShape::Rises | TrendShape::Falls => {
            let Some(estimate) = change_over(&along, &places, whole) else {
                return few_levels(&along, figures);
            };
            let falls = of.shape == TrendShape::Falls;
            let turned = match falls {
                true => StudentEstimate { value: -estimate.value, ..estimate },
                false => estimate,
            };
            let tails = ClaimTails::of_direction(turned, Some(of.margin));
            (tails, estimate, turned.value > 0.0, None)
        }
        TrendShape::UShaped(turn) => {
            let at = along.levels.iter().position(|level| level == turn).unwrap_or(0);
            let (before, after) = (0..at + 1, at..along.levels.len());
            let (Some(before), Some(after)) =
                (change_over(&along, &places, before), change_over(&along, &places, after))
            else {
                return few_levels(&along, figures);
            };
            let holds = before.below(0.0).max(after.above(0.0));
            // Either part may contradict the claim.
            let fails = (2.0 * before.above(0.0).min(after.below(0.0))).min(1.0);
            let agrees = before.value < 0.0 && after.value > 0.0;
            (ClaimTails::new(holds, fails), after, agrees, Some(before))
        }
    };
    let (tails, estimate, agrees, before) = found;
    let outcome = match never_varies(estimate, units) {
        true => TestOutcome::Undecided("all repetitions have the same figures".to_owned()),
        false => TestOutcome::Tails(tails),
    };
    let ends = along.means().and_then(|means| Some((means.first()?.exp(), means.last()?.exp())));
    let ends = ends.map_or(String::new(), |(first, last)| {
        let [first, last] = [first, last].map(|value| units.write(value));
        format!("{first} to {last}")
    });
    TestedClaim {
        outcome,
        figures: before.map_or(ends.clone(), |before| {
            format!("{ends}, × {:.3} before and after it", before.value.exp())
        }),
        blocks: along.blocks.len() as u32,
        estimate: Some(ratio_of(estimate)),
        count: None,
        agrees: Some(agrees),
    }
}

fn few_levels(along: &FiguresAlong, figures: &FigureSet) -> TestedClaim {
    TestedClaim::untested(match along.levels.len() {
        0..3 => format!("{} levels have figures, which is too few", along.levels.len()),
        _ if along.blocks.is_empty() => "no repetition has figures at all levels".to_owned(),
        _ => one_pair(figures),
    })
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
            StudentEstimate::of_mean(&slopes.collect::<Option<Vec<f64>>>()?).ok()
        }
    }
}

/// Tests which levels have the highest or lowest figures: each of them against each other level
/// (an intersection-union test).
pub(super) fn test_order(of: &OrderTest, units: ClaimUnits, figures: &FigureSet) -> TestedClaim {
    let along = match &of.b {
        Some(b) => figures.along(&[&of.a, b], &of.over, itself),
        None => figures.along(&[&of.a], &of.over, logarithm),
    };
    let (claimed, others): (Vec<usize>, Vec<usize>) =
        (0..along.levels.len()).partition(|&at| of.at.contains(&along.levels[at]));
    if claimed.is_empty() || others.is_empty() {
        return TestedClaim::untested(match along.levels.is_empty() {
            true => "there are no figures".to_owned(),
            false => format!("there are no figures at {}", along.missing.join(", ")),
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
    let outcome = judge_order(&along, &pairs, sign, units, figures);
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
    along: &FiguresAlong,
    pairs: &[(usize, usize)],
    sign: f64,
    units: ClaimUnits,
    figures: &FigureSet,
) -> TestOutcome {
    let apart = pairs.iter().map(|&(a, b)| {
        let differences: Vec<f64> =
            along.differences(a, b).into_iter().map(|difference| sign * difference).collect();
        StudentEstimate::of_mean(&differences).ok()
    });
    let Some(apart) = apart.collect::<Option<Vec<StudentEstimate>>>() else {
        return TestOutcome::Undecided(one_pair(figures));
    };
    if apart.iter().any(|&of| never_varies(of, units)) {
        return TestOutcome::Undecided("all repetitions have the same figures".to_owned());
    }
    // A level without figures could be beyond the claimed ones.
    let holds = match along.missing.is_empty() {
        true => apart.iter().map(|of| of.above(0.0)).fold(0.0, f64::max),
        false => 1.0,
    };
    let least = apart.iter().map(|of| of.below(0.0)).fold(1.0, f64::min);
    TestOutcome::Tails(ClaimTails::new(holds, (least * pairs.len() as f64).min(1.0)))
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
        None => units.write(means[at].exp()),
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
    let along = figures.along(&[&of.a], &of.over, logarithm);
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
    let apart = pairs.iter().map(|&(a, b)| StudentEstimate::of_mean(&along.differences(a, b)).ok());
    let outcome = match apart.collect::<Option<Vec<StudentEstimate>>>() {
        None => TestOutcome::Undecided(one_pair(figures)),
        Some(apart) => {
            let within = apart.iter().map(|of| of.above(-margin).max(of.below(margin)));
            let beyond = apart.iter().map(|of| of.above(margin).min(of.below(-margin)));
            let holds = match along.missing.is_empty() {
                true => within.fold(0.0, f64::max),
                false => 1.0,
            };
            let fails = (beyond.fold(1.0, f64::min) * pairs.len() as f64).min(1.0);
            TestOutcome::Tails(ClaimTails::new(holds, fails))
        }
    };
    let (low, high) = furthest(&means);
    let ratio = (means[high] - means[low]).exp();
    let written = |at: usize| {
        format!("{} {}", units.write(means[at].exp()), at_level(&of.over, &along.levels[at]))
    };
    TestedClaim {
        outcome,
        figures: format!("{} to {}", written(low), written(high)),
        blocks: along.blocks.len() as u32,
        estimate: Some(ClaimEstimate {
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
    let at = crate::study_result::At { factor: over.factor.clone(), level: level.to_owned() };
    format!("at {}", crate::levels::label_level(&at))
}

/// Returns the places of the least and the greatest value.
fn furthest(means: &[f64]) -> (usize, usize) {
    let order = |a: &usize, b: &usize| means[*a].total_cmp(&means[*b]);
    let places = || 0..means.len();
    (places().min_by(order).unwrap_or(0), places().max_by(order).unwrap_or(0))
}
