//! Levels that don't give the same: before speed comes sameness.

use super::{ComparisonSpec, FAMILY, Observation, combinations, side};
use crate::plan::study::Study;
use crate::sameness::{self, Answers};
use crate::study::result::{At, Entry, Finding};

/// What keeps the levels from being compared in speed, in a sentence without a full stop.
pub(super) fn said(
    study: &Study,
    spec: &ComparisonSpec,
    seen: &[Observation<'_>],
    here: &[At],
    (pairing, repeated): (&[String], bool),
) -> Option<String> {
    if !spec.measure.is_of_speed() {
        return None;
    }
    let pairs = match repeated {
        true => by_repetition(spec, seen, here),
        false => by_factors(study, spec, seen, here, pairing),
    };
    let pairs: Vec<_> = pairs.iter().map(|(a, b)| (a, b)).collect();
    sameness::look((&spec.a, &spec.b), &pairs, spec.margin_percent / 100.0)?.said
}

/// The entry without what it says of speed.
pub(super) fn entry(entry: Entry, said: String) -> Entry {
    let sentence = format!("not comparable: {said}");
    Entry { ratio: None, finding: Finding::NotComparable, sentence, ..entry }
}

fn by_factors(
    study: &Study,
    spec: &ComparisonSpec,
    seen: &[Observation<'_>],
    here: &[At],
    pairing: &[String],
) -> Vec<(Answers, Answers)> {
    let pair = |at: Vec<At>| {
        let of = |level: &str| {
            let level = [side(spec, level)];
            let all: Vec<At> = here.iter().chain(&at).chain(&level).cloned().collect();
            let mut sum = Answers::default();
            let there = seen.iter().filter(|one| one.is_at(&all));
            there.filter_map(|one| answers(spec, one)).for_each(|answers| sum += &answers);
            sum
        };
        (of(&spec.a), of(&spec.b))
    };
    combinations(study, pairing).into_iter().map(pair).collect()
}

fn by_repetition(
    spec: &ComparisonSpec,
    seen: &[Observation<'_>],
    here: &[At],
) -> Vec<(Answers, Answers)> {
    let at = |level: &str| [here, &[side(spec, level)]].concat();
    let [a, b] = [at(&spec.a), at(&spec.b)];
    let pair = |one: &Observation<'_>| {
        let is_other = |other: &&Observation<'_>| {
            let same_family = spec.factor == FAMILY || other.family == one.family;
            same_family && other.repetition == one.repetition && other.is_at(&b)
        };
        let other = seen.iter().find(is_other)?;
        answers(spec, one).zip(answers(spec, other))
    };
    seen.iter().filter(|one| one.is_at(&a)).filter_map(pair).collect()
}

/// What a cell gave. Other levels than the family's may ask for contents of other sizes.
fn answers(spec: &ComparisonSpec, one: &Observation<'_>) -> Option<Answers> {
    let answers = one.cell.given.of(one.family)?.answers();
    Some(if spec.factor == FAMILY { answers } else { answers.without_sizes() })
}
