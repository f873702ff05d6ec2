//! Whether sides gave the same responses, which is checked before their speeds are compared.
//!
//! Sides are compared place by place. A place is one combination of the levels of all other
//! factors. A family that fails at one of many levels would go unnoticed in the sum over all
//! places.

use std::collections::{BTreeMap, BTreeSet};

use crate::observation::Observation;
use sixmark_design::levels::label_level;
use sixmark_design::spec::FAMILY;
use sixmark_design::spec::published::at_family;
use sixmark_design::study_result::{At, MARGIN_PERCENT};
use sixmark_result::sameness::{Answers, look, look_among};
use sixmark_units::family::Family;

/// The responses of two sides at one place.
struct UnlikePlace {
    at: Vec<At>,
    /// One pair for each repetition.
    pairs: Vec<(Answers, Answers)>,
}

/// Returns why two levels of a factor can't be compared in speed, in a sentence without a full
/// stop; `None` if they can. Sizes that differ by no more than the share `margin` of the larger one
/// count as equal.
pub(super) fn unlike_between(
    seen: &[&Observation<'_>],
    [a, b]: [&At; 2],
    margin: f64,
) -> Option<String> {
    let places = places(seen, [a, b]);
    let names = (a.level.as_str(), b.level.as_str());
    // If there are several places, one more test is that of all places together.
    let looks = if places.len() > 1 { places.len() + 1 } else { 1 };
    let look = |pairs: Vec<&(Answers, Answers)>| {
        let pairs: Vec<_> = pairs.into_iter().map(|(a, b)| (a, b)).collect();
        look_among(names, &pairs, margin, looks)?.said
    };
    let of_place = |of: &'_ UnlikePlace| look(of.pairs.iter().collect());
    let unlike = places.iter().filter_map(|of| Some((&of.at, of_place(of)?)));
    let unlike: Vec<(&Vec<At>, String)> = unlike.collect();
    let Some((first, said)) = unlike.first() else {
        return look(places.iter().flat_map(|place| &place.pairs).collect());
    };
    let everywhere = unlike.len() == places.len() && unlike.iter().all(|(_, other)| other == said);
    Some(match (everywhere, unlike.len() - 1) {
        (true, _) => said.clone(),
        (false, 0) => format!("{said} (at {})", label_places(first, &places)),
        (false, n) => {
            format!("{said} (at {}; differences also at {n} more)", label_places(first, &places))
        }
    })
}

/// Returns why the families can't be compared in speed; `None` if they can.
pub(super) fn unlike_families(seen: &[&Observation<'_>], margin: f64) -> Option<String> {
    let [ipv6, ipv4] = Family::BOTH.map(at_family);
    unlike_between(seen, [&ipv6, &ipv4], margin)
}

/// Returns why two sides can't be compared in speed; `None` if they can. All responses of each side
/// are compared, repetition by repetition, without sizes.
pub(super) fn unlike_sides(
    [a, b]: [&[&Observation<'_>]; 2],
    [of_a, of_b]: [String; 2],
) -> Option<String> {
    let repetitions: BTreeSet<u32> = a.iter().chain(b).map(|one| one.repetition).collect();
    let of = |side: &[&Observation<'_>], repetition: u32| {
        answers(side.iter().copied().filter(|one| one.repetition == repetition), false)
    };
    let pairs = repetitions.into_iter().filter_map(|n| Some((of(a, n)?, of(b, n)?)));
    let pairs: Vec<(Answers, Answers)> = pairs.collect();
    let pairs: Vec<_> = pairs.iter().map(|(a, b)| (a, b)).collect();
    look((&of_a, &of_b), &pairs, MARGIN_PERCENT / 100.0)?.said
}

/// Returns the label of those levels that differ between places.
fn label_places(of: &[At], places: &[UnlikePlace]) -> String {
    let varied = of.iter().filter(|at| places.iter().any(|place| !place.at.contains(at)));
    varied.map(label_level).collect::<Vec<_>>().join(", ")
}

/// Returns the places at which the responses of both sides are known.
fn places(seen: &[&Observation<'_>], [a, b]: [&At; 2]) -> Vec<UnlikePlace> {
    let mut found: BTreeMap<Vec<(&str, &str)>, Vec<&Observation<'_>>> = BTreeMap::new();
    for one in seen {
        let others = one.at.iter().filter(|at| at.factor != a.factor);
        let key = others.map(|at| (at.factor.as_str(), at.level.as_str())).collect();
        found.entry(key).or_default().push(one);
    }
    let place = |(key, here): (Vec<(&str, &str)>, Vec<&Observation<'_>>)| {
        let of = |side: &At, repetition: u32| {
            let there = here.iter().copied().filter(|one| one.repetition == repetition);
            // Levels of other factors than the family may request content of other sizes.
            answers(there.filter(|one| one.at.contains(side)), a.factor == FAMILY)
        };
        let repetitions: BTreeSet<u32> = here.iter().map(|one| one.repetition).collect();
        let pair = |n: u32| Some((of(a, n)?, of(b, n)?));
        let pairs = repetitions.into_iter().filter_map(pair).collect();
        let at = |(factor, level): (&str, &str)| At { factor: factor.into(), level: level.into() };
        UnlikePlace { at: key.into_iter().map(at).collect(), pairs }
    };
    found.into_iter().map(place).filter(|place| !place.pairs.is_empty()).collect()
}

/// Returns the sum of the responses of some cells; `None` if none are known.
fn answers<'a>(cells: impl Iterator<Item = &'a Observation<'a>>, sizes: bool) -> Option<Answers> {
    let mut sum = Answers::default();
    let answers = cells.filter_map(|one| Some(one.cell.given.of(one.family)?.answers()));
    answers.for_each(|answers| sum += &answers);
    let sum = if sizes { sum } else { sum.without_sizes() };
    (!sum.is_empty()).then_some(sum)
}

/// Describes a combination of levels and family that gave only errors; `None` if there is none.
pub(super) fn only_errors(seen: &[&Observation<'_>]) -> Option<String> {
    let mut found: BTreeMap<Vec<(&str, &str)>, Vec<&Observation<'_>>> = BTreeMap::new();
    for one in seen {
        let key = one.at.iter().map(|at| (at.factor.as_str(), at.level.as_str())).collect();
        found.entry(key).or_default().push(one);
    }
    found.into_values().find_map(|here| {
        let given = answers(here.iter().copied(), false)?.given(None);
        given.only_errors(&at_family(here.first()?.family).level)
    })
}
