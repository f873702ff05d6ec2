//! Comparisons of two levels of a factor.

use super::missing::why_missing;
use super::{combinations, interaction, labelled, others, pairs, side_of, why};
use crate::average::entry;
use crate::observation::Observation;
use crate::unlike;
use sixmark_design::spec::{ComparisonSpec, FAMILY, Study};
use sixmark_design::study_result::{At, ComparisonEntry, Published, RatioFinding, StudyComparison};
use sixmark_tally::metric::Metric;

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
    let mut pairs = if repeated {
        pairs::by_repetition(spec, seen, &here)
    } else {
        pairs::by_factors(study, spec, seen, &here, pairing)
    };
    pairs.retain(|pair| pair.figures(spec.measure).is_some_and(|(a, b)| a > 0.0 && b > 0.0));
    let figures: Vec<_> = pairs.iter().filter_map(|pair| pair.figures(spec.measure)).collect();
    let names = [&spec.a, &spec.b].map(|level| study.labels.level(&side_of(spec, level)));
    let names = names.each_ref().map(String::as_str);
    let better = spec.measure.higher_is_better();
    let entry = entry(&label, names, &figures, better, Some(spec.margin_percent));
    let entry = comparable(ComparisonEntry { at, ..entry }, study, spec, seen, &[here]);
    let is_apart = matches!(entry.finding, RatioFinding::Higher | RatioFinding::Lower);
    let why = is_apart.then(|| why::explain(spec.measure, &pairs)).flatten();
    ComparisonEntry { why, ..entry }
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
