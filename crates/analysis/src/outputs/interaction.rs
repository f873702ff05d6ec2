//! Interactions: whether a comparison differs between two levels of another factor. The result is
//! the ratio of A to B at one level divided by that at the other.

use super::{combinations, side_of};
use crate::average::{average, distance, geometric, ratio_finding};
use crate::observation::Observation;
use sixmark_design::levels::LevelLabels;
use sixmark_design::spec::published::at_family;
use sixmark_design::spec::{ComparisonSpec, FAMILY, Levels, Study};
use sixmark_design::study_result::{At, ComparisonEntry, Interaction, RatioFinding, Statistic};
use sixmark_tally::metric::Bounds;
use sixmark_units::family::Family;

/// Returns the interaction for the study's document.
pub(super) fn result(levels: &Levels) -> Interaction {
    let Levels { factor, of, over } = levels.clone();
    Interaction { factor, of, over }
}

/// Returns a pair of ratios for each combination of the other factors. Figures are averaged over
/// repetitions first, on the logarithms.
pub(super) fn by_factors(
    study: &Study,
    (spec, with): (&ComparisonSpec, &Levels),
    seen: &[Observation<'_>],
    here: &[At],
    pairing: &[String],
) -> Vec<(f64, f64)> {
    let combined = combinations(study, pairing).into_iter();
    let pair = |at: Vec<At>| {
        let here: Vec<At> = here.iter().cloned().chain(at).collect();
        ratios(spec, with, &here, |all| {
            let figures = seen.iter().filter(|one| one.is_at(all));
            let figures = figures.filter_map(|one| one.cell.figure(one.family, spec.measure));
            let logs: Vec<f64> = figures.map(f64::ln).filter(|log| log.is_finite()).collect();
            average(&logs, Statistic::Mean, Bounds::NONE).map(|mean| mean.value.exp())
        })
    };
    combined.filter_map(pair).collect()
}

/// Returns a pair of ratios for each repetition and, if neither factor is the family, for each
/// family.
pub(super) fn by_repetition(
    spec: &ComparisonSpec,
    with: &Levels,
    seen: &[Observation<'_>],
    here: &[At],
) -> Vec<(f64, f64)> {
    let last = seen.iter().map(|one| one.repetition).max().unwrap_or(0);
    let pair = |here: &[At], repetition: u32| {
        ratios(spec, with, here, |all| {
            let is = |one: &&Observation<'_>| one.repetition == repetition && one.is_at(all);
            seen.iter().find(is).and_then(|one| one.cell.figure(one.family, spec.measure))
        })
    };
    let places = places(spec, with, here);
    places.iter().flat_map(|here| (1..=last).filter_map(|number| pair(here, number))).collect()
}

fn places(spec: &ComparisonSpec, with: &Levels, here: &[At]) -> Vec<Vec<At>> {
    if [&spec.factor, &with.factor].into_iter().any(|factor| factor == FAMILY) {
        return vec![here.to_vec()];
    }
    let of = |family| here.iter().cloned().chain([at_family(family)]).collect();
    Family::BOTH.map(of).to_vec()
}

/// Returns the ratio of A to B at each of the two levels; `None` if one is missing, 0 or infinite.
fn ratios(
    spec: &ComparisonSpec,
    with: &Levels,
    here: &[At],
    figure: impl Fn(&[At]) -> Option<f64>,
) -> Option<(f64, f64)> {
    let [of, over] = with.sides().map(|level| {
        let [a, b] = [&spec.a, &spec.b].map(|name| {
            let own = [side_of(spec, name), level.clone()];
            figure(&here.iter().cloned().chain(own).collect::<Vec<At>>())
        });
        let ratio = a? / b?;
        (ratio.is_finite() && ratio > 0.0).then_some(ratio)
    });
    of.zip(over)
}

/// Creates the entry for these pairs of ratios.
pub(super) fn entry(
    label: &str,
    spec: &ComparisonSpec,
    with: &Levels,
    pairs: &[(f64, f64)],
    labels: &LevelLabels,
) -> ComparisonEntry {
    let ratio = geometric(pairs);
    let finding = ratio_finding(ratio, Some(spec.margin_percent));
    let [a, b] = [&spec.a, &spec.b].map(|level| labels.level(&side_of(spec, level)));
    let [of, over] = with.sides().map(|at| labels.level(&at));
    let by = distance(ratio.map_or(1.0, |ratio| ratio.value));
    let factor = labels.factor(&with.factor);
    let differs =
        |word| format!("{a} vs {b} depends on {factor}: {word} by {by} with {of} than with {over}");
    let sentence = match finding {
        RatioFinding::Higher => differs("higher"),
        RatioFinding::Lower => differs("lower"),
        RatioFinding::Equivalent => {
            let margin = spec.margin_percent;
            format!("{a} vs {b} is equivalent with {of} and with {over}, within {margin} %")
        }
        RatioFinding::Unshown if pairs.len() < 2 => "one pair is too few for a result".to_owned(),
        RatioFinding::Unshown | RatioFinding::NotComparable => {
            format!("whether {a} vs {b} depends on {factor} is inconclusive")
        }
    };
    let higher = pairs.iter().filter(|(of, over)| of > over).count() as u32;
    ComparisonEntry {
        label: label.to_owned(),
        at: Vec::new(),
        pairs: pairs.len() as u32,
        higher,
        ratio,
        finding,
        sentence,
        why: None,
    }
}
