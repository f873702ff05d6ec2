//! Tests of claims. There is an answer for each truth ([`ClaimAnswer`]).
//!
//! Each repetition is a block. Within it, the figures that a claim needs are reduced to one number,
//! such as the logarithm of a ratio of two sides; a trimmed mean over the blocks gives a p-value for
//! each possible answer ([`judged`]). Holm's correction keeps the probability of any wrong answer
//! among the paper's claims at 5 %, and among the study's own ([`answers`]). Counts decide other claims ([`counting`]).
//!
//! The same tests are made on published figures, as far as there are enough of them: there, pairs
//! of figures at the same levels of other factors are the blocks.

mod along;
mod answers;
mod comparable;
mod counting;
mod each_level;
mod figures;
mod judged;
mod methods;
mod sentence;
mod sides;
mod tested;
mod trimmed;
mod units;

use crate::form::Form;
use crate::group_view::{GroupView, GroupViews};
use crate::observation::Observation;
use crate::spec::{ClaimSpec, ClaimTest, PublishedFigures, SideLevels, Study};
use crate::study_result::{CellResult, ClaimAnswer, ClaimEvidence, ClaimResult};
use answers::{BlockNoun, ClaimFamily};
use figures::FigureSet;
use sixmark_record::metric::{Metric, Quantity};
use tested::{TestOutcome, TestedClaim};
use units::ClaimUnits;

/// Tests the claims of a study on its cells and on the published figures.
pub(super) fn test_claims(study: &Study, cells: &[CellResult]) -> Vec<ClaimResult> {
    let views = GroupViews::new(study, cells);
    let claims = &study.outputs.claims;
    let test = |spec: &ClaimSpec| (ClaimFamily::of(spec), test_in_group(study, spec, &views));
    let measured = answers::answer_all(claims.iter().map(test).collect(), BlockNoun::Repetition);
    let published = test_published(claims, study.published.as_ref());
    let all = claims.iter().zip(measured).zip(published);
    let result = |((spec, measured), published): ((&ClaimSpec, ClaimEvidence), _)| {
        let view = views.of(spec.group.as_deref());
        let seen = view.map_or(&[][..], |view| seen_by_claim(view, spec));
        let said = sentence::say(spec, &measured, seen);
        ClaimResult { said, ..describe(spec, published, measured) }
    };
    all.map(result).collect()
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
        kind: spec.kind,
        measure: spec.measure,
        method: methods::describe_method(&spec.test),
        printed: spec.printed.clone(),
        published,
        measured,
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
        (Some(view), _) => test_measured(&view.study, spec, seen_by_claim(view, spec)),
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

/// Tests a claim on the cells.
fn test_measured(study: &Study, spec: &ClaimSpec, seen: &[Observation<'_>]) -> TestedClaim {
    if let Some(why) = spec.not_here.as_ref().filter(|_| !is_imported(study, spec)) {
        return TestedClaim::untested(why.clone());
    }
    let set = |measure: Metric| FigureSet::of_observations(seen, measure, &spec.only);
    let units = ClaimUnits::of(spec, study.published.as_ref());
    let tested = test_on(spec, units, &set);
    if let Some(why) = comparable::find_unlike(spec, seen) {
        // Speeds that can't be compared are not shown side by side.
        let blocks = tested.blocks;
        let untested = TestedClaim::untested("");
        return TestedClaim { outcome: TestOutcome::Unlike(why), blocks, ..untested };
    }
    let omitted = describe_omitted(study, spec);
    match (&tested.outcome, omitted) {
        (TestOutcome::Undecided(_) | TestOutcome::Untested(_), Some(why)) => {
            TestedClaim { outcome: TestOutcome::Untested(why), ..tested }
        }
        (TestOutcome::Judged(judged), Some(why)) if judged.is_open() => {
            TestedClaim { outcome: TestOutcome::Untested(why), ..tested }
        }
        _ => tested,
    }
}

/// Tests each claim on the published figures; `None` where no table is named.
fn test_published(
    claims: &[ClaimSpec],
    published: Option<&PublishedFigures>,
) -> Vec<Option<ClaimEvidence>> {
    let test = |spec: &ClaimSpec| {
        let (published, of) = (published?, spec.published.as_ref()?);
        let set = |measure: Metric| FigureSet::of_published(published, of, measure, &spec.only);
        Some(test_on(spec, ClaimUnits::of(spec, Some(published)), &set))
    };
    let tested = claims.iter().map(|spec| Some((ClaimFamily::of(spec), test(spec)?)));
    let tested: Vec<Option<(ClaimFamily, TestedClaim)>> = tested.collect();
    let named: Vec<bool> = tested.iter().map(Option::is_some).collect();
    let tested = tested.into_iter().flatten().collect();
    let answers = answers::answer_all(tested, BlockNoun::PublishedFigure);
    let mut answers = answers.into_iter();
    named.into_iter().map(|named| if named { answers.next() } else { None }).collect()
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
    let over = |of: &crate::spec::OrderedLevels| (of.factor.clone(), of.levels.clone());
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
