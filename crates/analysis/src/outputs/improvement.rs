//! How much better one level of a factor is than another, from the means of a table.

use super::{Beside, combinations};
use crate::observation::Observation;
use crate::unlike;
use sixmark_design::spec::{Levels, Study, TableSpec};
use sixmark_design::study_result::{At, Improvement, MARGIN_PERCENT, Row, TableColumn, TableValue};
use sixmark_stats::t_quantile;
use sixmark_tally::metric::Metric;

/// The confidence level of the intervals.
const CONFIDENCE: f64 = 0.95;

/// Returns the rows of improvements, in percent, of the table at these levels.
pub(super) fn improvement(
    study: &Study,
    spec: &TableSpec,
    seen: &[Observation<'_>],
    at: &[At],
    columns: &[TableColumn],
    (levels, beside): (&Levels, &Beside),
) -> Improvement {
    let [of, over] = levels.sides();
    let judged = combinations(study, &spec.rows).into_iter().filter(|row| row.contains(&of));
    let mut unlike = None;
    let rows = judged.filter_map(|row| {
        let value = |column: &TableColumn| {
            let here: Vec<At> = at.iter().chain(&row).chain(&column.at).cloned().collect();
            let value = improvement_of(seen, &here, levels, column.measure, beside);
            let Some(said) = why_not_improved(seen, &here, [&of, &over], column.measure) else {
                return value;
            };
            unlike.get_or_insert(said);
            TableValue { published: value.published, ..TableValue::default() }
        };
        let values: Vec<TableValue> = columns.iter().map(value).collect();
        let known = |value: &TableValue| value.measured.is_some();
        let levels = row.iter().map(|at| at.level.clone()).collect();
        values.iter().any(known).then_some(Row { levels, values })
    });
    let rows = rows.collect();
    let (factor, [of, over]) =
        (levels.factor.clone(), [&levels.of, &levels.over].map(String::clone));
    Improvement { rows, factor, of, over, unlike }
}

/// Returns why the levels can't be compared in speed; `None` if they can be.
fn why_not_improved(
    seen: &[Observation<'_>],
    here: &[At],
    [of, over]: [&At; 2],
    measure: Metric,
) -> Option<String> {
    let others = || here.iter().filter(|at| at.factor != of.factor);
    let there = seen.iter().filter(|one| others().all(|at| one.at.contains(at)));
    let there: Vec<_> = there.filter(|_| measure.is_of_speed()).collect();
    unlike::unlike_between(&there, [of, over], MARGIN_PERCENT / 100.0)
}

/// Returns by how many percent the level `of` is better than `over`. `here` contains the level
/// `of`; the figure to compare with is that at the same levels with `over` instead.
fn improvement_of(
    seen: &[Observation<'_>],
    here: &[At],
    levels: &Levels,
    measure: Metric,
    beside: &Beside,
) -> TableValue {
    let [of, over] = levels.sides();
    let instead = |at: &At| if *at == of { over.clone() } else { at.clone() };
    let there: Vec<At> = here.iter().map(instead).collect();
    let change = change(&pairs(seen, here, &there, measure));
    let better = measure.higher_is_better() != Some(false);
    let percent = |ratio: f64| if better { (ratio - 1.0) * 100.0 } else { (1.0 - ratio) * 100.0 };
    let ends = change.and_then(|change| change.interval).map(|(low, high)| {
        let (low, high) = (percent(low), percent(high));
        (low.min(high), low.max(high))
    });
    TableValue {
        missing: None,
        measured: change.map(|change| percent(change.ratio)),
        low: ends.map(|(low, _)| low),
        high: ends.map(|(_, high)| high),
        n: change.map_or(0, |change| change.n),
        published: beside.improvements(levels, [here, &there], measure, percent),
    }
}

/// Returns the figures at both places, one pair for each repetition.
fn pairs(seen: &[Observation<'_>], here: &[At], there: &[At], measure: Metric) -> Vec<(f64, f64)> {
    let pair = |one: &Observation<'_>| {
        let other =
            seen.iter().find(|other| other.repetition == one.repetition && other.is_at(there))?;
        Some((one.cell.figure(one.family, measure)?, other.cell.figure(other.family, measure)?))
    };
    seen.iter().filter(|one| one.is_at(here)).filter_map(pair).collect()
}

/// The ratio of two means.
#[derive(Clone, Copy)]
struct ChangeOfMeans {
    ratio: f64,
    interval: Option<(f64, f64)>,
    n: u32,
}

/// Returns the mean of the first figures divided by that of the second, with Student's interval;
/// `None` if the ratio is not positive and finite. To first order, the error of the ratio's
/// logarithm is the mean over all pairs of the difference of their figures, each divided by its own
/// mean.
fn change(pairs: &[(f64, f64)]) -> Option<ChangeOfMeans> {
    let n = pairs.len() as f64;
    let [a, b] = [|pair: &(f64, f64)| pair.0, |pair: &(f64, f64)| pair.1]
        .map(|side| pairs.iter().map(side).sum::<f64>() / n);
    let ratio = a / b;
    if pairs.is_empty() || ratio <= 0.0 || !ratio.is_finite() {
        return None;
    }
    let squares: f64 = pairs.iter().map(|(of, over)| (of / a - over / b).powi(2)).sum();
    let interval = (n > 1.0).then(|| {
        let half = t_quantile(0.5 + CONFIDENCE / 2.0, n - 1.0) * (squares / (n - 1.0) / n).sqrt();
        (ratio * (-half).exp(), ratio * half.exp())
    });
    Some(ChangeOfMeans { ratio, interval, n: pairs.len() as u32 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn computes_a_change_as_the_ratio_of_the_means() {
        let of = change(&[(110.0, 100.0), (130.0, 100.0)]).unwrap();
        assert_eq!((of.ratio, of.n), (1.2, 2));
        // Differences of a twelfth on either side: 12.706 of their standard error.
        let (low, high) = of.interval.unwrap();
        let half = 12.706_2 * (2.0 / 144.0 / 2.0_f64).sqrt();
        assert!((low - 1.2 * (-half).exp()).abs() < 1e-3 && (high - 1.2 * half.exp()).abs() < 1e-3);
    }

    #[test]
    fn drift_over_repetitions_does_not_widen_the_interval() {
        let (low, high) =
            change(&[(11.0, 10.0), (22.0, 20.0), (33.0, 30.0)]).unwrap().interval.unwrap();
        assert!((low - 1.1).abs() < 1e-9 && (high - 1.1).abs() < 1e-9, "{low} {high}");
    }

    #[test]
    fn gives_no_interval_for_one_pair_and_no_change_for_no_pair() {
        assert!(change(&[(2.0, 1.0)]).unwrap().interval.is_none());
        assert!(change(&[]).is_none() && change(&[(1.0, 0.0)]).is_none());
    }
}
