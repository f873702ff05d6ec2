//! Tests of claims. There is an answer for each truth ([`ClaimAnswer`]).
//!
//! Each repetition is a block. Within it, the figures that a claim needs are reduced to one number,
//! such as the logarithm of a ratio of two sides; a trimmed mean over the blocks gives a p-value for
//! each possible answer (`judged`). Holm's weighted correction keeps the probability of any wrong
//! answer among the paper's claims at 5 %, and among the study's own (`answers`). Counts decide
//! other claims (`counting`).
//!
//! The same tests are made on published figures, as far as there are enough of them: there, pairs
//! of figures at the same levels of other factors are the blocks.

mod along;
mod answers;
mod by_client;
mod comparable;
mod counting;
mod derived;
mod each_level;
mod figures;
mod judged;
mod methods;
mod needed_cells;
mod precondition;
mod sample;
mod sentence;
mod sides;
mod tested;
mod trimmed;
mod units;

use crate::group_view::{GroupView, GroupViews};
use crate::observation::Observation;
use answers::{BlockNoun, ClaimFamily};
use figures::FigureSet;
pub use needed_cells::{CellTimes, cells_of_claim};
use sixmark_design::form::Form;
use sixmark_design::looks::{LookParts, StudyUntil};
use sixmark_design::spec::{
    ClaimSpec, ClaimTest, PublishedFigures, SideLevels, Study, is_pattern, published_levels,
};
use sixmark_design::study_result::{
    CellResult, ClaimAnswer, ClaimEvidence, ClaimInstrument, ClaimResult,
};
use sixmark_tally::metric::{Metric, Quantity};
pub use tested::MOST_TIMES;
use tested::{TestOutcome, TestedClaim};
use units::ClaimUnits;

/// Tests the claims of a study on its cells and on the published figures: once, or at each look of a
/// study that goes on until they are decided.
pub(super) fn test_claims(
    study: &Study,
    cells: &[CellResult],
    until: Option<&StudyUntil>,
) -> Vec<ClaimResult> {
    let views = GroupViews::new(study, cells);
    let claims = &study.outputs.claims;
    let mut measured = answer_claims(study, cells, until);
    let by_client = by_client::answer_by_client(study, cells, until);
    needed_cells::add_times(study, cells, &mut measured);
    let published = test_published(claims, study.published.as_ref());
    let all = claims.iter().zip(measured.into_iter().zip(by_client)).zip(published);
    let result = |((spec, (measured, by_client)), published): (
        (&ClaimSpec, (_, Option<ClaimEvidence>)),
        _,
    )| {
        let view = views.of(spec.group.as_deref());
        let seen = view.map_or(&[][..], |view| seen_by_claim(view, spec));
        let named = view.map_or_else(|| spec.clone(), |view| with_roles_here(&view.study, spec));
        let by_packets = by_client::is_by_packets(spec, seen);
        let named = ClaimSpec { by_packets, ..named };
        let said = sentence::say(&named, &measured, seen);
        let precondition = precondition::measure_precondition(&named, seen);
        ClaimResult {
            said,
            precondition,
            by: if by_packets { ClaimInstrument::Packets } else { ClaimInstrument::Client },
            by_client: by_client.filter(|_| by_packets),
            ..describe(spec, published, measured)
        }
    };
    all.map(result).collect()
}

/// Answers the claims: once, or at each look.
fn answer_claims(
    study: &Study,
    cells: &[CellResult],
    until: Option<&StudyUntil>,
) -> Vec<ClaimEvidence> {
    match until {
        None => answer_measured(study, &GroupViews::new(study, cells), LookParts::ONLY),
        Some(until) => answer_in_looks(study, cells, until),
    }
}

/// Answers the claims by these views of the cells, at a look with these parts of the level.
fn answer_measured(study: &Study, views: &GroupViews<'_>, parts: LookParts) -> Vec<ClaimEvidence> {
    let claims = &study.outputs.claims;
    let test = |spec: &ClaimSpec| Some(test_in_group(study, spec, views));
    answer_tested(claims, claims.iter().map(test), BlockNoun::Repetition, parts)
        .into_iter()
        .flatten()
        .collect()
}

/// Answers the claims that were tested, and those that follow from them; `None` for those of which
/// `tested` has none.
fn answer_tested(
    claims: &[ClaimSpec],
    tested: impl Iterator<Item = Option<TestedClaim>>,
    noun: BlockNoun,
    parts: LookParts,
) -> Vec<Option<ClaimEvidence>> {
    let of_family = |(spec, tested): (&ClaimSpec, Option<TestedClaim>)| {
        let tested = tested?;
        let tested = if spec.derived_from.is_some() { tested.without_test() } else { tested };
        Some((ClaimFamily::of(spec), tested))
    };
    let tested: Vec<Option<_>> = claims.iter().zip(tested).map(of_family).collect();
    let named: Vec<bool> = tested.iter().map(Option::is_some).collect();
    let answers = answers::answer_all(tested.into_iter().flatten().collect(), noun, parts);
    let mut answers = answers.into_iter();
    let mut all: Vec<Option<ClaimEvidence>> =
        named.into_iter().map(|named| if named { answers.next() } else { None }).collect();
    derived::answer_derived(claims, &mut all);
    all
}

/// Answers the claims at each look, by the repetitions before it and its part of the level. The first
/// answer that a test of a claim gives stands; counts are those of the last look. Before the first look
/// nothing is decided.
fn answer_in_looks(study: &Study, cells: &[CellResult], until: &StudyUntil) -> Vec<ClaimEvidence> {
    let Some((first, later)) = until.looks.split_first() else {
        return leave_undecided(study, cells);
    };
    let answers = |repetitions: u32, number: usize| {
        let views = GroupViews::up_to(study, cells, repetitions);
        answer_measured(study, &views, LookParts::of(number))
    };
    let mut standing = answers(*first, 0);
    for (number, repetitions) in later.iter().enumerate() {
        let now = answers(*repetitions, number + 1);
        for (standing, now) in standing.iter_mut().zip(now) {
            let stands = standing.answer.is_decided() && standing.p.is_some();
            if !stands {
                *standing = now;
            }
        }
    }
    // What follows from a claim follows from its answer that stands.
    let mut all: Vec<Option<ClaimEvidence>> = standing.into_iter().map(Some).collect();
    derived::answer_derived(&study.outputs.claims, &mut all);
    all.into_iter().flatten().collect()
}

/// Returns the claims' figures so far, without an answer that a test would give.
fn leave_undecided(study: &Study, cells: &[CellResult]) -> Vec<ClaimEvidence> {
    let views = GroupViews::new(study, cells);
    let mut all = answer_measured(study, &views, LookParts::ONLY);
    let planned = study.repetitions;
    for open in all.iter_mut().filter(|one| one.answer.is_decided()) {
        open.answer = ClaimAnswer::Undecided;
        open.why = Some(format!("it is first tested after {planned} repetitions"));
        (open.p, open.p_adjusted, open.more_blocks) = (None, None, None);
    }
    all
}

/// Returns what the claims would say after so many repetitions, if they were tested before the first
/// look: a forecast of what they need, and no answer.
pub fn forecast_claims(
    study: &Study,
    cells: &[CellResult],
    repetitions: u32,
) -> Vec<ClaimEvidence> {
    let first = LookParts::of(0);
    let parts = LookParts { next: first.now, ..first };
    answer_measured(study, &GroupViews::up_to(study, cells, repetitions), parts)
}

/// Tests the claims of a study on the published figures alone.
pub(super) fn test_published_claims(study: &Study) -> Vec<ClaimResult> {
    let claims = &study.outputs.claims;
    let published = test_published(claims, study.published.as_ref());
    let unmeasured = || ClaimEvidence {
        answer: ClaimAnswer::NotTested,
        why: Some("nothing was measured".to_owned()),
        figures: String::new(),
        blocks: 0,
        estimate: None,
        count: None,
        p: None,
        p_adjusted: None,
        more_blocks: None,
        more_s: None,
        agrees: None,
    };
    let of_paper = claims.iter().zip(published).filter(|(spec, _)| spec.source.is_some());
    of_paper.map(|(spec, published)| describe(spec, published, unmeasured())).collect()
}

fn describe(
    spec: &ClaimSpec,
    published: Option<ClaimEvidence>,
    measured: ClaimEvidence,
) -> ClaimResult {
    ClaimResult {
        id: spec.id.clone(),
        text: spec.text.clone(),
        source: spec.source.clone(),
        main: spec.main,
        derived_from: spec.derived_from.as_ref().map(|from| from.id.clone()),
        precondition: spec.precondition.as_ref().map(precondition::describe_unmeasured),
        kind: spec.kind,
        measure: spec.measure,
        method: methods::describe_method(&spec.test),
        printed: spec.printed.clone(),
        published,
        by: ClaimInstrument::Client,
        measured,
        by_client: None,
        said: None,
    }
}

/// Returns the observations of a view that a claim is about.
fn seen_by_claim<'a, 'b>(view: &'b GroupView<'a>, spec: &ClaimSpec) -> &'b [Observation<'a>] {
    let needed = needed_levels(spec);
    view.seen.of_output(needed.iter().map(|(factor, _)| factor))
}

/// Tests a claim on the cells of its group.
fn test_in_group(study: &Study, spec: &ClaimSpec, views: &GroupViews<'_>) -> TestedClaim {
    let group = spec.group.as_deref();
    match (views.of(group), &spec.not_here) {
        (Some(view), _) => {
            let mut spec = with_roles_here(&view.study, spec);
            let seen = seen_by_claim(view, &spec);
            spec.by_packets = by_client::is_by_packets(&spec, seen);
            test_measured(&view.study, &spec, seen)
        }
        (None, Some(why)) => TestedClaim::untested(why.clone()),
        (None, None) => {
            let form = form_in_words(study);
            TestedClaim::untested(format!(
                "{form} omits the cells of {}",
                group.unwrap_or_default()
            ))
        }
    }
}

/// Returns a claim with the levels of the study that its patterns match.
fn with_roles_here(study: &Study, spec: &ClaimSpec) -> ClaimSpec {
    spec.with_roles(|factor| study.level_names(factor).into_iter().map(str::to_owned).collect())
}

/// Tests a claim on the cells.
fn test_measured(study: &Study, spec: &ClaimSpec, seen: &[Observation<'_>]) -> TestedClaim {
    if let Some(why) = spec.not_here.as_ref().filter(|_| !is_imported(study, spec)) {
        return TestedClaim::untested(why.clone());
    }
    let set = |measure: Metric| FigureSet::of_observations(seen, measure, spec);
    let units = ClaimUnits::of(spec, study.published.as_ref());
    let tested = test_on(spec, units, &set);
    if let Some(why) = comparable::find_unlike(spec, seen) {
        // Speeds that can't be compared are not shown side by side.
        let blocks = tested.blocks;
        let untested = TestedClaim::untested("");
        return TestedClaim { outcome: TestOutcome::Unlike(why), blocks, ..untested };
    }
    let omitted = describe_omitted(study, spec);
    let absent = precondition::why_absent(spec, seen);
    match (&tested.outcome, omitted) {
        (TestOutcome::Undecided(_) | TestOutcome::Untested(_), Some(why)) => {
            TestedClaim { outcome: TestOutcome::Untested(why), ..tested }
        }
        (TestOutcome::Judged(judged), Some(why)) if judged.is_open() => {
            TestedClaim { outcome: TestOutcome::Untested(why), ..tested }
        }
        (TestOutcome::Untested(_), None) => tested,
        _ => match absent {
            Some(why) => TestedClaim { outcome: TestOutcome::Untested(why), ..tested },
            None => tested,
        },
    }
}

/// Tests each claim on the published figures; `None` where no table is named.
fn test_published(
    claims: &[ClaimSpec],
    published: Option<&PublishedFigures>,
) -> Vec<Option<ClaimEvidence>> {
    let test = |spec: &ClaimSpec| {
        let (published, of) = (published?, spec.published.as_ref()?);
        let table = published.tables.iter().find(|table| table.name == of.table);
        let spec = &spec
            .with_roles(|factor| table.map_or(Vec::new(), |table| published_levels(table, factor)));
        let set = |measure: Metric| FigureSet::of_published(published, of, measure, &spec.only);
        Some(test_on(spec, ClaimUnits::of(spec, Some(published)), &set))
    };
    answer_tested(claims, claims.iter().map(test), BlockNoun::PublishedFigure, LookParts::ONLY)
}

/// Makes the test of a claim on the figures that `set` has of a measure.
fn test_on(spec: &ClaimSpec, units: ClaimUnits, set: &dyn Fn(Metric) -> FigureSet) -> TestedClaim {
    let figures = set(spec.measure);
    match &spec.test {
        ClaimTest::Sides(of) => sides::test_sides(of, units, &figures),
        ClaimTest::Share(of) => counting::test_share(of, [&figures, &set(of.of)]),
        ClaimTest::Trend(of) => along::test_trend(of, units, &figures),
        ClaimTest::Order(of) => along::test_order(of, units, &figures),
        ClaimTest::Independent(of) => along::test_independence(of, units, &figures),
        ClaimTest::Counted { a, all } => {
            let sent = set(Metric::Quantity(Quantity::Sent));
            counting::test_counted(a, *all, [&figures, &sent])
        }
        ClaimTest::Exact(of) => counting::test_exact(of, spec.measure, &figures),
    }
}

/// Describes the levels that a claim needs and this form of the study omits: `--quick omits client
/// firefox`.
fn describe_omitted(study: &Study, spec: &ClaimSpec) -> Option<String> {
    let mut omitted: Vec<String> = Vec::new();
    for (factor, levels) in needed_levels(spec) {
        let here = study.level_names(&factor);
        let gone: Vec<&str> =
            levels.iter().map(String::as_str).filter(|level| !here.contains(level)).collect();
        let why =
            |&level: &&str| study.why_omitted(&factor, level).map(|why| (level.to_owned(), why));
        if let Some((level, why)) = gone.iter().find_map(why) {
            return Some(format!("{factor} {level} is omitted: {why}"));
        }
        if let Some(pattern) = gone.iter().find(|level| is_pattern(level)) {
            return Some(format!("no {factor} is called {pattern}"));
        }
        if !gone.is_empty() {
            omitted.push(format!("{factor} {}", gone.join(", ")));
        }
    }
    let form = form_in_words(study);
    (!omitted.is_empty()).then(|| format!("{form} omits {}", omitted.join(" and ")))
}

/// Returns the form of the study that omits levels.
fn form_in_words(study: &Study) -> &'static str {
    match study.form {
        Form { quick: true, .. } => "--quick",
        Form { full: true, .. } => "--full",
        Form { in_lab: true, .. } => "--in-lab",
        _ => "the study",
    }
}

/// Returns true if all levels that a claim names of the factor of imports were imported, so that it
/// can be tested here after all.
fn is_imported(study: &Study, spec: &ClaimSpec) -> bool {
    let Some(imports) = &study.imports else { return false };
    let here = study.level_names(imports);
    let mut named = needed_levels(spec);
    named.retain(|(factor, _)| factor == imports);
    !named.is_empty()
        && named.iter().flat_map(|(_, levels)| levels).all(|level| here.contains(&level.as_str()))
}

/// Returns the factors and levels that a claim names.
fn needed_levels(spec: &ClaimSpec) -> SideLevels {
    let over = |of: &sixmark_design::spec::OrderedLevels| (of.factor.clone(), of.levels.clone());
    let mut all = spec.only.clone();
    match &spec.test {
        ClaimTest::Sides(of) => {
            all.extend(of.a.iter().chain(&of.b).cloned());
            all.extend(of.each.iter().map(over));
            all.extend(of.contrast.iter().map(|contrast| {
                let levels = &contrast.levels;
                (levels.factor.clone(), vec![levels.of.clone(), levels.over.clone()])
            }));
        }
        ClaimTest::Share(of) => all.extend(of.a.clone()),
        ClaimTest::Trend(of) => {
            all.extend(of.a.clone());
            all.push(over(&of.over));
        }
        ClaimTest::Order(of) => {
            all.extend(of.a.iter().chain(of.b.iter().flatten()).cloned());
            all.push(over(&of.over));
        }
        ClaimTest::Independent(of) => {
            all.extend(of.a.clone());
            all.push(over(&of.over));
        }
        ClaimTest::Counted { a, .. } => all.extend(a.clone()),
        ClaimTest::Exact(of) => all.extend(of.a.clone()),
    }
    all
}

#[cfg(test)]
mod tests;
