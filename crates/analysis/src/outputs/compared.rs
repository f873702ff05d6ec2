//! Comparisons of two levels of a factor.

use super::missing::why_missing;
use super::{combinations, interaction, labelled, others, side_of};
use crate::average::{average, entry};
use crate::observation::Observation;
use crate::unlike;
use sixmark_design::spec::{ComparisonSpec, FAMILY, Study};
use sixmark_design::study_result::{
    At, ComparisonEntry, Published, RatioFinding, Statistic, StudyComparison,
};
use sixmark_tally::metric::{Bounds, Metric};

/// Compares two levels of a factor, in an entry for each combination of the levels of `by`.
pub(super) fn compare_levels(
    study: &Study,
    spec: &ComparisonSpec,
    seen: &[Observation<'_>],
    again: Option<&Published>,
) -> StudyComparison {
    let fixed = spec.only.iter().map(|at| &at.factor);
    let other = spec.interaction.as_ref().map(|levels| &levels.factor);
    let named: Vec<&str> = spec
        .by
        .iter()
        .chain([&spec.factor])
        .chain(other)
        .chain(fixed)
        .map(String::as_str)
        .collect();
    let mut pairing = others(study, &named);
    // Without another factor, the repetitions are the pairs.
    let repeated = pairing.iter().all(|factor| factor == FAMILY && !declared(study));
    if repeated {
        pairing.push("repetition".to_owned());
    }
    let split = combinations(study, &labelled(study, &spec.by)).into_iter();
    let entries = split.map(|at| one_entry(study, spec, seen, &at, (&pairing, repeated)));
    // What can't be compared because nothing arrived is an entry too, without pairs.
    let is_entry =
        |entry: &ComparisonEntry| entry.pairs > 0 || entry.finding == RatioFinding::NotComparable;
    let entries = entries.filter(is_entry).collect();
    StudyComparison {
        name: spec.name.clone(),
        title: spec.title.clone(),
        measure: spec.measure,
        factor: spec.factor.clone(),
        a: spec.a.clone(),
        b: spec.b.clone(),
        entries,
        interaction: spec.interaction.as_ref().map(interaction::result),
        margin_percent: spec.margin_percent,
        paired_by: pairing,
        published: published_entries(spec, again),
    }
}

/// Compares A and B at one combination of the levels of `by`.
fn one_entry(
    study: &Study,
    spec: &ComparisonSpec,
    seen: &[Observation<'_>],
    at: &[At],
    (pairing, repeated): (&[String], bool),
) -> ComparisonEntry {
    let here: Vec<At> = spec.only.iter().chain(at).cloned().collect();
    let label = study.labels.levels(at);
    let at = at.to_vec();
    if let Some(with) = &spec.interaction {
        let pairs = if repeated {
            interaction::by_repetition(spec, with, seen, &here)
        } else {
            interaction::by_factors(study, (spec, with), seen, &here, pairing)
        };
        let entry = interaction::entry(&label, spec, with, &pairs, &study.labels);
        let places = with.sides().map(|at| [&here[..], &[at]].concat());
        return comparable(ComparisonEntry { at, ..entry }, study, spec, seen, &places);
    }
    let pairs = if repeated {
        by_repetition(spec, seen, &here)
    } else {
        by_factors(study, spec, seen, &here, pairing)
    };
    let names = [&spec.a, &spec.b].map(|level| study.labels.level(&side_of(spec, level)));
    let names = names.each_ref().map(String::as_str);
    let better = spec.measure.higher_is_better();
    let entry = entry(&label, names, &pairs, better, Some(spec.margin_percent));
    comparable(ComparisonEntry { at, ..entry }, study, spec, seen, &[here])
}

/// Returns the entry; if the measure is a speed and the sides gave different responses at some of
/// these places, or a side gave none, without the ratio and as not comparable.
fn comparable(
    entry: ComparisonEntry,
    study: &Study,
    spec: &ComparisonSpec,
    seen: &[Observation<'_>],
    places: &[Vec<At>],
) -> ComparisonEntry {
    let here = seen.iter().filter(|one| places.iter().any(|at| one.is_at(at)));
    let here: Vec<_> = here.filter(|_| spec.measure.is_of_speed()).collect();
    let sides = [&side_of(spec, &spec.a), &side_of(spec, &spec.b)];
    let unlike = unlike::unlike_between(&here, sides, spec.margin_percent / 100.0);
    let none = || nothing_arrived(study, seen, sides, spec.measure, places);
    match unlike.or_else(|| none().filter(|_| entry.pairs == 0)) {
        Some(said) => {
            let sentence = format!("not comparable: {said}");
            ComparisonEntry { ratio: None, finding: RatioFinding::NotComparable, sentence, ..entry }
        }
        None => entry,
    }
}

/// Names the sides of which no response arrived at one of these places although exchanges were sent;
/// `None` if there are none.
fn nothing_arrived(
    study: &Study,
    seen: &[Observation<'_>],
    sides: [&At; 2],
    measure: Metric,
    places: &[Vec<At>],
) -> Option<String> {
    let is_missing = |side: &&At| {
        places.iter().any(|place| {
            let there = [&place[..], &[(*side).clone()]].concat();
            why_missing(seen, &there, measure).is_some()
        })
    };
    let names = sides.into_iter().filter(is_missing).map(|side| study.labels.level(side));
    let names: Vec<String> = names.collect();
    (!names.is_empty()).then(|| format!("no response arrived: {}", names.join(", ")))
}

fn declared(study: &Study) -> bool {
    study.factors.iter().any(|factor| factor.name == FAMILY)
}

fn published_entries(spec: &ComparisonSpec, again: Option<&Published>) -> Vec<ComparisonEntry> {
    let analyses = again.map_or(&[][..], |published| &published.analyses);
    let of = analyses.iter().find(|analysis| Some(&analysis.title) == spec.published.as_ref());
    of.map_or(Vec::new(), |analysis| analysis.ratios.clone())
}

/// Returns a pair for each combination of the other factors. Figures are averaged over repetitions
/// first, on the logarithms.
fn by_factors(
    study: &Study,
    spec: &ComparisonSpec,
    seen: &[Observation<'_>],
    here: &[At],
    pairing: &[String],
) -> Vec<(f64, f64)> {
    let combined = combinations(study, pairing).into_iter();
    let pair = |at: Vec<At>| {
        let mean = |level: &str| {
            let all: Vec<At> = here
                .iter()
                .cloned()
                .chain(at.iter().cloned())
                .chain([side_of(spec, level)])
                .collect();
            let here = seen.iter().filter(|one| one.is_at(&all));
            let logs: Vec<f64> = here
                .filter_map(|one| one.cell.figure(one.family, spec.measure))
                .map(f64::ln)
                .filter(|log| log.is_finite())
                .collect();
            average(&logs, Statistic::Mean, Bounds::NONE).map(|mean| mean.value.exp())
        };
        mean(&spec.a).zip(mean(&spec.b))
    };
    combined.filter_map(pair).collect()
}

/// Returns a pair for each repetition and, unless the families are compared, for each family.
fn by_repetition(spec: &ComparisonSpec, seen: &[Observation<'_>], here: &[At]) -> Vec<(f64, f64)> {
    let at =
        |level: &str| -> Vec<At> { here.iter().cloned().chain([side_of(spec, level)]).collect() };
    let [a, b] = [at(&spec.a), at(&spec.b)];
    let pair = |one: &Observation<'_>| {
        let of_a = one.cell.figure(one.family, spec.measure)?;
        let is_other = |other: &&Observation<'_>| {
            let same_family = spec.factor == FAMILY || other.family == one.family;
            same_family && other.repetition == one.repetition && other.is_at(&b)
        };
        let other = seen.iter().find(is_other)?;
        Some((of_a, other.cell.figure(other.family, spec.measure)?))
    };
    seen.iter().filter(|one| one.is_at(&a)).filter_map(pair).collect()
}
