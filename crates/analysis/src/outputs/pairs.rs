//! The pairs of a comparison: what was observed on each of its sides.

use super::{combinations, side_of};
use crate::average::average;
use crate::observation::Observation;
use sixmark_design::spec::{ComparisonSpec, FAMILY, Study};
use sixmark_design::study_result::{At, Statistic};
use sixmark_tally::metric::{Bounds, Metric};

/// Observations of side A and of side B: one of each, or those of all repetitions.
pub(super) struct ObservedPair<'a> {
    a: Vec<&'a Observation<'a>>,
    b: Vec<&'a Observation<'a>>,
}

impl<'a> ObservedPair<'a> {
    /// Returns the observations of both sides.
    pub(super) fn sides(&self) -> [&[&'a Observation<'a>]; 2] {
        [&self.a, &self.b]
    }

    /// Returns the figures of both sides, averaged over repetitions on the logarithms; `None` if a
    /// side has none.
    pub(super) fn figures(&self, measure: Metric) -> Option<(f64, f64)> {
        let [a, b] = self.sides().map(|side| figure_of(side, measure));
        a.zip(b)
    }
}

fn figure_of(side: &[&Observation<'_>], measure: Metric) -> Option<f64> {
    let figure = |one: &Observation<'_>| one.cell.figure(one.family, measure);
    if let [one] = side {
        return figure(one);
    }
    let logs = side.iter().filter_map(|one| figure(one)).map(f64::ln);
    let logs: Vec<f64> = logs.filter(|log| log.is_finite()).collect();
    average(&logs, Statistic::Mean, Bounds::NONE).map(|mean| mean.value.exp())
}

/// Returns a pair for each combination of the other factors, with all repetitions.
pub(super) fn by_factors<'a>(
    study: &Study,
    spec: &ComparisonSpec,
    seen: &'a [Observation<'a>],
    here: &[At],
    pairing: &[String],
) -> Vec<ObservedPair<'a>> {
    let pair = |at: Vec<At>| {
        let [a, b] = [&spec.a, &spec.b].map(|level| {
            let all = [here, &at, &[side_of(spec, level)]].concat();
            seen.iter().filter(|one| one.is_at(&all)).collect()
        });
        ObservedPair { a, b }
    };
    combinations(study, pairing).into_iter().map(pair).collect()
}

/// Returns a pair for each repetition and, unless the families are compared, for each family.
pub(super) fn by_repetition<'a>(
    spec: &ComparisonSpec,
    seen: &'a [Observation<'a>],
    here: &[At],
) -> Vec<ObservedPair<'a>> {
    let [a, b] = [&spec.a, &spec.b].map(|level| [here, &[side_of(spec, level)]].concat());
    let pair = |one: &'a Observation<'a>| {
        let is_other = |other: &&Observation<'_>| {
            let same_family = spec.factor == FAMILY || other.family == one.family;
            same_family && other.repetition == one.repetition && other.is_at(&b)
        };
        let other = seen.iter().find(is_other)?;
        Some(ObservedPair { a: vec![one], b: vec![other] })
    };
    seen.iter().filter(|one| one.is_at(&a)).filter_map(pair).collect()
}
